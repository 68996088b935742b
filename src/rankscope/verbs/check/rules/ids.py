"""Ids that mean the same and are written differently, so that run and judgments do not meet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from rankscope.tables import Run
from rankscope.verbs.check.rules.base import Finding, Rule, counted, moved

if TYPE_CHECKING:
    from rankscope.verbs.check.rules.case import Case
    from rankscope.verbs.check.rules.given import Given

LOOKED_AT = 20  # documents at the top of a ranking that are compared with judged ones
CHUNK = (
    r"(?i)(?:(?:[#_:/|@.-]|::)?(?:chunk|passage|part|segment|seg|para|sent)[#_:.-]?|[#_:|@-])\d+(?:-\d+)?$"
)


@dataclass(frozen=True)
class Variant:
    """A way in which ids differ: in words, and the expression that removes the difference from a column.

    ``sides`` says whose ids are changed: ``both``, or those of the ``run`` or of the ``qrels`` alone.
    """

    words: str
    pattern: str
    instead: str = ""
    sides: str = "both"

    def key(self, column: str, side: str) -> pl.Expr:
        """The ids of a column without the difference."""
        ids = pl.col(column)
        if self.sides not in {"both", side}:
            return ids
        return (
            ids.str.to_lowercase()
            if self.words == "case"
            else ids.str.replace_all(self.pattern, self.instead)
        )


VARIANTS = (
    Variant(
        "spaces", r"^[\s\x{a0}\x{200b}\x{feff}]+|[\s\x{a0}\x{200b}\x{feff}]+$|([ _\x{a0}])[\s_\x{a0}]*", ""
    ),
    Variant("case", ""),
    Variant("leading zeros", r"(^|[^0-9])0+([0-9])", "${1}${2}"),
    Variant("a decimal point", r"^([0-9]+)\.0+$", "${1}"),
)
PREFIX = r"^[^0-9]+([0-9]+)$"
QUERY_VARIANTS = (
    *VARIANTS,
    Variant("a prefix", PREFIX, "${1}", sides="run"),
    Variant("a prefix", PREFIX, "${1}", sides="qrels"),
)
DOC_VARIANTS = (
    *VARIANTS,
    Variant("the ending of a file", r"(?i)\.(?:txt|html?|pdf|xml|json|md)$"),
    Variant("the number of a chunk", CHUNK, sides="run"),
    Variant("the number of a chunk (in the qrels)", CHUNK, sides="qrels"),
)


class QueryIdsAlike(Rule, code="RS113"):
    """Query ids of run and qrels look alike and differ."""

    why = (
        "Ids are strings: 01 is not 1, and q7 is not 7. A query of the run that is not found among the judged ones is left out, and "
        "the judged one scores as empty."
    )
    remedy = "write the ids alike; spreadsheets and data frames drop leading zeros and add .0"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a run: the way of writing that makes most unmatched queries meet."""
        for run in case.runs:
            missing = pl.DataFrame(
                {"judged": sorted(case.qrels.query_set - run.query_set)}, {"judged": pl.String}
            )
            extra = pl.DataFrame(
                {"ranked": sorted(run.query_set - case.qrels.query_set)}, {"ranked": pl.String}
            )
            best: tuple[Variant, pl.DataFrame] | None = None
            for variant in QUERY_VARIANTS:
                meet = _one_to_one(
                    extra.with_columns(key=variant.key("ranked", "run")),
                    missing.with_columns(key=variant.key("judged", "qrels")),
                    ["key"],
                )
                if meet.height and (best is None or meet.height > best[1].height):
                    best = variant, meet
            if best is not None:
                yield self._told(case, run, *best)

    def _told(self, case: Case, run: Given[Run], variant: Variant, meet: pl.DataFrame) -> Finding:
        renamed = run.sound.frame.with_columns(
            query_id=pl.col("query_id").replace(meet["ranked"], meet["judged"])
        )
        effect, would = _effect(case, run, replace(run.sound, frame=renamed, more_queries=()))
        return self.found(
            f"{run.name}: {counted(meet.height, 'query', 'queries')} without judgments "
            f"{'differs' if meet.height == 1 else 'differ'} from a judged one only in {variant.words}: "
            f"{meet['ranked'][0]!r} and {meet['judged'][0]!r}{would}",
            run=run.name,
            count=meet.height,
            effect=effect,
            queries=meet["ranked"].to_list(),
        )


