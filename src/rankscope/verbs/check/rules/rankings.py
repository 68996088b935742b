"""Problems of rankings: scores, ties, depth, copies, unjudged documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from rankscope.declared import parameters
from rankscope.diagnostics import rankings as rules
from rankscope.diagnostics.rule import MIN_PRINTED_CHANGE, Finding, changes
from rankscope.engines.pairs import PAIR, Frame, without
from rankscope.metrics import Metric
from rankscope.scoring.health import MIN_SHARE_NOT_RELEVANT, unjudged_in_top
from rankscope.scoring.input_checks import short_runs
from rankscope.verbs.check.case import CheckCase, ScoredRun, finds

Words = tuple[str, frozenset[str]]
Ends = dict[Metric, tuple[float, float]]
LARGE_CHANGE = 0.02  # of a metric, for a warning
MIN_SHARE_OF_RISING_SCORES = 0.9
MIN_SHARE_OF_CONSTANT_QUERIES = 0.1  # for a finding
MAJORITY = 0.5  # of the queries, for a warning
MIN_WORDS = 5  # shorter texts are copies only if they are equal
MIN_SHARE_OF_COPIES = 0.05  # of the top k, for a warning
MIN_COMMON_WORDS = 0.9  # the share that near copies have in common


@finds(rules.RankColumn)
def _rank_column(case: CheckCase) -> Iterator[Finding]:
    for run in case.scored_runs:
        for rule, numbers in case.raised(rules.RankColumn, run):
            effect = {str(metric): by for metric, by in case.change(run.input, ties="rank").items()}
            serious = bool(changes(effect)) or not effect
            yield rule.finding(**numbers, rising=_scores_rise(run), serious=serious, effect=effect)


def _scores_rise(run: ScoredRun) -> bool:
    frame = run.input.sound.frame.sort("query_id", "rank")
    query, score = frame["query_id"], frame["score"].to_numpy()
    step = np.diff(score)[(query[1:] == query[:-1]).to_numpy()]
    return bool(len(step)) and int((step > 0).sum()) > MIN_SHARE_OF_RISING_SCORES * len(step)


@finds(rules.ShortRun)
def _short_run(case: CheckCase) -> Iterator[Finding]:
    """Find runs that end above a cutoff: a warning if another run goes deeper."""
    ends = {run.name: int(run.judged().retrieved.max(initial=0)) for run in case.scored_runs if case.whole}
    for numbers in short_runs(ends, case.metrics):
        yield rules.ShortRun.finding(**numbers, serious="deeper" in numbers)


@finds(rules.TiesAtCutoff)
def _ties_at_cutoff(case: CheckCase) -> Iterator[Finding]:
    """Find runs with ties that could move a metric by 0.0005 or more."""
    if not case.breaks_ties:
        return
    ends = {run.name: _ends(case, run) for run in case.scored_runs} if case.plain else {}
    for run in case.scored_runs:
        raised = [numbers for _, numbers in case.raised(rules.TiesAtCutoff, run)]
        tied: dict[str, Any] = raised[0] if raised else {"run": run.name, "tied_rows": run.health.tied_rows}
        if not case.plain:
            if raised:
                yield rules.TiesAtCutoff.finding(**tied)
            continue
        widths = {m: high - low for m, (low, high) in ends[run.name].items() if high - low >= MIN_PRINTED_CHANGE}
        if not widths:
            continue
        widest = max(widths, key=lambda m: widths[m])
        low, high = ends[run.name][widest]
        rival = _rival(case, run.name, ends)
        yield rules.TiesAtCutoff.finding(
            **tied, metric=widest, low=low, high=high, **rival,
            serious=widths[widest] >= LARGE_CHANGE or "rival" in rival, count=run.health.tied_rows, effect=widths,
        )  # fmt: skip


def _rival(case: CheckCase, name: str, ends: Mapping[str, Ends]) -> dict[str, Any]:
    """Return the ``rival`` that ties put it ahead of, or behind, on the first metric, if ``compare`` separates the two."""
    metric = next(iter(ends[name]), None)
    if metric is None or ends[name][metric][1] - ends[name][metric][0] < MIN_PRINTED_CHANGE:
        return {}
    (low, high), means = ends[name][metric], case.means(metric)
    near = [
        other
        for other, theirs in ends.items()
        if other != name and low < theirs[metric][1] and theirs[metric][0] < high and means[name] != means[other]
    ]
    rival = next((other for other in near if case.is_clear(metric, name, other)), None)
    return {} if rival is None else {"rival": rival, "ahead_on": metric}


def _ends(case: CheckCase, run: ScoredRun) -> Ends:
    metrics = [m for m in case.metrics if m.better != "neither" and m.aggregate != "pooled" and not m.counts_ties]
    if not run.health.tied_rows:
        return {m: (run.means[m], run.means[m]) for m in metrics}
    out = {}
    for metric, *values in zip(metrics, run.under(metrics, "worst"), run.under(metrics, "best"), strict=True):
        means = [run.mean_over(metric, value) for value in values]
        out[metric] = (min(means), max(means))
    return out


@finds(rules.ConstantScores)
def _constant_scores(case: CheckCase) -> Iterator[Finding]:
    metrics = [m for m in case.metrics if m.aggregate != "pooled"] if case.breaks_ties and case.plain else []
    for run in case.scored_runs:
        table = run.input.sound.by_query()
        score, start, several = table.frame["score"].to_numpy(), table.blocks.start, table.blocks.size > 1
        if not several.any():
            continue
        flat = (np.maximum.reduceat(score, start) == np.minimum.reduceat(score, start)) & several
        number, total = int(flat.sum()), int(several.sum())
        if number >= MIN_SHARE_OF_CONSTANT_QUERIES * total:
            yield rules.ConstantScores.finding(
                run=run.name, count=number, total=total, serious=number >= MAJORITY * total,
                queries=table.blocks.query[np.flatnonzero(flat)].to_list(),
                effect=run.shifts(dict(zip(metrics, run.under(metrics, "expected"), strict=True))),
            )  # fmt: skip


@finds(rules.NearDuplicates)
def _near_duplicates(case: CheckCase) -> Iterator[Finding]:
    if case.texts is None:
        return
    known: dict[str, Words | None] = {}
    for run in case.scored_runs:
        top = case.judged_top(run)
        copies = list(_copies(top, case.texts.by_id, known))
        if not copies:
            continue
        query, document, first = copies[0]
        queries = list(dict.fromkeys(q for q, _, _ in copies))
        table, gone = run.input.sound, Frame([pair[:2] for pair in copies], PAIR, orient="row")
        effect = case.change(run.input, table=table._having(without(table.frame, gone)))
        large = any(abs(by) >= LARGE_CHANGE for by in effect.values())
        yield rules.NearDuplicates.finding(
            run=run.name, count=len(copies), cutoff=case.cutoff, number=len(queries), document=document, first=first,
            query=query, serious=len(copies) >= MIN_SHARE_OF_COPIES * top.height or large, effect=effect, queries=queries,
            documents=gone.rows(),
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
    parts = re.findall(r"\w+", text.casefold())
    return (" ".join(parts), frozenset(parts)) if parts else None


def _alike(a: Words, b: Words) -> bool:
    if a[0] == b[0]:
        return True
    small, large = sorted((len(a[1]), len(b[1])))
    if small < MIN_WORDS or small < MIN_COMMON_WORDS * large:
        return False
    both = len(a[1] & b[1])
    return both >= MIN_COMMON_WORDS * (len(a[1]) + len(b[1]) - both)


@finds(rules.Unjudged)
def _unjudged(case: CheckCase) -> Iterator[Finding]:
    """Find the run with most unjudged documents: information if the judgments name relevant documents only."""
    for rule, numbers in unjudged_in_top({run.name: run.health for run in case.scored_runs}, case.metrics):
        negative, k = case.judgments.height - case.relevant.height, case.cutoff
        worst = max(case.scored_runs, key=lambda run: run.health.unjudged_at_cutoff.get(k, 0.0))
        if negative >= MIN_SHARE_NOT_RELEVANT * case.judgments.height and case.train is None:
            yield rule.finding(**numbers, effect=_judged_only(case, worst))
            continue
        share = worst.health.unjudged_at_cutoff.get(k, 0.0)
        yield rules.PositiveJudgments.finding(
            run=worst.name, share=share, cutoff=k, only=not negative, mostly=bool(negative), serious=False
        )


def _judged_only(case: CheckCase, run: ScoredRun) -> dict[Metric, float]:
    if not case.plain or case.convention.ties not in {"trec", "docid", "input", "rank"}:
        return {}
    own = [m for m in case.metrics if "judged_only" in parameters(type(m)) and not getattr(m, "judged_only", True)]
    return run.shifts({m: run.under([m.having(judged_only=True)])[0] for m in own})
