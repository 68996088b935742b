"""The result of ``tune``: the held-out gain next to the gain on the queries of the choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rankscope import words
from rankscope.blocks import Caution, Chart, Column
from rankscope.diagnostics.comparisons import GuardrailFell, OptimisticGain
from rankscope.diagnostics.rule import active_cautions
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.contrast_result import ContrastResult, columns_named
from rankscope.panels.families import Family
from rankscope.rankers.searches import Point
from rankscope.scoring.pools import join_frames
from rankscope.scoring.request import Request
from rankscope.scoring.results import OfRequest
from rankscope.show.result import Col, View
from rankscope.tables import Run

HELD_OUT, SAME = "held out", "same queries"
LARGE = 0.5  # of a gain that is optimism


@dataclass(frozen=True)
class FoldChoice:
    """A fold: its number, the choice of the other folds, and the gain of the choice there (``chosen``) and here (``held_out``)."""

    fold: int
    choice: str
    queries: int
    chosen: float
    held_out: float


@dataclass(frozen=True)
class Gain:
    """A row: a contrast with the baseline, on queries that are ``held out`` or on the ``same queries``."""

    queries_of: str
    contrast: Contrast


GAINS = columns_named(
    "metric", "baseline", "baseline_value", "value", "difference", "ci", "relative", "p_value", "p_value_adjusted", "test", "queries",
    "verdict", at="contrast", value="tuned", relative="",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Tuning(OfRequest, ContrastResult):
    """Chosen parameters and their gain.

    ``tuning["nDCG@10"]`` is the contrast on held-out queries, ``optimistic`` the contrast on the queries that chose. ``choice`` is the
    system that all queries choose, ``point`` its parameters, ``run`` its ranking. ``held_out_run`` ranks each query with the choice of
    the other folds. ``tried`` has the mean of each point.
    """

    families: Sequence[Family]
    optimistic: Contrast
    folds: Sequence[FoldChoice]
    point: Point
    choice: str
    search: str
    request: Request
    guardrails: Sequence[str]
    tried: Sequence[tuple[Point, float]]
    make_run: Callable[[], Any] = field(repr=False)
    make_held_out: Callable[[], Any] = field(repr=False)
    notes: Sequence[str] = ()

    schema = "tune/1"
    header = ("verdict", "conventions", "choice", "parameters", "search", "guardrails")
    shown = ("", "folds")
    views = (
        View("results", (Col("gain_on", of=lambda row: row.queries_of, head="gain on"), *GAINS), lambda tuning: tuning.gains, labels=2),
        View(
            "folds",
            (
                Col("fold", head="fold", kind="count"), Col("choice", head="choice of the other folds", wraps=True), Col("queries", head="queries", kind="count"),
                Col("gain_there", of=lambda f: f.chosen, head="gain there", kind="value", cell=lambda f: words.cell(f.chosen, sign=True)),
                Col("gain_held_out", of=lambda f: f.held_out, head="gain here", kind="value", cell=lambda f: words.cell(f.held_out, sign=True)),
            ),
            lambda tuning: tuning.folds,
            title="Folds",
        ),
        View(
            "tried",
            (
                Col("parameters", of=lambda row: dict(row[0]), head="parameters", cell=lambda row: ", ".join(f"{k}={v}" for k, v in row[0].items())),
                Col("mean", of=lambda row: row[1], head="mean", kind="value"),
            ),
            lambda tuning: tuning.tried,
        ),
    )  # fmt: skip

    @property
    def gains(self) -> list[Gain]:
        """The held-out contrasts, with the optimistic one after the first."""
        first, *others = self.contrasts
        return [Gain(HELD_OUT, first), Gain(SAME, self.optimistic), *(Gain(HELD_OUT, c) for c in others)]

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The chosen parameters, as JSON has them."""
        return dict(self.point)

    @cached_property
    def run(self) -> Any:
        """The ranking with the parameters that all queries choose. Its gain on other queries is the held-out gain."""
        return self.make_run()

    @cached_property
    def held_out_run(self) -> Run:
        """Each query, ranked with the parameters that the other folds choose."""
        from rankscope.files import run_of

        parts = []
        for queries, run in self.make_held_out():
            frame = run_of(run).frame
            parts.append(frame.filter(frame["query_id"].is_in(list(queries))).select("query_id", "doc_id", "score"))
        return Run(join_frames(parts), name="tuned_held_out")

    @property
    def warnings(self) -> Sequence[Caution]:
        """The optimism of the choice, and guardrails that fell."""
        held, same = self.contrasts[0], self.optimistic
        gain, there = ((held.panel.sign or 1) * c.difference for c in (held, same))
        numbers = {"same": there, "held_out": gain, "verdict": held.verdict, "then": same.verdict}
        fell = [c for c in self.contrasts if c.metric in self.guardrails and c.verdict == "worse"]
        out = [GuardrailFell.caution(metric=c.metric, difference=c.difference) for c in fell]
        if there > 0 and (gain < LARGE * there or (same.verdict in CLEAR and held.verdict != same.verdict)):
            out.insert(0, OptimisticGain.caution(metric=held.metric, **numbers))
        return active_cautions(out, self.request.policies.ignore)

    def sentences(self) -> Iterator[str]:
        """The held-out gain, the optimistic gain, the stability of the choice, guardrails."""
        held, same = self.contrasts[0], self.optimistic
        yield f"Queries that did not choose: {held.sentence()}"
        by = words.number(same.difference, sign=True, digits=3)
        part = words.number(same.difference - held.difference, sign=True, digits=3)
        yield f"On the queries of the choice the difference is {by}, {part} of it by optimism."
        often = Counter(one.choice for one in self.folds)
        agree = f"{words.count(often[self.choice])} of {words.counted(len(self.folds), 'fold')} {words.agree(often[self.choice], 'chooses')}"
        yield f"All queries choose {self.choice}: {agree} the same."
        for c in self.contrasts[1:]:
            yield f"{'Guardrail: ' if c.metric in self.guardrails else ''}{c.sentence()}"

    def small_print(self) -> Iterator[str]:
        """Yield how the gain was measured."""
        tried = words.counted(len(self.tried), "choice") if self.tried else "choices that learn from each fold"
        yield f"search: {self.search} ({tried})"
        yield f"{words.counted(len(self.folds), 'fold')} of queries, each scored with the choice of the others"
        yield self.request.small_print()

    def charts(self) -> Iterator[Chart]:
        """Yield both gains with their intervals, and the mean of each value of a single numeric parameter."""
        both = [(g.queries_of, g.contrast.bounds.around(g.contrast.difference)) for g in self.gains[:2]]
        if all(g.contrast.bounds.known for g in self.gains[:2]):
            yield Chart("gain", f"Gain in {self.primary} over {self.contrasts[0].baseline}", "intervals",
                        (Column("queries"), Column("gain", "value")), tuple(both), x="gain", y="queries", guide="zero",
                        caption="The gain on held-out queries is the gain to expect.")  # fmt: skip
        names = list(self.point)
        numeric = len(names) == 1 and all(isinstance(point[names[0]], int | float) for point, _ in self.tried)
        values = sorted((point[names[0]], mean) for point, mean in self.tried) if numeric else []
        if len(values) > 2:
            yield Chart("parameter", f"Mean {self.primary} by {names[0]}", "lines",
                        (Column(names[0], "value"), Column(self.primary, "value")), tuple(values), x=names[0], y=self.primary,
                        caption="Means over all queries: the highest is too high by chance.")  # fmt: skip
