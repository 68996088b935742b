"""The result of ``clicks``: the models with their fit to held-out sessions, and which predicts better."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar

from rankscope import words
from rankscope.blocks import Chart, Column, Value
from rankscope.click_models.base import FittedModel
from rankscope.click_models.files import save_model
from rankscope.click_models.grades import Grades, grades_of
from rankscope.errors import InputError
from rankscope.files.writers import write_rows
from rankscope.lists import Array
from rankscope.logs.pages import ReadPages, grade_rows, query_weights
from rankscope.panels.contrast_result import ContrastResult, columns_named
from rankscope.panels.families import Family
from rankscope.show.result import Col, OfSource, Shown, View
from rankscope.store import write_file
from rankscope.tables import FROM_CLICKS, Qrels, Source

MEASURE = "log-likelihood"
DIGITS = 4
PERPLEXITY = "Perplexity: 1 is perfect, 2 a coin; the mean over positions. Conditional: given the clicks above."


@dataclass(frozen=True)
class PlaceFit:
    """A model at one ``position`` of held-out lists: observed ``clicks``, ``predicted`` ones, and the perplexity of both kinds."""

    model: str
    position: int
    shown: int
    clicks: int
    predicted: float
    perplexity: float
    conditional: float


@dataclass(frozen=True, eq=False)
class ModelFit:
    """A fitted model and how well it predicts held-out pages; ``unseen`` is the share of their items that it has not seen."""

    fitted: FittedModel
    log_likelihood: Array
    places: Sequence[PlaceFit]
    perplexity: float
    conditional: float
    unseen: float

    @property
    def name(self) -> str:
        """The model's spelling."""
        return self.fitted.name

    @property
    def parameters(self) -> int:
        """The number of probabilities that were learned."""
        satisfaction = () if self.fitted.satisfaction is None else self.fitted.satisfaction
        return len(self.fitted.table) - 2 + len(self.fitted.attraction) + len(satisfaction)


def _number(name: str, head: str, of: str = "", digits: int = DIGITS) -> Col:
    def cell(row: Any) -> str:
        value = getattr(row, of or name)
        return words.in_table(words.number(value, digits=digits)) if math.isfinite(value) else ""

    return Col(name, of=attrgetter(of or name), head=head, kind="value", cell=cell)


