"""How the documents are ranked: scores, ties, depth, copies, unjudged documents."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from rankscope import words
from rankscope.declared import parameters
from rankscope.metrics import Metric
from rankscope.scoring.health import NOTABLE
from rankscope.scoring.runs import RunScores
from rankscope.verbs.check.rules.case import CheckCase
from rankscope.verbs.check.rules.queries import health_cautions
from rankscope.verbs.check.rules.rule import Finding, Rule, changes

Words = tuple[str, frozenset[str]]
Ends = dict[Metric, tuple[float, float]]
WIDE = 0.02  # ties or copies that move a metric this far are a warning
MANY = 0.5  # of the queries: what is true of so many is true of the run
OFTEN = 0.1
FEWEST = 5  # words below which texts are compared as a whole only
MANY_COPIES = 0.05  # of the top k: from here on copies are a warning
ALIKE = 0.9  # share of words that two texts have in common
POSITIVE = 0.05  # with fewer judgments of "not relevant" than this share, unjudged says little


class RankColumn(Rule, code="RS201"):
    """The rank column contradicts the scores."""

    why = (
        "trec_eval and evaluate order by score and never look at the rank column, so a run that was sorted by something else (or "
        "re-ranked without new scores, or scored by distances) is not measured in the order that users saw."
    )
    remedy = "write scores that fall with the rank; --ties rank follows the rank column"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run."""
        for run in case.scored_runs:
            for caution in health_cautions(case, run, self.code):
                effect = case.change(case.input(run.name), ties="rank")
                size = changes(effect, "; by the rank column: ")
                number = run.health.rank_disagreements or 0
                upside = " (they rise with the rank: are they distances?)" if self._rising(case, run.name) else ""
                yield self.finding(
                    caution.message + upside + size,
                    hint=caution.hint,
                    severity="warning" if size or not effect else "information",
                    run=run.name,
                    count=number,
                    effect=effect,
                )

    @staticmethod
    def _rising(case: CheckCase, name: str) -> bool:
        """Whether nearly every document has a better score than the one that the rank column has above it."""
        frame = case.input(name).sound.frame.sort("query_id", "rank")
        step = frame.select(pl.col("score").diff().over("query_id").drop_nulls()).to_series()
        return bool(len(step)) and int((step > 0).sum()) > 0.9 * len(step)


class ShortRun(Rule, code="RS202"):
    """The run is shorter than the cutoff of a metric."""

    why = (
        "A metric at k then looks at ranks where there is nothing: P@100 of 50 documents is at most 0.5, and R@100 is R@50. Beside a "
        "run that is deep enough, this compares depths."
    )
    remedy = "retrieve at least as many documents as the largest cutoff, or choose a smaller one"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run: a warning where no query reaches the cutoff and another run's queries do."""
        if case.request.policies.depth is not None:  # lists are short because they were cut
            return
        cutoffs = {str(m): int(k) for m in case.metrics if (k := getattr(m, "cutoff", None))}
        reach = {run.name: self._deepest(case, run) for run in case.scored_runs}
        for run in case.scored_runs:
            beyond = {m: k for m, k in cutoffs.items() if k > reach[run.name] > 0}
            if not beyond:
                continue
            deeper = [n for n, d in reach.items() if d > reach[run.name]]
            uneven = f"; {deeper[0]} goes down to rank {words.count(reach[deeper[0]])}" if deeper else ""
            yield self.finding(
                f"{run.name} has at most {words.counted(reach[run.name], 'document')} a query, and {words.listing(beyond)} "
                f"{words.agree(len(beyond), 'looks')} deeper{uneven}",
                severity="warning" if uneven else "information",
                run=run.name,
                count=reach[run.name],
            )

    def _deepest(self, case: CheckCase, run: RunScores) -> int:
        return int(case.judged(run.name).retrieved.max(initial=0))


