"""Recommenders: what they were trained on against what they are tested on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from rankscope.errors import InputError
from rankscope.files.sheets import Sheet, is_path, opened
from rankscope.scoring.inputs import read_any
from rankscope.verbs.check.rules.base import Finding, Rule, against_leaving_out, counted, moved
from rankscope.verbs.check.rules.queries import cost

if TYPE_CHECKING:
    from rankscope.verbs.check.rules.case import Case

USERS = ("user_id", "user", "userid", "query_id", "qid", "session_id", "customer_id")
ITEMS = (
    "item_id",
    "item",
    "itemid",
    "movieid",
    "movie_id",
    "doc_id",
    "docid",
    "product_id",
    "article_id",
    "iid",
)
TIMES = ("timestamp", "time", "unix_timestamp", "datetime", "date", "ts", "t_dat", "event_time", "created_at")
OFTEN = 0.01  # of the recommendations: a filter that lets more than this through is not on
COLD = 0.05


@dataclass(frozen=True, eq=False)
class Interactions:
    """Users and the items they took, with the ``time`` where it is known: ``query_id``, ``doc_id`` and ``time`` (null: none)."""

    frame: pl.DataFrame

    @cached_property
    def timed(self) -> bool:
        """Whether the times are known."""
        return bool(self.frame["time"].is_not_null().any())


def interactions(source: Any) -> Interactions:
    """Interactions from a table of users and items with any other columns, or from what can be read as qrels."""
    sheet = _sheet(source)
    user, item = (sheet.role(USERS), sheet.role(ITEMS)) if sheet else (None, None)
    if sheet is not None and user and item:
        frame = pl.DataFrame({"query_id": sheet.ids(user, "user"), "doc_id": sheet.ids(item, "item")})
        time = sheet.role(TIMES)
        return Interactions(
            frame.with_columns(time=_times(sheet.frame[time]) if time else pl.lit(None, pl.Float64))
        )
    from rankscope.files import qrels_of

    table = qrels_of(read_any("qrels", source)).frame.select("query_id", "doc_id")
    return Interactions(table.with_columns(time=pl.lit(None, pl.Float64)))


def _sheet(source: Any) -> Sheet | None:
    """The source as a table with a header, if it is one."""
    if isinstance(source, Mapping) or not (is_path(source) or hasattr(source, "__arrow_c_stream__")):
        return None
    try:
        found = opened(source, "train", "interactions are a table with the columns user_id and item_id")
    except InputError:
        return None
    return found if isinstance(found, Sheet) else None


def _times(column: pl.Series) -> pl.Series:
    """Times as numbers that rise: seconds, or the count of days and seconds of a date."""
    if column.dtype.is_numeric():
        return column.cast(pl.Float64)
    if column.dtype == pl.String:
        numbers = column.cast(pl.Float64, strict=False)
        if numbers.is_not_null().any():
            return numbers
        column = column.str.replace("T", " ").str.slice(0, 19)
        dates = column.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False)
        column = dates.fill_null(column.str.slice(0, 10).str.to_datetime("%Y-%m-%d", strict=False))
    return column.cast(pl.Datetime).dt.epoch("s").cast(pl.Float64)


def _train(case: Case) -> Interactions | None:
    """The interactions stated, read once a case."""
    if case.said.train is None:
        return None
    if "train" not in case.kept:
        case.kept["train"] = interactions(case.said.train)
    found: Interactions = case.kept["train"]
    return found


class TestInTrain(Rule, code="RS501"):
    """Test interactions are training interactions, too."""

    needs = "train"
    __test__ = False  # for pytest, which collects classes by their names
    why = (
        "The recommender has seen the answers: its number says how well it remembers, not how well it recommends, and models that "
        "memorise win. Where seen items are filtered from the ranking, such tests can never be hit, and the number falls instead."
    )
    remedy = "split again, such that no pair of user and item stands in both parts"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding, where the training interactions were given (--train)."""
        train = _train(case)
        if train is None:
            return
        relevant = case.judgments.filter(pl.col("grade") >= 1)
        both = relevant.join(train.frame, on=["query_id", "doc_id"], how="semi")
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
        size = moved(effect)
        yield self.found(
            f"{both.height:,} of {counted(relevant.height, 'relevant test item')} ({both.height / relevant.height:.0%}) "
            f"{'is' if both.height == 1 else 'are'} in the training data of the same user"
            + (f"; without them: {size}" if size else ""),
            count=both.height,
            effect=effect,
            documents=list(both.select("query_id", "doc_id").iter_rows()),
        )


