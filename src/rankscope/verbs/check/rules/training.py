"""Recommenders: what they were trained on against what they are tested on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from rankscope import words
from rankscope.verbs.check.rules.case import CheckCase
from rankscope.verbs.check.rules.interactions import timed_interactions
from rankscope.verbs.check.rules.queries import cost, cost_in_words
from rankscope.verbs.check.rules.rule import Finding, Rule, changes

OFTEN = 0.01  # of the recommendations: a filter that lets more than this through is not on
COLD = 0.05


class TestInTrain(Rule, code="RS501"):
    """Test interactions are in the training data, too."""

    needs = "train"
    __test__ = False  # for pytest, which collects classes by their names
    why = (
        "The recommender has seen the answers: its number says how well it remembers, not how well it recommends, and models that "
        "memorise win. Where seen items are filtered from the ranking, such tests cannot be hit, and the number falls instead."
    )
    remedy = "split again, so that no pair of user and item is in both parts"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding, where the training interactions were given (--train)."""
        train = case.background.interactions
        relevant = case.judgments.filter(pl.col("grade") >= 1)
        both = relevant.join(train, on=["query_id", "doc_id"], how="semi")
        if not both.height:
            return
        effect: dict[str, float] = {}
        if case.scored_runs:
            table = case.qrels.sound
            rest = table.frame.join(both, on=["query_id", "doc_id"], how="anti", maintain_order="left")
            # a user of whom nothing is left would be no user of the test
            left = rest.filter(pl.col("grade") >= 1).select("query_id").unique()
            gone = both.select("query_id").unique().join(left, on="query_id", how="anti")
            rest = rest.join(gone, on="query_id", how="anti", maintain_order="left")
            effect = (
                case.change(case.comparable[0], grades=replace(table, frame=rest, more_queries=()))
                if rest.height
                else {}
            )
        yield self.finding(
            f"{words.count(both.height)} of {words.counted(relevant.height, 'relevant test item')} "
            f"({words.share(both.height / relevant.height)}) {words.agree(both.height, 'is')} in the training data of the same user"
            + changes(effect, "; without them: "),
            count=both.height,
            effect=effect,
            documents=list(both.select("query_id", "doc_id").iter_rows()),
        )


class SeenRecommended(Rule, code="RS502"):
    """Items that a user already has in the training data are recommended again."""

    needs = "train"
    why = (
        "Recommending what the user already has cannot be a hit in a clean test, so each one wastes a rank. Frameworks differ in "
        "whether they filter seen items, and so do their numbers."
    )
    remedy = (
        "filter seen items from the ranking (or do not, for repeat consumption), for all systems alike, and report it"
    )

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding a run, where more than one of 100 recommendations in the top k was seen."""
        train = case.background.interactions
        for run in case.scored_runs:
            top = case.judged_top(run.name)
            seen = top.join(train, on=["query_id", "doc_id"], how="semi")
            if seen.height <= OFTEN * top.height:
                continue
            given = case.input(run.name)
            kept = given.sound.frame.join(train, on=["query_id", "doc_id"], how="anti", maintain_order="left")
            effect = case.change(given, table=given.sound._having(kept))
            yield self.finding(
                f"{run.name}: {words.share(seen.height / top.height)} of the top {case.cutoff} was in the training data of the same user"
                + changes(effect, "; without seen items: "),
                run=run.name,
                count=seen.height,
                effect=effect,
                documents=list(seen.select("query_id", "doc_id").iter_rows()),
            )


class TimeOrder(Rule, code="RS503"):
    """Training interactions are later than the test interactions of the same user."""

    needs = "train"
    why = (
        "The recommender learns from what happened after the moment it is tested at. In use it cannot, so the number is higher than "
        "what users will see."
    )
    remedy = "split by time: for each user, or better at one moment for all, train before and test after"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding, where both the training data and the qrels have a column of times."""
        train = case.background.interactions
        if train["time"].is_null().all() or case.qrels.table.source.path is None:
            return
        test = timed_interactions(case.qrels.table.source.path)
        if test is None:
            return
        first = test.group_by("query_id").agg(first=pl.col("time").min())
        later = train.join(first, on="query_id").filter(pl.col("time") > pl.col("first"))
        if later.height:
            users = later["query_id"].unique().sort()
            of = first.join(train.select("query_id").unique(), on="query_id", how="semi").height
            yield self.finding(
                f"{words.count(len(users))} of {words.counted(of, 'user')} have training interactions later than their first test interaction "
                f"({words.counted(later.height, 'interaction')})",
                count=later.height,
                queries=users.to_list(),
                documents=list(later.select("query_id", "doc_id").iter_rows()),
            )


class Cold(Rule, code="RS504"):
    """Users or items of the test were never seen in training."""

    needs = "train"
    severity = "information"
    why = (
        "A model that learns a vector for each user and item cannot recommend what it has never seen: such users get popular items at "
        "best, and such items are never hit. This limits the number, however good the model is."
    )
    remedy = "report cold users and items separately, or leave them out and say so"

    def find(self, case: CheckCase) -> Iterator[Finding]:
        """One finding for users and one for items, where one of 20 is cold."""
        train = case.background.interactions
        relevant = case.judgments.filter(pl.col("grade") >= 1)
        for column, one, share_of in (("query_id", "user", "users"), ("doc_id", "item", "relevant items")):
            ids = relevant.select(column).unique()
            cold = ids.join(train, on=column, how="anti")[column].sort().to_list()
            if len(cold) < COLD * ids.height or not cold:
                continue
            warm = case.scored_runs and column == "query_id"
            effect = cost(case, case.scored_runs[0], cold) if warm else {}
            yield self.finding(
                f"{words.count(len(cold))} of {words.count(ids.height)} {share_of} of the test ({words.share(len(cold) / ids.height)}) "
                f"{words.agree(len(cold), 'is')} not in the training data" + cost_in_words(effect),
                count=len(cold),
                effect=effect,
                queries=cold if one == "user" else (),
            )
