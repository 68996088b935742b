"""Problems of recommenders: training data against test data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rankscope import words
from rankscope.diagnostics import training as rules
from rankscope.diagnostics.rule import Finding
from rankscope.engines.pairs import PAIR, Frame, within, without
from rankscope.metrics import Metric
from rankscope.verbs.check.case import CheckCase, finds

MAX_SHARE_SEEN = 0.01  # of the recommendations (above: seen items are not filtered)
MIN_SHARE_COLD = 0.05
MIN_SHARE_OUT_OF_REACH = 0.01
MIN_SHARE_LATER = 0.01  # of the training interactions (below: clocks differ)
MIN_SHARE_UNKNOWN = 0.05  # of the catalogue


@finds(rules.TestInTrain)
def _test_in_train(case: CheckCase) -> Iterator[Finding]:
    wanted = case.wanted
    both = within(wanted, case.interactions)
    if both.height:
        total = wanted.height
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
    train, test = case.interactions, case.timed_test
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
        ids = case.wanted.select(column).unique()
        cold = without(ids, case.interactions, column)[column].sort().to_list()
        if cold and len(cold) >= MIN_SHARE_COLD * ids.height:
            users = cold if noun == "users" else []
            yield rules.Cold.finding(
                count=len(cold), total=ids.height, noun=noun, share=len(cold) / ids.height, queries=users,
                effect=case.scored_runs[0].cost(users) if users and case.scored_runs else None,
            )  # fmt: skip


@finds(rules.OutOfReach)
def _out_of_reach(case: CheckCase) -> Iterator[Finding]:
    """Find the upper bound of each metric: the oracle, whose lists have only items that can be shown."""
    table, wanted = case.known_items, case.wanted
    unknown = wanted.filter(~wanted["doc_id"].is_in(list(table.ids)))
    had = within(without(wanted, unknown), case.interactions)
    lost = unknown.height + had.height
    if not lost or lost < MIN_SHARE_OUT_OF_REACH * wanted.height:
        return
    bounds = case.bounds
    known = [(run, m, best) for m, best in bounds.items() for run in case.scored_runs if best and m in run.means]
    shares = {(run.name, m): run.means[m] / best for run, m, best in known}
    (run, metric), reached = next(iter(shares.items()), (("", None), math.inf))
    yield rules.OutOfReach.finding(
        count=lost, total=wanted.height, share=lost / wanted.height, unknown=unknown.height or None, had=had.height or None,
        known="catalogue" if table.listed else "training data", documents=[*unknown.select(PAIR).rows(), *had.select(PAIR).rows()],
        bounds=[f"{words.number(best, digits=4)} on {metric}" for metric, best in bounds.items()][:3] or None,
        both=bool(unknown.height and had.height), run_shown=run, metric=metric, reached=reached if reached <= 1 else None,
    )  # fmt: skip


@finds(rules.FutureOfOthers)
def _future_of_others(case: CheckCase) -> Iterator[Finding]:
    train, test = case.interactions, case.timed_test
    if test is None or not len(train := train.filter(train["time"].is_not_null())):
        return
    times, moments = np.sort(train["time"].to_numpy()), test["time"].drop_nulls().to_numpy()
    later = 1.0 - float(np.searchsorted(times, moments, "right").mean()) / len(times)
    if not later > MIN_SHARE_LATER:
        return
    first = train.select("doc_id", "time").group_by("doc_id").min()
    wanted = within(test, case.wanted).join(first.rename({"time": "first"}), on="doc_id")
    only_later = wanted.filter(wanted["first"] > wanted["time"])
    yield rules.FutureOfOthers.finding(
        share=later, count=only_later.height, total=case.wanted.height, documents=only_later.select(PAIR).rows()
    )


@finds(rules.NoFeatures)
def _no_features(case: CheckCase) -> Iterator[Finding]:
    bare_items = case.items.without_features if case.items is not None else {}
    for run in case.scored_runs:
        top = case.judged_top(run)
        for column, bare in bare_items.items():
            ids = top.filter(top["doc_id"].is_in(bare))["doc_id"]
            if len(ids):
                items = ids.unique(maintain_order=True).to_list()
                yield rules.NoFeatures.finding(
                    run=run.name, share=len(ids) / top.height, cutoff=case.cutoff, column=column, count=len(items),
                    items=items,
                )  # fmt: skip


@finds(rules.UnknownItems)
def _unknown_items(case: CheckCase) -> Iterator[Finding]:
    """Find items of the catalogue that are nowhere else, if there are training data. Without them most items are."""
    if case.train is None or case.items is None:
        return
    elsewhere = {*case.interactions["doc_id"].unique(), *case.judgments["doc_id"].unique()}
    for run in case.runs:
        elsewhere.update(run.table.frame["doc_id"].unique())
    table = case.items
    extra = [one for one in table.ids if one not in elsewhere]
    if extra and len(extra) >= MIN_SHARE_UNKNOWN * table.size:
        yield rules.UnknownItems.finding(
            count=len(extra), total=table.size, share=len(extra) / table.size, source=table.label, items=extra
        )
