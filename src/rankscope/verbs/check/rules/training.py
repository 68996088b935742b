"""Problems of recommenders: training data against test data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rankscope.diagnostics import training as rules
from rankscope.diagnostics.rule import Finding
from rankscope.engines.pairs import PAIR, Frame, within, without
from rankscope.files.side_tables import timed_interactions
from rankscope.metrics import Metric
from rankscope.verbs.check.case import CheckCase, finds

MAX_SHARE_SEEN = 0.01  # of the recommendations; above it, seen items are not filtered
MIN_SHARE_COLD = 0.05


@finds(rules.TestInTrain)
def _test_in_train(case: CheckCase) -> Iterator[Finding]:
    both = within(case.relevant, case.interactions)
    if both.height:
        total = case.relevant.height
        yield rules.TestInTrain.finding(
            count=both.height, total=total, share=both.height / total, documents=both.select(PAIR).rows(),
            effect=_without_seen_tests(case, both) if case.scored_runs else None,
        )  # fmt: skip


def _without_seen_tests(case: CheckCase, both: Frame) -> dict[Metric, float]:
    rest = without(case.qrels.sound.frame, both)
    gone = without(both, rest.filter(rest["grade"] >= 1), "query_id")
    rest = without(rest, gone, "query_id")
    qrels = replace(case.qrels.sound, frame=rest, more_queries=())
    return case.change(case.comparable[0], qrels=qrels) if rest.height else {}


@finds(rules.SeenRecommended)
def _seen_recommended(case: CheckCase) -> Iterator[Finding]:
    train = case.interactions
    for run in case.scored_runs:
        top = case.judged_top(run)
        seen = within(top, train)
        if seen.height > MAX_SHARE_SEEN * top.height:
            table = run.input.sound
            yield rules.SeenRecommended.finding(
                run=run.name, share=seen.height / top.height, cutoff=case.cutoff, documents=seen.select(PAIR).rows(),
                effect=case.change(run.input, table=table._having(without(table.frame, train))),
            )  # fmt: skip


@finds(rules.TimeOrder)
def _time_order(case: CheckCase) -> Iterator[Finding]:
    """Find training interactions that are too late, if both the training data and the qrels have a column of times."""
    train, path = case.interactions, case.qrels.table.source.path
    test = None if train["time"].is_null().all() or path is None else timed_interactions(path)
    if test is None:
        return
    first = test.select("query_id", "time").group_by("query_id").min().rename({"time": "first"})
    timed = train.join(first, on="query_id")
    later = timed.filter(timed["time"] > timed["first"])
    if later.height:
        users = later["query_id"].unique().sort().to_list()
        yield rules.TimeOrder.finding(
            number=len(users), total=within(first, train, "query_id").height, count=later.height, queries=users,
            documents=later.select(PAIR).rows(),
        )  # fmt: skip


@finds(rules.Cold)
def _cold(case: CheckCase) -> Iterator[Finding]:
    for column, noun in zip(PAIR, ("users", "relevant items"), strict=True):
        ids = case.relevant.select(column).unique()
        cold = without(ids, case.interactions, column)[column].sort().to_list()
        if cold and len(cold) >= MIN_SHARE_COLD * ids.height:
            users = cold if noun == "users" else []
            yield rules.Cold.finding(
                count=len(cold), total=ids.height, noun=noun, share=len(cold) / ids.height, queries=users,
                effect=case.scored_runs[0].cost(users) if users and case.scored_runs else None,
            )  # fmt: skip
