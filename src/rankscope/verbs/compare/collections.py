"""Compare runs on several collections: values and significance per collection, and over collections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Caution, Heading, Paragraph
from rankscope.errors import InputError
from rankscope.panels.contrast_result import COLUMNS
from rankscope.panels.families import Family
from rankscope.panels.panel import Panel
from rankscope.show.latex import PaperCell, PaperTable, check_digits
from rankscope.show.result import FORMATS, Col, Result, Shown, View, table_of
from rankscope.verbs.compare.compare import compare
from rankscope.verbs.compare.result import Comparison
from rankscope.verbs.compare.tables import MARKS, board

OVER = "all collections"


def compare_collections(collections: Any, metrics: Any = None, **options: Any) -> CollectionComparison:
    """Compare the same runs on several collections, as BEIR and MTEB have them.

    ``collections`` maps names to judgments and runs: ``{"nq": (qrels, runs), ...}``. A list of folders holds a file of judgments
    (``qrels...``) and the runs in each. ``options`` go to ``compare``. The mean over collections gives each collection the same
    weight. The test over collections takes the mean of each collection as one value.

    Raises InputError for fewer than two collections, or if a collection lacks a run.

    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(4)}
    >>> runs = {"low": {q: ["b", "a"] for q in qrels}, "high": {q: ["a", "b"] for q in qrels}}
    >>> found = rs.compare_collections({"nq": (qrels, runs), "fiqa": (qrels, runs)}, "RR")
    >>> found.over.primary.means["high"], found.parts["nq"]["high", "RR"].difference
    (1.0, 0.5)
    """
    by_name = dict(collections) if isinstance(collections, Mapping) else dict(map(_of_folder, collections))
    if len(by_name) < 2:
        raise InputError("give two collections or more, like {'nq': (qrels, runs), 'fiqa': (qrels, runs)}")
    parts = {str(name): compare(qrels, runs, metrics, **options) for name, (qrels, runs) in by_name.items()}
    first = next(iter(parts.values()))
    for name, part in parts.items():
        if lacking := sorted(set(first.systems) ^ set(part.systems)):
            raise InputError(f"{name}: every collection needs the same runs, and {lacking[0]} is missing in one")
    if len({part.family.baseline for part in parts.values()}) > 1:
        raise InputError("the best run differs between collections: name one run as the baseline")
    if first.family.baseline is None:
        raise InputError("collections are compared with one baseline: leave out --all-pairs and further baselines")
    names = tuple(parts)
    panels = [
        Panel(panel.measure, first.systems, names, np.array([[part.panels[i].means[s] for part in parts.values()] for s in first.systems]))
        for i, panel in enumerate(first.panels)
    ]  # fmt: skip
    return CollectionComparison(parts, Family(panels, first.family.pairs, first.method, first.family.baseline))


def _of_folder(folder: str | Path) -> tuple[str, tuple[str, dict[str, str]]]:
    place = Path(folder)
    files = sorted(one for one in place.iterdir() if one.is_file()) if place.is_dir() else []
    qrels = [one for one in files if one.name.casefold().startswith("qrels")]
    runs = {one.name.split(".")[0]: str(one) for one in files if one not in qrels and ".run" in one.name}
    if len(qrels) != 1 or not runs:
        raise InputError(f"{folder}: a collection is a folder with one file qrels... and runs, like bm25.run")
    return place.name, (str(qrels[0]), runs)


def _rows(comparison: CollectionComparison) -> Iterator[dict[str, Any]]:
    for name, family in comparison.families.items():
        for c in family.contrasts:
            yield {"collection": name, "of": c}


def _of(column: Col) -> Col:
    return Col(*column.names, of=lambda row: column.of(row["of"]), kind=column.kind)


@dataclass(frozen=True, eq=False, repr=False)
class CollectionComparison(Result):
    """Runs on several collections: ``parts`` has the comparison of each, ``over`` the one of their means."""

    parts: Mapping[str, Comparison]
    over: Family

    schema = "collections/1"
    formats = FORMATS
    of_latex = ("caption", "label", "digits")
    views = (
        View(
            "results",
            (
                Col("collection"), *(_of(COLUMNS[name]) for name in ("run", "baseline", "metric", "value", "baseline_value", "difference",
                "ci", "p_value", "p_value_adjusted", "units", "verdict")),
            ),
            _rows,
        ),
    )  # fmt: skip

    @property
    def families(self) -> dict[str, Family]:
        """The comparisons of each collection, then the one over collections."""
        return {**{name: part.family for name, part in self.parts.items()}, OVER: self.over}

    @property
    def conventions(self) -> Mapping[str, Any]:
        """The policies of every collection, and the kind of mean over them."""
        return {**next(iter(self.parts.values())).conventions, "mean_over_collections": "each collection counts alike"}

    @property
    def notes(self) -> Sequence[str]:
        """Messages of readers."""
        return [note for part in self.parts.values() for note in part.notes]

    @property
    def warnings(self) -> Sequence[Caution]:
        """Problems of the collections, each with the name of its collection."""
        several = self.parts.items()
        return [replace(one, message=f"{name}: {one.message}") for name, part in several for one in part.warnings]

    def sentences(self) -> Iterator[str]:
        """Yield for each run the collections on which it is better or worse, and the mean over collections."""
        metric = self.over.primary.name
        for c in self.over.of(metric):
            verdicts = [part[c.run, c.baseline, metric].verdict for part in self.parts.values()]
            better, worse = verdicts.count("better"), verdicts.count("worse")
            p = f" ({words.p_value(c.p_value_adjusted)} over {len(verdicts)} collections)"
            p = p if np.isfinite(c.p_value_adjusted) else ""
            yield (
                f"{c.run} against {c.baseline} on {metric}: better on {better}, worse on {worse} of {len(verdicts)} collections, "
                f"{words.number(c.difference, sign=True)} on average{p}."
            )

    def body(self, **_: Any) -> Iterator[Sequence[Shown]]:
        """Yield one table per metric: collections as columns, their mean last."""
        for i, metric in enumerate(self.over.metrics):
            families = {name: Family([f.panels[i]], f.pairs, f.method, f.baseline) for name, f in self.families.items()}
            tables = {("mean" if name == OVER else name): board(family) for name, family in families.items()}
            values = {name: {row[0]: row[1] for row in table.rows} for name, table in tables.items()}
            columns = (Col(head="run", cell=lambda s: s), *(_column(name, by_run) for name, by_run in values.items()))
            yield [Heading(metric), table_of(columns, list(self.over.panels[i].means))]
        yield [
            Paragraph(
                "* better, † worse than the baseline · mean: of the means of collections, each counts alike", quiet=True
            )
        ]

    def to_latex(self, *, caption: str = "", label: str = "", digits: int | None = None, **_: Any) -> str:
        """Return the table of a paper for the primary metric: systems by collections, and the mean of means."""
        places, family, metric = check_digits(digits), self.over, self.over.primary
        means = {**{name: part.panels[0].means for name, part in self.parts.items()}, "Mean": metric.means}
        marks = {
            (name, c.run): MARKS.get(c.verdict, "") for name, f in self.families.items() for c in f.of(metric.name)
        }
        cells = [
            [PaperCell(words.number(of[s], digits=places), marks.get((OVER if name == "Mean" else name, s), ""), metric.sign * of[s] == max(metric.sign * v for v in of.values())) for name, of in means.items()]
            for s in metric.systems
        ]  # fmt: skip
        note = (
            f"{metric.name}. * better, † worse than {family.baseline}. Mean: of the means of collections. Best in bold."
        )
        table = PaperTable(
            list(means), ["higher"] * len(means), metric.systems, [""] * len(metric.systems), cells,
            caption or f"{metric.name} on {len(self.parts)} collections.", label or "tab:collections", note,
        )  # fmt: skip
        return "\n".join([*table.lines(), ""])


def _column(name: str, by_run: Mapping[Any, Any]) -> Col:
    return Col(head=name, kind="value", cell=by_run.get)
