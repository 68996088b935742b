"""How the documents are ranked: by scores that say something, in the order that the file says, as deep as the metrics look."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankscope.metrics import Metric
from rankscope.scoring.scores import RunScores
from rankscope.verbs.check.rules.base import Finding, Rule, counted, moved, some
from rankscope.verbs.check.rules.queries import said_by_evaluate
from rankscope.verbs.ties.result import NOTABLE

if TYPE_CHECKING:
    from rankscope.verbs.check.rules.case import Case

Ends = dict[Metric, tuple[float, float]]
WIDE = 0.02  # ties that can move a metric this far are a warning
MANY = 0.5  # of the queries: what is true of so many is true of the run
OFTEN = 0.1


class RankColumn(Rule, code="RS201"):
    """The rank column contradicts the scores."""

    why = (
        "trec_eval and evaluate order by score and never look at the rank column, so a run that was sorted by something else (or "
        "re-ranked without new scores, or scored by distances) is not measured in the order that users saw."
    )
    remedy = "write scores that fall with the rank; --ties rank follows the rank column"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a run."""
        for run in case.scored_runs:
            for warned in said_by_evaluate(case, run, self.code):
                effect = case.change(case.given(run.name), ties="rank")
                size = moved(effect)
                number = run.health.rank_disagreements or 0
                upside = (
                    " (they rise with the rank: are they distances?)" if self._rising(case, run.name) else ""
                )
                yield self.found(
                    warned.message + upside + (f"; by the rank column: {size}" if size else ""),
                    hint=warned.hint,
                    severity="warning" if size or not effect else "information",
                    run=run.name,
                    count=number,
                    effect=effect,
                )

    @staticmethod
    def _rising(case: Case, name: str) -> bool:
        """Whether nearly every document has a better score than the one that the rank column has above it."""
        frame = case.given(name).sound.frame.sort("query_id", "rank")
        step = frame.select(pl.col("score").diff().over("query_id").drop_nulls()).to_series()
        return bool(len(step)) and int((step > 0).sum()) > 0.9 * len(step)


class ShortRun(Rule, code="RS202"):
    """The run is shorter than the cutoff of a metric."""

    why = (
        "A metric at k then looks at places where there is nothing: P@100 of 50 documents is at most 0.5, and R@100 is R@50. Next to "
        "a run that is deep enough this is a comparison of depths."
    )
    remedy = "retrieve at least as many documents as the largest cutoff, or ask for a smaller one"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a run: a warning where no query reaches the cutoff and another run's queries do."""
        if case.call.depth is not None:  # lists are short because they were cut
            return
        cutoffs = {str(m): int(k) for m in case.metrics if (k := getattr(m, "cutoff", None))}
        reach = {run.name: self._deepest(case, run) for run in case.scored_runs}
        for run in case.scored_runs:
            beyond = {m: k for m, k in cutoffs.items() if k > reach[run.name] > 0}
            if not beyond:
                continue
            deeper = [n for n, d in reach.items() if d > reach[run.name]]
            uneven = f"; {deeper[0]} goes down to {reach[deeper[0]]:,}" if deeper else ""
            yield self.found(
                f"{run.name} has at most {counted(reach[run.name], 'document')} a query, and {', '.join(beyond)} "
                f"{'looks' if len(beyond) == 1 else 'look'} beyond{uneven}",
                severity="warning" if uneven else "information",
                run=run.name,
                count=reach[run.name],
            )

    def _deepest(self, case: Case, run: RunScores) -> int:
        return int(case.judged(run.name).retrieved.max(initial=0))


