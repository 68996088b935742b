"""How the documents are ranked: scores, ties, depth, copies, unjudged documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np

from rankscope import words
from rankscope.declared import parameters
from rankscope.engines.pairs import PAIR, Frame, without
from rankscope.metrics import Metric
from rankscope.scoring.health import NOTABLE, POSITIVE, REMEDIES, warnings_of_judgments
from rankscope.scoring.suspicions import short_runs
from rankscope.verbs.check.case import CheckCase, ScoredRun
from rankscope.verbs.check.rule import Finding, Rule, changes

Words = tuple[str, frozenset[str]]
Ends = dict[Metric, tuple[float, float]]
WIDE = 0.02  # ties or copies that move a metric this far are a warning
MANY = 0.5  # of the queries: what is true of so many is true of the run
OFTEN = 0.1
FEWEST = 5  # words below which texts are compared as a whole only
MANY_COPIES = 0.05  # of the top k: from here on copies are a warning
ALIKE = 0.9  # share of words that two texts have in common


class RankColumn(Rule, code="RS201", tail="; by the rank column: {}"):
    """The rank column contradicts the scores."""

    why = (
        "trec_eval and evaluate order by score and never look at the rank column, so a run that was sorted by something else (or "
        "re-ranked without new scores, or scored by distances) is not measured in the order that users saw."
    )
    remedy = REMEDIES["RS201"]

    def find(self, case: CheckCase) -> Iterator[Finding]:
        for run in case.scored_runs:
            for caution in case.cautions(self.code, run):
                effect = {str(metric): by for metric, by in case.change(run.input, ties="rank").items()}
                upside = " (they rise with the rank: are they distances?)" if self._rising(run) else ""
                yield self.finding(
                    caution.message + upside, serious=bool(changes(effect)) or not effect,
                    run=run.name, count=run.health.rank_disagreements, effect=effect,
                )  # fmt: skip

    @staticmethod
    def _rising(run: ScoredRun) -> bool:
        frame = run.input.sound.frame.sort("query_id", "rank")
        query, score = frame["query_id"], frame["score"].to_numpy()
        step = np.diff(score)[(query[1:] == query[:-1]).to_numpy()]
        return bool(len(step)) and int((step > 0).sum()) > 0.9 * len(step)


class ShortRun(Rule, code="RS202"):
    """The run is shorter than the cutoff of a metric."""

    why = (
        "A metric at k then looks at ranks where there is nothing: P@100 of 50 documents is at most 0.5, and R@100 is R@50. Beside a "
        "run that is deep enough, this compares depths."
    )
    remedy = REMEDIES["RS202"]

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run that was not cut: a warning where no query reaches the cutoff and another run's queries do."""
        reach = {run.name: int(run.judged().retrieved.max(initial=0)) for run in case.scored_runs if case.whole}
        for name, message, deeper in short_runs(reach, case.metrics):
            yield self.finding(f"{name} {message}", serious=bool(deeper), run=name, count=reach[name])