class SeenRecommended(Rule, code="RS502"):
    """Items that a user took in training are recommended again."""

    needs = "train"
    why = (
        "A recommendation of what the user has already cannot be a hit in a clean test, so each one wastes a place. Frameworks differ in "
        "whether they filter seen items, and their numbers do, too."
    )
    remedy = "filter seen items from the ranking (or do not, for repeat consumption), for all systems alike, and say so"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a run, where more than one of 100 recommendations in the top k was seen."""
        train = _train(case)
        if train is None:
            return
        for run in case.scored_runs:
            top = case.top(run.name).filter(pl.col("query_id").is_in(list(case.qrels.query_set)))
            seen = top.join(train.frame, on=["query_id", "doc_id"], how="semi")
            if seen.height <= OFTEN * top.height:
                continue
            given = case.given(run.name)
            kept = given.sound.frame.join(
                train.frame, on=["query_id", "doc_id"], how="anti", maintain_order="left"
            )
            effect = case.change(given, table=given.sound._having(kept))
            size = moved(effect)
            yield self.found(
                f"{run.name}: {seen.height / top.height:.0%} of the top {case.cutoff} was in the training data of the same user"
                + (f"; without seen items: {size}" if size else ""),
                run=run.name,
                count=seen.height,
                effect=effect,
                documents=list(seen.select("query_id", "doc_id").iter_rows()),
            )


class TimeOrder(Rule, code="RS503"):
    """Training interactions are later than the test interactions of the same user."""

    needs = "train"
    why = (
        "The recommender learns from what came after the moment it is tested at. In use it cannot, so the number is higher than what "
        "users will see."
    )
    remedy = "split by time: for each user, or better at one moment for all, train before and test after"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding, where both the training data and the qrels have a column of times."""
        train = _train(case)
        if train is None or not train.timed or case.qrels.table.source.path is None:
            return
        sheet = _sheet(case.qrels.table.source.path)
        if sheet is None or sheet.role(TIMES) is None:
            return
        test = interactions(case.qrels.table.source.path)
        first = test.frame.group_by("query_id").agg(first=pl.col("time").min())
        later = train.frame.join(first, on="query_id").filter(pl.col("time") > pl.col("first"))
        if later.height:
            users = later["query_id"].unique().sort()
            of = first.join(train.frame.select("query_id").unique(), on="query_id", how="semi").height
            yield self.found(
                f"{len(users):,} of {counted(of, 'user')} have training interactions later than their first test interaction "
                f"({counted(later.height, 'interaction')})",
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
        "best, and such items are never hit. They put a ceiling on the number that has nothing to do with how good the model is."
    )
    remedy = "report cold users and items apart, or leave them out and say so"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding for users and one for items, where one of 20 is cold."""
        train = _train(case)
        if train is None:
            return
        relevant = case.judgments.filter(pl.col("grade") >= 1)
        for column, one, share_of in (("query_id", "user", "users"), ("doc_id", "item", "relevant items")):
            ids = relevant.select(column).unique()
            cold = ids.join(train.frame, on=column, how="anti")[column].sort().to_list()
            if len(cold) < COLD * ids.height or not cold:
                continue
            warm = case.scored_runs and column == "query_id"
            effect = cost(case, case.scored_runs[0], cold) if warm else {}
            yield self.found(
                f"{len(cold):,} of {ids.height:,} {share_of} of the test ({len(cold) / ids.height:.0%}) "
                f"{'is' if len(cold) == 1 else 'are'} not in the training data" + against_leaving_out(effect),
                count=len(cold),
                effect=effect,
                queries=cold if one == "user" else (),
            )