def _models(result: Any) -> tuple[Col, ...]:
    value = result.panels[0].means
    return (
        Col("model", of=lambda fit: fit.name, head="model"),
        Col("log_likelihood", of=lambda fit: float(value[fit.name]), head="log-lik.", kind="value",
            cell=lambda fit: words.in_table(words.number(value[fit.name], digits=DIGITS))),
        _number("perplexity", "perplexity"), _number("conditional_perplexity", "conditional", "conditional"),
        Col("steps", of=lambda fit: len(fit.fitted.trace), head="steps", kind="count"),
        Col("converged", of=lambda fit: fit.fitted.converged, head="converged", cell=lambda fit: "yes" if fit.fitted.converged else "no"),
        Col("parameters", kind="count"),
        Col("unseen", kind="value"),
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class ClickModels(OfSource, ContrastResult):
    """Click models on the same held-out sessions: which predicts clicks better, and how well each does.

    ``result["DBN", "log-likelihood"]`` is the contrast of a model with the baseline, per session. ``result.fitted["DBN"]`` is the fitted
    model: it simulates clicks, and ``save_model`` writes it. ``result.grades()`` are grades of items from behaviour, ``qrels()`` the same as
    judgments.
    """

    families: Sequence[Family]
    fits: Sequence[ModelFit]
    read: ReadPages
    source: Source
    train_lists: int
    test_lists: int
    held_out_by: str
    remarks: Sequence[str] = ()

    schema = "clicks/1"
    system = "model"
    views: ClassVar[tuple[View, ...]] = (
        View(
            "results",
            (Col("model", of=lambda c: c.run, head="model"),
             *columns_named("baseline", "metric", "value", "baseline_value", "difference", "ci", "ci_adjusted", "p_value", "p_value_adjusted", "test", "correction",
                            "comparisons", "units", "verdict", metric="", value="", baseline_value="")),
            lambda result: result.contrasts, "Against the baseline, per held-out session",
        ),
        View("models", _models, lambda result: result.ranked, note=PERPLEXITY),
        View(
            "by_position",
            (Col("model", head="model"), Col("position", head="position", kind="count"), Col("shown", head="shown", kind="count"),
             Col("clicks", head="clicks", kind="count"), _number("predicted", "predicted", digits=1),
             _number("perplexity", "perplexity"), _number("conditional_perplexity", "conditional", "conditional")),
            lambda result: [place for fit in result.fits for place in fit.places], "By position", labels=2,
        ),
    )  # fmt: skip

    @property
    def fitted(self) -> Mapping[str, FittedModel]:
        """The fitted models by name."""
        return {fit.name: fit.fitted for fit in self.fits}

    @property
    def ranked(self) -> list[ModelFit]:
        """The models, the one with the highest log-likelihood first."""
        return sorted(self.fits, key=lambda fit: -float(self.panels[0].means[fit.name]))

    @property
    def best(self) -> str:
        """The model with the highest log-likelihood."""
        return self.ranked[0].name

    def chosen(self, model: str | None = None) -> FittedModel:
        """Return a fitted model by name, by default the best. Raises InputError for another name."""
        name = model or self.best
        if name not in self.fitted:
            raise InputError(f"model {name!r}: it was not fitted{words.hint(name, self.fitted)}")
        return self.fitted[name]

    # -- at work ------------------------------------------------------------------------------------

    def save_model(self, path: str | Path, model: str | None = None) -> Path:
        """Write a fitted model as JSON, by default the best."""
        return save_model(self.chosen(model), path)

    def _grading(self, model: str | None) -> FittedModel:
        best = next((fit.name for fit in self.ranked if fit.fitted.model.attracts == "item"), None)
        name = model or best
        if name is None or self.chosen(name).model.attracts != "item":
            raise InputError("grades need a model in which each item has its own attraction, like PBM")
        return self.chosen(name)

    def grades(self, model: str | None = None) -> Grades:
        """The grade of each item for its query from the whole log, by a model, by default the best one with attractions of items."""
        return grades_of(self._grading(model), self.read.pages)

    def qrels(self, model: str | None = None) -> Qrels:
        """The grades as judgments that ``evaluate`` takes; column 2 says that they are from clicks."""
        rows = self._rows(model).select("query_id", "doc_id", "grade", "iteration")
        return Qrels(rows, source=Source("grades from clicks"))

    def _rows(self, model: str | None) -> Any:
        grades = self.grades(model)
        return grade_rows(self.read.pages.pairs, grades.grade, grades.error, grades.views)

    def write_qrels(self, path: str | Path, model: str | None = None) -> Path:
        """Write the grades: TREC lines, or a table (.csv .tsv .jsonl .parquet) with the standard ``error`` and the ``views`` of each grade."""
        frame = self._rows(model)
        if Path(path).suffix.lower() in {".csv", ".tsv", ".jsonl", ".parquet"}:
            return write_rows(frame, path)
        rows = frame.select("query_id", "doc_id", "grade").iter_rows()
        write_file(path, (f"{query} {FROM_CLICKS} {doc} {grade:.4f}\n" for query, doc, grade in rows))
        return Path(path)

    def write_weights(self, path: str | Path, model: str | None = None) -> Path:
        """Write the weight of each query: the views that its grades rest on, for ``compare --weights``."""
        return write_rows(query_weights(self._rows(model)), path)

    # -- for programs and people ---------------------------------------------------------------------

    @property
    def conventions(self) -> Mapping[str, Any]:
        """The fit, the split and the comparison of models."""
        return {
            "baseline": self.families[0].baseline, "unit": "session", "clusters": self.read.unit if self.panels[0].clusters is not None else None,
            "held_out_by": self.held_out_by, "train_lists": self.train_lists, "test_lists": self.test_lists, "test": str(self.method.test) if self.method.test else "t",
            "correction": str(self.method.correction), "alpha": self.method.alpha,
            "in_words": {
                "log_likelihood": "natural logarithm of the probability of all clicks of a session, each given the clicks above it on its page",
                "perplexity": "2 to minus the mean log2 of the probability of the observed clicks, by position, then the mean over positions",
                "smoothing": "beta prior of each attraction; its mean is the attraction that fits if all items are alike",
            },
        }  # fmt: skip

    def sentences(self) -> Iterator[str]:
        """Yield the contrast of each model with the baseline, and how models were tested."""
        for c in self.contrasts:
            yield c.sentence()
        slow = [fit.name for fit in self.fits if not fit.fitted.converged]
        if slow:
            yield f"{words.listing(slow)} did not converge in {len(self.fitted[slow[0]].trace)} steps: raise --rounds."
        yield f"Fitted to {words.counted(self.train_lists, 'list')}, tested on {words.count(self.test_lists)}, held out by {self.held_out_by}."
        unseen = max(fit.unseen for fit in self.fits)
        if unseen:
            yield f"{words.share(unseen)} of the tested items were not in the training lists: they have the mean attraction."
        for text in self.remarks:
            yield f"{text[:1].upper()}{text[1:]}."

    def body(self, **options: Any) -> Iterator[Sequence[Shown]]:
        """Yield the models side by side, and the contrasts."""
        for name in ("models", "results"):
            yield self.view(name).part(self)

    def small_print(self) -> Iterator[str]:
        """Yield how models were compared."""
        clusters = f", clusters: {words.plural(self.read.unit)}" if self.panels[0].clusters is not None else ""
        yield f"paired by session{clusters}"
        if len(self.contrasts) > 1:
            yield f"p-values and intervals corrected together ({self.method.correction.name})"

    def charts(self) -> Iterator[Chart]:
        """Observed against predicted clicks, and perplexity, by position."""
        first, each = self.fits[0].places, [place for fit in self.fits for place in fit.places]
        rows: list[tuple[Value, ...]] = [("observed", place.position, place.clicks / place.shown) for place in first]
        rows += [(place.model, place.position, place.predicted / place.shown) for place in each]
        perplexed: list[tuple[Value, ...]] = [(place.model, place.position, place.perplexity) for place in each]
        if len(first) > 1:
            for name, title, y, drawn, caption in (
                ("predicted", "Observed and predicted clicks by position", "click rate", rows, "Click rates of held-out lists."),
                ("perplexity", "Perplexity by position", "perplexity", perplexed, "1 is perfect. Lower is better."),
            ):  # fmt: skip
                columns = Column("model"), Column("position", "count"), Column(y, "value")
                yield Chart(
                    name, title, "lines", columns, tuple(drawn), x="position", y=y, series="model", caption=caption, told=True
                )  # fmt: skip