class TiesAtCutoff(Rule, code="RS203", severity="information"):
    """Equal scores leave the order, and so the number, undecided."""

    why = (
        "Documents with equal scores can stand in any order, and each tool picks one: by document id, by the order of the file, at "
        "random. A system that gives all documents one score can print any number between the worst and the best."
    )
    remedy = REMEDIES["RS203"]

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run, where a metric could move by 0.0005 or more."""
        if not case.breaks_ties:
            return
        ends = {run.name: self._ends(case, run) for run in case.scored_runs} if case.plain else {}
        means = {run.name: run.means for run in case.scored_runs}
        for run in case.scored_runs:
            messages = [caution.message for caution in case.cautions(self.code, run)]
            if not case.plain:
                yield from (self.finding(message, run=run.name) for message in messages)
                continue
            widths = {m: high - low for m, (low, high) in ends[run.name].items() if high - low >= NOTABLE}
            if not widths:
                continue
            widest = max(widths, key=lambda m: widths[m])
            low, high = ends[run.name][widest]
            start = [*messages, f"{run.name}: {words.counted(run.health.tied_rows, 'row')} with equal scores"][0]
            rival, clear = self._rival(case, means, run.name, ends)
            yield self.finding(
                f"{start}; {widest} could be anything from {words.interval(low, high, digits=3)}{rival}",
                serious=widths[widest] >= WIDE or clear, run=run.name, count=run.health.tied_rows, effect=widths,
            )  # fmt: skip

    def _rival(
        self, case: CheckCase, means: Mapping[str, Mapping[Metric, float]], name: str, ends: Mapping[str, Ends]
    ) -> tuple[str, bool]:
        """Which run ties put it ahead of, or behind, in words; and whether these two can be told apart as they are."""
        metric = next(iter(ends[name]), None)
        if metric is None or ends[name][metric][1] - ends[name][metric][0] < NOTABLE:
            return "", False
        (low, high), mine = ends[name][metric], means[name][metric]
        near = [
            other
            for other, theirs in ends.items()
            if other != name and low < theirs[metric][1] and theirs[metric][0] < high and mine != means[other][metric]
        ]
        other = max(near, key=lambda other: case.is_clear(metric, name, other), default=None)
        if other is None:
            return "", False
        clear = case.is_clear(metric, name, other)
        even = "" if clear else ", which is not clear"
        return f"; their order decides whether it is ahead of {other} on {metric}{even}", clear

    def _ends(self, case: CheckCase, run: ScoredRun) -> Ends:
        metrics = [m for m in case.metrics if m.better != "neither" and m.aggregate != "pooled" and not m.counts_ties]
        if not run.health.tied_rows:
            return {m: (run.means[m], run.means[m]) for m in metrics}
        out = {}
        for metric, *values in zip(metrics, run.under(metrics, "worst"), run.under(metrics, "best"), strict=True):
            ends = [run.mean_over(metric, value) for value in values]
            out[metric] = (min(ends), max(ends))
        return out


class ConstantScores(Rule, code="RS205", tail="; the mean over all orders: {}"):
    """All documents of a query have the same score."""

    why = (
        "There is no ranking, only a set: the order comes from document ids or from the file, and with it the number. A scorer that "
        "failed and returned a constant can look good, because files are often written best first."
    )
    remedy = "find out why the scorer does not distinguish documents; --ties expected gives what chance gives"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run; a warning where it holds for half of the queries."""
        metrics = [m for m in case.metrics if m.aggregate != "pooled"] if case.breaks_ties and case.plain else []
        for run in case.scored_runs:
            table = run.input.sound.by_query()
            score, start, several = table.frame["score"].to_numpy(), table.blocks.start, table.blocks.size > 1
            if not several.any():
                continue
            flat = (np.maximum.reduceat(score, start) == np.minimum.reduceat(score, start)) & several
            number, of = int(flat.sum()), int(several.sum())
            if number < OFTEN * of:
                continue
            queries = table.blocks.query[np.flatnonzero(flat)].to_list()
            yield self.finding(
                f"{run.name}: all documents have the same score in {words.count(number)} of {words.counted(of, 'query')} "
                f"({words.sample(queries)})",
                serious=number >= MANY * of, run=run.name,
                effect=run.shifts(dict(zip(metrics, run.under(metrics, "expected"), strict=True))), queries=queries,
            )  # fmt: skip