class DocIdsAlike(Rule, code="RS114"):
    """Document ids of run and qrels look alike and differ."""

    why = (
        "Ids are strings: a document that is written otherwise in the run than in the qrels counts as not retrieved, and what stands "
        "in its place as not relevant. Chunks (d1#2 of d1) never match judgments of whole documents."
    )
    remedy = "write the ids alike; map chunks to their documents before scoring, and keep the best (--duplicates best)"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a run: the way of writing that makes most unjudged documents of its top meet judged ones it lacks."""
        for run in case.comparable:
            top = case.top(run.name, max(LOOKED_AT, case.cutoff)).select("query_id", ranked="doc_id")
            judged = case.judgments.select("query_id", judged="doc_id")
            top = top.filter(pl.col("query_id").is_in(judged["query_id"].unique().to_list()))
            strange = top.join(
                judged, left_on=["query_id", "ranked"], right_on=["query_id", "judged"], how="anti"
            )
            best: tuple[Variant, pl.DataFrame] | None = None
            for variant in DOC_VARIANTS if strange.height else ():
                meet = strange.with_columns(key=variant.key("ranked", "run")).join(
                    judged.with_columns(key=variant.key("judged", "qrels")), on=["query_id", "key"]
                )
                if meet.height and (best is None or meet.height > best[1].height):
                    meet = _not_retrieved(run.sound, meet)
                    if meet.height and (best is None or meet.height > best[1].height):
                        best = variant, meet
            if best is not None:
                yield self._told(case, run, *best)

    def _told(self, case: Case, run: Given[Run], variant: Variant, meet: pl.DataFrame) -> Finding:
        judged = case.judgments.select("query_id", judged="doc_id").with_columns(
            key=variant.key("judged", "qrels")
        )
        frame = run.sound.frame.with_columns(key=variant.key("doc_id", "run"))
        known = judged.unique(["query_id", "key"], keep="first")
        frame = frame.join(known, on=["query_id", "key"], how="left", maintain_order="left")
        itself = judged.select("query_id", doc_id="judged", itself="judged")
        frame = frame.join(itself, on=["query_id", "doc_id"], how="left", maintain_order="left")
        renamed = frame.with_columns(doc_id=pl.coalesce("itself", "judged", "doc_id"))
        renamed = renamed.drop("key", "judged", "itself")
        effect, would = _effect(case, run, replace(run.sound, frame=renamed), duplicates="best")
        return self.found(
            f"{run.name}: {counted(meet.height, 'unjudged document')} of its top {max(LOOKED_AT, case.cutoff)} "
            f"{'differs' if meet.height == 1 else 'differ'} from a judged one only in {variant.words}: "
            f"{meet['ranked'][0]!r} and {meet['judged'][0]!r}{would}",
            run=run.name,
            count=meet.height,
            effect=effect,
            documents=list(meet.select("query_id", "ranked").iter_rows()),
        )


def _one_to_one(ranked: pl.DataFrame, judged: pl.DataFrame, on: list[str]) -> pl.DataFrame:
    """The pairs that meet, where each meets one only."""
    return ranked.unique(on, keep="none").join(judged.unique(on, keep="none"), on=on).sort("judged")


def _not_retrieved(run: Run, meet: pl.DataFrame) -> pl.DataFrame:
    """Of pairs that look alike, those whose judged document is not in the run itself."""
    rows = run.frame.select("query_id", "doc_id")[run.rows_of(meet["judged"])]
    return meet.join(rows, left_on=["query_id", "judged"], right_on=["query_id", "doc_id"], how="anti")


def _effect(case: Case, run: Given[Run], table: Run, **policy: Any) -> tuple[dict[str, float], str]:
    """What taking the ids as the same would change, and in words."""
    if run in case.comparable:
        effect = case.change(run, table=table, **policy)
        size = moved(effect)
        return effect, f"; taken as the same: {size}" if size else ""
    value = case.again(run, table=table, **policy)
    said = ", ".join(f"{metric} would be {v:.3f}" for metric, v in list(value.items())[:1])
    return {}, f"; taken as the same, {said}" if said else ""