class TiesAtCutoff(Rule, code="RS203"):
    """Equal scores leave the order, and so the number, undecided."""

    severity = "information"
    why = (
        "Documents with equal scores can stand in any order, and each tool picks one: by document id, by the order of the file, at "
        "random. A system that gives all documents one score can print any number between the worst and the best."
    )
    remedy = "give distinct scores, or report --ties expected; rankscope ties has the details"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run, where a metric could move by 0.0005 or more."""
        if case.ties not in {"trec", "docid", "input"} or case.request.policies.depth is not None:
            return
        if not case.plain:
            for run in case.scored_runs:
                for caution in health_cautions(case, run, self.code):
                    yield self.finding(caution.message, run=run.name)
            return
        ends = {run.name: self._ends(case, run) for run in case.scored_runs}
        for run in case.scored_runs:
            widths = {m: high - low for m, (low, high) in ends[run.name].items() if high - low >= NOTABLE}
            if not widths:
                continue
            widest = max(widths, key=lambda m: widths[m])
            low, high = ends[run.name][widest]
            cautions = health_cautions(case, run, self.code)
            start = (
                cautions[0].message
                if cautions
                else f"{run.name}: {words.counted(run.health.tied_rows, 'row')} with equal scores"
            )
            rival = self._rival(case, run.name, ends)
            yield self.finding(
                f"{start}; {widest} could be anything from {words.interval(low, high, digits=3)}{rival}",
                severity="warning" if widths[widest] >= WIDE or rival else "information",
                run=run.name,
                count=run.health.tied_rows,
                effect={str(m): width for m, width in widths.items()},
            )

    def _rival(self, case: CheckCase, name: str, ends: Mapping[str, Ends]) -> str:
        """Another run against which the order of equal scores decides who is ahead, on the first metric."""
        metric = next(iter(ends[name]), None)
        if metric is None or ends[name][metric][1] - ends[name][metric][0] < NOTABLE:
            return ""
        low, high = ends[name][metric]
        for other, theirs in ends.items():
            below, above = theirs[metric]
            if other != name and low < above and below < high and case.mean(name, metric) != case.mean(other, metric):
                return f"; their order decides whether it is ahead of {other} on {metric}"
        return ""

    def _ends(self, case: CheckCase, run: RunScores) -> Ends:
        """The lowest and the highest mean over all orders of equal scores."""
        metrics = [m for m in case.metrics if m.better != "neither" and m.aggregate != "pooled" and not m.counts_ties]
        if not run.health.tied_rows:
            means = [case.mean(run.name, m) for m in metrics]
            return dict(zip(metrics, zip(means, means, strict=True), strict=True))
        by_policy = [case.values(run.name, metrics, ties) for ties in ("worst", "best")]
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
    remedy = "find out why the scorer does not distinguish documents; --ties expected gives what chance gives"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run; a warning where it holds for half of the queries."""
        for run in case.scored_runs:
            table = case.input(run.name).sound.by_query()
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
            yield self.finding(
                f"{run.name}: all documents have the same score in {words.count(number)} of {words.counted(of, 'query')} "
                f"({words.sample(queries)})" + changes(effect, "; the mean over all orders: "),
                severity="warning" if number >= MANY * of else "information",
                run=run.name,
                count=number,
                effect=effect,
                queries=queries,
            )

    def _expected(self, case: CheckCase, run: RunScores) -> dict[str, float]:
        metrics = [m for m in case.metrics if m.aggregate != "pooled"]
        if case.ties not in {"trec", "docid", "input"} or case.request.policies.depth is not None or not case.plain:
            return {}
        out = {}
        for metric, values in zip(metrics, case.values(run.name, metrics, "expected"), strict=True):
            defined = np.where(np.isnan(run.values[metric]), np.nan, values)
            by = case.mean_over(run.name, metric, defined) - case.mean(run.name, metric)
            if not math.isnan(by):
                out[str(metric)] = by
        return out


class SelfMatch(Rule, code="RS105"):
    """A query retrieves itself: a document with the id of the query."""

    why = (
        "Where queries are themselves documents (arguments, duplicate questions, similar items), each finds itself first, and "
        "everything else moves down a rank. Some tools drop such documents and print up to 10 points more."
    )
    remedy = "remove the query from its own ranking, or use --self-match drop, and say which"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run: a warning where it is often the first document, none where numbers meet by chance."""
        if case.request.policies.self_match == "drop":
            return
        for run in case.scored_runs:
            given = case.input(run.name)
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
            yield self.finding(
                f"{run.name} ranks the query itself first in {words.count(first.height)} of {words.counted(run.health.queries, 'query')}"
                + changes(effect, "; without it: "),
                run=run.name,
                count=len(rows),
                effect=effect,
                queries=first["query_id"].to_list(),
            )


class NearDuplicates(Rule, code="RS206"):
    """Documents with the same text, or nearly the same, are in the top k of one query."""

    needs = "texts"
    why = (
        "Users see one document twice, while each copy that was judged relevant earns again. Unjudged copies push the rest down. "
        "Systems that show copies and systems that do not are not measured alike."
    )
    remedy = "keep one of each group of copies, in the collection or in the ranking, and judge copies alike"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run, where texts were given (--docs-text)."""
        if case.texts is None:
            return
        known: dict[str, Words | None] = {}
        for run in case.scored_runs:
            top = case.judged_top(run.name)
            copies = list(_copies(top, case.texts.by_id, known))
            if not copies:
                continue
            effect = self._effect(case, run.name, copies)
            query, doc, first = copies[0]
            grave = len(copies) >= MANY_COPIES * top.height or any(abs(by) >= WIDE for by in effect.values())
            queries = list(dict.fromkeys(q for q, _, _ in copies))
            yield self.finding(
                f"{run.name}: {words.counted(len(copies), 'document')} of the top {case.cutoff} "
                f"{words.agree(len(copies), 'repeats')} the text of a higher one, in {words.counted(len(queries), 'query')} "
                f"({doc} of {first}, query {query})" + changes(effect, "; without copies: "),
                severity="warning" if grave else "information",
                run=run.name,
                count=len(copies),
                effect=effect,
                queries=queries,
                documents=[(q, d) for q, d, _ in copies],
            )

    def _effect(self, case: CheckCase, name: str, copies: list[tuple[str, str, str]]) -> dict[str, float]:
        given = case.input(name)
        gone = pl.DataFrame({"query_id": [q for q, _, _ in copies], "doc_id": [d for _, d, _ in copies]})
        kept = given.sound.frame.join(gone, on=["query_id", "doc_id"], how="anti", maintain_order="left")
        return case.change(given, table=given.sound._having(kept))


