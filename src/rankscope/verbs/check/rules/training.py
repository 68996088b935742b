"""Recommenders: what they were trained on against what they are tested on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rankscope import words
from rankscope.engines.pairs import PAIR, Frame, within, without
from rankscope.files.interactions import timed_interactions
from rankscope.metrics import Metric
from rankscope.verbs.check.case import CheckCase
from rankscope.verbs.check.rule import Finding, Rule
from rankscope.verbs.check.rules.inputs import LEFT_OUT

OFTEN = 0.01  # of the recommendations: a filter that lets more than this through is not on
COLD = 0.05


class TestInTrain(Rule, code="RS501", needs="train", tail="; without them: {}"):
    """Test interactions are in the training data, too."""

    __test__ = False  # for pytest, which collects classes by their names
    why = (
        "The recommender has seen the answers: its number says how well it remembers, not how well it recommends, and models that "
        "memorise win. Where seen items are filtered from the ranking, such tests cannot be hit, and the number falls instead."
    )
    remedy = "split again, so that no pair of user and item is in both parts"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        both = within(case.relevant, case.interactions)
        if both.height:
            yield self.finding(
                f"{words.count(both.height)} of {words.counted(case.relevant.height, 'relevant test item')} "
                f"({words.share(both.height / case.relevant.height)}) {words.agree(both.height, 'is')} in the training data of the same user",
                effect=self._effect(case, both) if case.scored_runs else None, documents=both.select(PAIR).rows(),
            )  # fmt: skip

    def _effect(self, case: CheckCase, both: Frame) -> dict[Metric, float]:
        rest = without(case.qrels.sound.frame, both)
        gone = without(both, rest.filter(rest["grade"] >= 1), "query_id")
        rest = without(rest, gone, "query_id")
        qrels = replace(case.qrels.sound, frame=rest, more_queries=())
        return case.change(case.comparable[0], qrels=qrels) if rest.height else {}


class SeenRecommended(Rule, code="RS502", needs="train", tail="; without seen items: {}"):
    """Items that a user already has in the training data are recommended again."""

    why = (
        "Recommending what the user already has cannot be a hit in a clean test, so each one wastes a rank. Frameworks differ in "
        "whether they filter seen items, and so do their numbers."
    )
    remedy = "filter seen items for all systems alike (or for none, where people consume again), and report which"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run, where more than one of 100 recommendations in the top k was seen."""
        train = case.interactions
        for run in case.scored_runs:
            top = case.judged_top(run)
            seen = within(top, train)
            if seen.height > OFTEN * top.height:
                table = run.input.sound
                share = words.share(seen.height / top.height)
                yield self.finding(
                    f"{run.name}: {share} of the top {case.cutoff} was in the training data of the same user",
                    run=run.name, effect=case.change(run.input, table=table._having(without(table.frame, train))),
                    documents=seen.select(PAIR).rows(),
                )  # fmt: skip


class TimeOrder(Rule, code="RS503", needs="train"):
    """Training interactions are later than the test interactions of the same user."""

    why = (
        "The recommender learns from what happened after the moment it is tested at. In use it cannot, so the number is higher than "
        "what users will see."
    )
    remedy = "split by time: for each user, or better at one moment for all, train before and test after"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding, where both the training data and the qrels have a column of times."""
        train, path = case.interactions, case.qrels.table.source.path
        test = None if train["time"].is_null().all() or path is None else timed_interactions(path)
        if test is None:
            return
        first = test.select("query_id", "time").group_by("query_id").min().rename({"time": "first"})
        timed = train.join(first, on="query_id")
        later = timed.filter(timed["time"] > timed["first"])
        if later.height:
            users = later["query_id"].unique().sort()
            yield self.finding(
                f"{words.count(len(users))} of {words.counted(within(first, train, 'query_id').height, 'user')} have training "
                f"interactions later than their first test interaction ({words.counted(later.height, 'interaction')})",
                count=later.height, queries=users.to_list(), documents=later.select(PAIR).rows(),
            )  # fmt: skip


class Cold(Rule, code="RS504", severity="information", needs="train", tail=LEFT_OUT):
    """Users or items of the test were never seen in training."""

    why = (
        "A model that learns a vector for each user and item cannot recommend what it has never seen: such users get popular items at "
        "best, and such items are never hit. This limits the number, however good the model is."
    )
    remedy = "report cold users and items separately, or leave them out and say so"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding for users and one for items, where one of 20 is cold."""
        for column, what in zip(PAIR, ("users", "relevant items"), strict=True):
            ids = case.relevant.select(column).unique()
            cold = without(ids, case.interactions, column)[column].sort().to_list()
            if cold and len(cold) >= COLD * ids.height:
                users = cold if what == "users" else []
                yield self.finding(
                    f"{words.count(len(cold))} of {words.count(ids.height)} {what} of the test ({words.share(len(cold) / ids.height)}) "
                    f"{words.agree(len(cold), 'is')} not in the training data",
                    count=len(cold), effect=case.scored_runs[0].cost(users) if users and case.scored_runs else None,
                    queries=users,
                )  # fmt: skip