class SelfMatchRule(Rule, code="RS105", tail="; without it: {}"):
    """A query retrieves itself: a document with the id of the query."""

    why = (
        "Where queries are themselves documents (arguments, duplicate questions, similar items), each finds itself first, and "
        "everything else moves down a rank. Some tools drop such documents and print up to 10 points more."
    )
    remedy = REMEDIES["RS105"]

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run: a warning where it often stands first, or high; none where numbers meet by chance."""
        for run in case.scored_runs if case.request.policies.self_match != "drop" else ():
            _, number = run.input.sound.without_self_matches()
            if not number:
                continue
            top, of = case.top(run.input, case.cutoff), run.health.queries
            own = without(top.filter(top["query_id"] == top["doc_id"]), case.judgments)
            first = own.filter(own["rank"] == 1)["query_id"].to_list()
            high = own["query_id"].to_list()
            # ids that are plain numbers meet by chance, but not so high in so many queries
            by_chance = case.cutoff / run.input.sound.frame["doc_id"].n_unique() if len(high) > len(first) else 0.0
            if len(first) < max(1, OFTEN * of) and len(high) < max(1, (OFTEN + by_chance) * of):
                continue
            where = f"first in {words.count(len(first))}"
            if len(high) > len(first):
                where = f"in its top {case.cutoff} in {words.count(len(high))}"
            yield self.finding(
                f"{run.name} ranks the query itself {where} of {words.counted(of, 'query')}",
                run=run.name, count=number, effect=case.change(run.input, self_match="drop"), queries=high,
            )  # fmt: skip


class NearDuplicates(Rule, code="RS206", needs="docs_text", tail="; without copies: {}"):
    """Documents with the same text, or nearly the same, are in the top k of one query."""

    why = (
        "Users see one document twice, while each copy that was judged relevant earns again. Unjudged copies push the rest down. "
        "Systems that show copies and systems that do not are not measured alike."
    )
    remedy = "keep one of each group of copies, in the collection or in the ranking, and judge copies alike"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        if case.texts is None:
            return
        known: dict[str, Words | None] = {}
        for run in case.scored_runs:
            top = case.judged_top(run)
            copies = list(_copies(top, case.texts.by_id, known))
            if not copies:
                continue
            query, doc, first = copies[0]
            queries = list(dict.fromkeys(q for q, _, _ in copies))
            table, gone = run.input.sound, Frame([pair[:2] for pair in copies], PAIR, orient="row")
            effect = case.change(run.input, table=table._having(without(table.frame, gone)))
            yield self.finding(
                f"{run.name}: {words.counted(len(copies), 'document')} of the top {case.cutoff} "
                f"{words.agree(len(copies), 'repeats')} the text of a higher one, in {words.counted(len(queries), 'query')} "
                f"({doc} of {first}, query {query})",
                serious=len(copies) >= MANY_COPIES * top.height or any(abs(by) >= WIDE for by in effect.values()),
                run=run.name, count=len(copies), effect=effect, queries=queries, documents=gone.rows(),
            )  # fmt: skip


def _copies(top: Frame, texts: Mapping[str, str], known: dict[str, Words | None]) -> Iterator[tuple[str, str, str]]:
    for (query,), rows in top.group_by("query_id", maintain_order=True):
        seen: list[tuple[str, Words]] = []
        for doc in rows["doc_id"].to_list():
            if doc not in known:
                known[doc] = _words(texts.get(doc, ""))
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
    if a[0] == b[0]:
        return True
    small, large = sorted((len(a[1]), len(b[1])))
    if small < FEWEST or small < ALIKE * large:
        return False
    both = len(a[1] & b[1])
    return both >= ALIKE * (len(a[1]) + len(b[1]) - both)


class UnjudgedRule(Rule, code="RS204", tail="; leaving unjudged documents out: {}"):
    """Much of the top k is unjudged, or more of one run than of another."""

    why = (
        "Unjudged documents count as not relevant. The number is then too low by an unknown amount; where one run has more of them "
        "than another (often the new kind of system, which did not contribute to the pool), the comparison is unfair to it."
    )
    remedy = REMEDIES["RS204"]

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding for all runs; information where the judgments name relevant documents only."""
        health = {run.name: run.health for run in case.scored_runs}
        for code, message in warnings_of_judgments(health, case.metrics, positives=True):
            if code != self.code:
                continue
            negative, k = case.judgments.height - case.relevant.height, case.cutoff
            worst = max(case.scored_runs, key=lambda run: run.health.unjudged_at_cutoff.get(k, 0.0))
            if negative >= POSITIVE * case.judgments.height and case.train is None:
                effect = self._judged_only(case, worst)
                yield self.finding(message, run=worst.name, effect=effect)
                continue
            what = "hardly any document that is not relevant" if negative else "relevant documents only"
            share = words.share(worst.health.unjudged_at_cutoff.get(k, 0.0))
            yield self.finding(
                f"the qrels name {what}: {share} of the top {k} of {worst.name} is not in them, and counts as not relevant",
                hint="expected with clicks, purchases and one answer a query; what is not known to be relevant may be",
                serious=False, run=worst.name,
            )  # fmt: skip

    def _judged_only(self, case: CheckCase, run: ScoredRun) -> dict[Metric, float]:
        if not case.plain or case.convention.ties not in {"trec", "docid", "input", "rank"}:
            return {}
        own = [m for m in case.metrics if "judged_only" in parameters(type(m)) and not getattr(m, "judged_only", True)]
        return run.shifts({m: run.under([m.having(judged_only=True)])[0] for m in own})