def _copies(
    top: pl.DataFrame, texts: Mapping[str, str], known: dict[str, Words | None]
) -> Iterator[tuple[str, str, str]]:
    """Query, document and the higher document that it repeats; ``known`` keeps the words of documents met before."""
    for (query,), rows in top.group_by("query_id", maintain_order=True):
        seen: list[tuple[str, Words]] = []
        for doc in rows["doc_id"].to_list():
            if doc not in known:
                known[doc] = _words(texts[doc]) if doc in texts else None
            text = known[doc]
            if text is None:
                continue
            twin = next((d for d, other in seen if _alike(text, other)), None)
            if twin is None:
                seen.append((doc, text))
            else:
                yield str(query), doc, twin


def _words(text: str) -> Words | None:
    """The text in small letters without punctuation, and the set of its words; None for an empty one."""
    found = re.findall(r"\w+", text.casefold())
    return (" ".join(found), frozenset(found)) if found else None


def _alike(a: Words, b: Words) -> bool:
    """Whether two texts are the same but for letters and punctuation, or share nine words of ten."""
    if a[0] == b[0]:
        return True
    small, large = sorted((len(a[1]), len(b[1])))
    if small < FEWEST or small < ALIKE * large:
        return False
    both = len(a[1] & b[1])
    return both >= ALIKE * (len(a[1]) + len(b[1]) - both)


class Unjudged(Rule, code="RS204"):
    """Much of the top k is unjudged, or more of one run than of another."""

    why = (
        "Unjudged documents count as not relevant. The number is then too low by an unknown amount; where one run has more of them "
        "than another (often the new kind of system, which did not contribute to the pool), the comparison is unfair to it."
    )
    remedy = "judge the unjudged documents in the top k, or report Judged@k and metrics with judged_only=True beside the others"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding for all runs; information where the judgments name relevant documents only."""
        for caution in health_cautions(case, None, self.code):
            negative = case.judgments.filter(pl.col("grade") < 1).height
            positive = negative < POSITIVE * case.judgments.height or case.background.train is not None
            k = case.cutoff
            shares = {r.name: r.health.unjudged_at_cutoff.get(k, 0.0) for r in case.scored_runs}
            worst = max(shares, key=lambda name: shares[name])
            if positive:
                what = "hardly any document that is not relevant" if negative else "relevant documents only"
                yield self.finding(
                    f"the qrels name {what}: {words.share(shares[worst])} of the top {k} of {worst} is not in them, and counts as "
                    "not relevant",
                    hint="expected with clicks, purchases and one answer a query; what is not known to be relevant may be",
                    severity="information",
                    run=worst,
                )
                continue
            effect = self._judged_only(case, worst)
            yield self.finding(
                caution.message + changes(effect, "; leaving unjudged documents out: "),
                hint=caution.hint,
                run=worst,
                effect=effect,
            )

    def _judged_only(self, case: CheckCase, name: str) -> dict[str, float]:
        """What each metric would gain if unjudged documents were taken out of the ranking."""
        out: dict[str, float] = {}
        for metric in case.metrics if case.plain and case.ties in {"trec", "docid", "input", "rank"} else ():
            if "judged_only" not in parameters(type(metric)) or getattr(metric, "judged_only", True):
                continue
            (values,) = case.values(name, [metric.having(judged_only=True)])
            by = case.mean_over(name, metric, values) - case.mean(name, metric)
            if not math.isnan(by):
                out[str(metric)] = by
        return out