class TiesAtCutoff(Rule, code="RS203"):
    """Equal scores leave the order, and so the number, open."""

    severity = "information"
    why = (
        "Documents with equal scores can stand in any order, and each tool picks one: by document id, by the order of the file, at "
        "random. A system that gives all documents one score can print any number between the worst and the best."
    )
    remedy = "give distinct scores, or report --ties expected; rankscope ties tells more"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a run, where a metric could move by 0.0005 or more."""
        if case.ties not in {"trec", "docid", "input"} or case.call.depth is not None:
            return
        if not case.plain:
            for run in case.scored_runs:
                for warned in said_by_evaluate(case, run, self.code):
                    yield self.found(warned.message, run=run.name)
            return
        ends = {run.name: self._ends(case, run) for run in case.scored_runs}
        for run in case.scored_runs:
            widths = {m: high - low for m, (low, high) in ends[run.name].items() if high - low >= NOTABLE}
            if not widths:
                continue
            widest = max(widths, key=lambda m: widths[m])
            low, high = ends[run.name][widest]
            said = said_by_evaluate(case, run, self.code)
            start = (
                said[0].message
                if said
                else f"{run.name}: {counted(run.health.tied_rows, 'row')} with equal scores"
            )
            rival = self._rival(case, run.name, ends)
            yield self.found(
                f"{start}; {widest} could be {low:.3f} to {high:.3f}{rival}",
                severity="warning" if widths[widest] >= WIDE or rival else "information",
                run=run.name,
                count=run.health.tied_rows,
                effect={str(m): width for m, width in widths.items()},
            )

    def _rival(self, case: Case, name: str, ends: Mapping[str, Ends]) -> str:
        """Another run with which the order of equal scores decides who is ahead, on the first metric asked for."""
        metric = next(iter(ends[name]), None)
        if metric is None or ends[name][metric][1] - ends[name][metric][0] < NOTABLE:
            return ""
        low, high = ends[name][metric]
        for other, theirs in ends.items():
            below, above = theirs[metric]
            if (
                other != name
                and low < above
                and below < high
                and case.mean(name, metric) != case.mean(other, metric)
            ):
                return f"; their order decides whether it is ahead of {other} on {metric}"
        return ""

    def _ends(self, case: Case, run: RunScores) -> Ends:
        """The lowest and the highest mean over all orders of equal scores."""
        metrics = [
            m for m in case.metrics if m.better != "neither" and m.aggregate != "pooled" and not m.counts_ties
        ]
        if not run.health.tied_rows:
            means = [case.mean(run.name, m) for m in metrics]
            return dict(zip(metrics, zip(means, means, strict=True), strict=True))
        by_policy = [case.under(run.name, ties, metrics) for ties in ("worst", "best")]
        out = {}
        for metric, worst, best in zip(metrics, *by_policy, strict=True):
            # a query that is undefined or left out stays so
            gone = np.isnan(run.values[metric])
            ends = [case.mean_over(run.name, metric, np.where(gone, np.nan, v)) for v in (worst, best)]
            out[metric] = (min(ends), max(ends))
        return out


class ConstantScores(Rule, code="RS205"):
    """All documents of a query have the same score."""

    why = (
        "There is no ranking, only a set: the order comes from document ids or from the file, and with it the number. A scorer that "
        "failed and returned a constant can look good, because files are often written best first."
    )
    remedy = "find out why the scorer does not tell documents apart; --ties expected gives what chance gives"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a run; a warning where it holds for half of the queries."""
        for run in case.scored_runs:
            table = case.given(run.name).sound.by_query()
            score, start, size = table.frame["score"].to_numpy(), table.blocks.start, table.blocks.size
            several = size > 1
            if not several.any():
                continue
            flat = (np.maximum.reduceat(score, start) == np.minimum.reduceat(score, start)) & several
            number, of = int(flat.sum()), int(several.sum())
            if number < OFTEN * of:
                continue
            queries = table.blocks.query.filter(pl.Series(flat)).to_list()
            effect = self._expected(case, run)
            size_of = moved(effect)
            yield self.found(
                f"{run.name}: all documents have one score in {number:,} of {counted(of, 'query', 'queries')} ({some(queries)})"
                + (f"; the mean over all orders: {size_of}" if size_of else ""),
                severity="warning" if number >= MANY * of else "information",
                run=run.name,
                count=number,
                effect=effect,
                queries=queries,
            )

    def _expected(self, case: Case, run: RunScores) -> dict[str, float]:
        metrics = [m for m in case.metrics if m.aggregate != "pooled"]
        if case.ties not in {"trec", "docid", "input"} or case.call.depth is not None or not case.plain:
            return {}
        out = {}
        for metric, values in zip(metrics, case.under(run.name, "expected", metrics), strict=True):
            defined = np.where(np.isnan(run.values[metric]), np.nan, values)
            by = case.mean_over(run.name, metric, defined) - case.mean(run.name, metric)
            if not math.isnan(by):
                out[str(metric)] = by
        return out


class SelfMatch(Rule, code="RS105"):
    """A query retrieves itself: a document with the id of the query."""

    why = (
        "Where queries are themselves documents (arguments, duplicate questions, similar items), each finds itself first, and all "
        "else moves down a place. Some tools drop such documents and print up to 10 points more."
    )
    remedy = "take the query out of its own ranking, or use --self-match drop, and say which"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a run: a warning where it is often the first document, none where numbers meet by chance."""
        if case.call.policy.self_match == "drop":
            return
        for run in case.scored_runs:
            given = case.given(run.name)
            rows = np.flatnonzero((given.sound.frame["query_id"] == given.sound.frame["doc_id"]).to_numpy())
            if not len(rows):
                continue
            top = case.top(run.name, case.cutoff)
            first = top.filter((pl.col("query_id") == pl.col("doc_id")) & (pl.col("rank") == 1))
            judged = case.judgments.filter(pl.col("query_id") == pl.col("doc_id"))
            first = first.join(judged, on=["query_id", "doc_id"], how="anti")
            # ids that are plain numbers meet by chance, but not at the first rank of many queries
            if first.height < max(1, OFTEN * run.health.queries):
                continue
            effect = case.change(given, self_match="drop")
            size = moved(effect)
            yield self.found(
                f"{run.name} ranks the query itself first in {first.height:,} of {counted(run.health.queries, 'query', 'queries')}"
                + (f"; without it: {size}" if size else ""),
                run=run.name,
                count=len(rows),
                effect=effect,
                queries=first["query_id"].to_list(),
                places=(),
            )
