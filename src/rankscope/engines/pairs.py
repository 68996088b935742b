"""Pairs of query and document in tables: those that another table has as well, and those that it only writes differently."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

import polars as pl

from rankscope.tables import SEED, Run

Frame = pl.DataFrame
PAIR = ("query_id", "doc_id")
SAMPLED, FEWEST = 200, 6  # strange ids in which a prefix or suffix is looked for; so many, at least, tell one


def within(rows: Frame, other: Frame, on: str | tuple[str, ...] = PAIR) -> Frame:
    """Return the rows with a pair that is in another table."""
    return rows.join(other, on=on, how="semi", maintain_order="left")


def without(rows: Frame, other: Frame, on: str | tuple[str, ...] = PAIR) -> Frame:
    """Return the rows with a pair that is not in another table."""
    return rows.join(other, on=on, how="anti", maintain_order="left")


@dataclass(frozen=True)
class Spelling:
    """A way in which ids differ, in ``words``: ids of one ``side`` (empty: of both) are the same without the ``pattern``."""

    words: str
    pattern: str
    instead: str = ""
    side: str = ""

    def key(self, column: str, side: str) -> pl.Expr:
        """The ids of a column without the difference."""
        ids = pl.col(column)
        if self.side not in {"", side}:
            return ids
        return ids.str.replace_all(self.pattern, self.instead) if self.pattern else ids.str.to_lowercase()


CHUNK = r"(?i)(?:(?:[#_:/|@.-]|::)?(?:chunk|passage|part|segment|seg|para|sent)[#_:.-]?|[#_:|@-])\d+(?:-\d+)?$"
PREFIX = r"^[^0-9]+([0-9]+)$"
ANY_ID = (
    Spelling("spaces", r"^[\s\x{a0}\x{200b}\x{feff}]+|[\s\x{a0}\x{200b}\x{feff}]+$|([ _\x{a0}])[\s_\x{a0}]*"),
    Spelling("case", ""),
    Spelling("leading zeros", r"(^|[^0-9])0+([0-9])", "${1}${2}"),
    Spelling("a decimal point", r"([0-9])\.0+$", "${1}"),
)
PREFIXES = (("a prefix", PREFIX), ("a prefix and a decimal point", r"^[^0-9]+([0-9]+)\.0+$"))
QUERY_IDS = (
    *ANY_ID,
    *(Spelling(name, pattern, "${1}", side) for name, pattern in PREFIXES for side in ("run", "qrels")),
)
DOC_IDS = (
    *ANY_ID,
    Spelling("a file extension", r"(?i)\.(?:txt|html?|pdf|xml|json|md)$"),
    Spelling("a chunk number", CHUNK, side="run"),
    Spelling("a chunk number (in the qrels)", CHUNK, side="qrels"),
)


@dataclass(frozen=True, eq=False)
class SameIds:
    """Ids of a run and of its judgments that differ only in spelling: ``pairs`` has one row per pair, ``ranked`` and ``judged``."""

    spelling: Spelling
    pairs: Frame

    def with_queries(self, run: Run) -> Run:
        """The run with its queries called as in the judgments."""
        ids = pl.col("query_id").replace(self.pairs["ranked"], self.pairs["judged"])
        return replace(run, frame=run.frame.with_columns(query_id=ids), more_queries=())

    def with_documents(self, run: Run, judgments: Frame) -> Run:
        """The run with its documents called as in the judgments. One that is judged under its own id keeps it."""
        judged = judgments.select("query_id", judged="doc_id").with_columns(key=self.spelling.key("judged", "qrels"))
        frame = run.frame.with_columns(key=self.spelling.key("doc_id", "run"))
        known = judged.unique(["query_id", "key"], keep="first")
        frame = frame.join(known, on=["query_id", "key"], how="left", maintain_order="left")
        itself = judged.select("query_id", doc_id="judged", itself="judged")
        frame = frame.join(itself, on=PAIR, how="left", maintain_order="left")
        frame = frame.with_columns(doc_id=pl.coalesce("itself", "judged", "doc_id"))
        return replace(run, frame=frame.drop("key", "judged", "itself"))


def queries_alike(ranked: Collection[str], judged: Collection[str]) -> SameIds | None:
    """The spelling under which most queries of a run equal queries of the judgments, or None."""
    query = pl.lit("").alias("query_id")
    run, qrels = (
        pl.DataFrame({name: sorted(ids)}, {name: pl.String}) for name, ids in (("ranked", ranked), ("judged", judged))
    )

    def matches() -> Iterator[SameIds]:
        affixes = _affixes(run.select(query, "ranked"), qrels.select(query, "judged")) if run.height else ()
        for spelling in (*QUERY_IDS, *affixes):
            left = run.with_columns(key=spelling.key("ranked", "run")).unique("key", keep="none")
            right = qrels.with_columns(key=spelling.key("judged", "qrels")).unique("key", keep="none")
            yield SameIds(spelling, left.join(right, on="key").sort("judged"))

    best = max(matches(), key=lambda match: match.pairs.height)
    return best if best.pairs.height else None


def documents_alike(run: Run, top: Frame, judgments: Frame) -> SameIds | None:
    """The spelling under which most unjudged documents of the top equal judged documents that the run lacks, or None."""
    judged = judgments.select("query_id", judged="doc_id")
    strange = without(within(top, judgments, "query_id"), judgments).select("query_id", ranked="doc_id")
    best = _best_spelling(DOC_IDS, run, strange, judged) if strange.height else None
    return best or (_best_spelling(_affixes(strange, judged), run, strange, judged) if strange.height else None)


def _best_spelling(spellings: Iterable[Spelling], run: Run, strange: Frame, judged: Frame) -> SameIds | None:
    best, run = None, run.in_texts()
    for spelling in spellings:
        ranked = strange.with_columns(key=spelling.key("ranked", "run"))
        pairs = ranked.join(judged.with_columns(key=spelling.key("judged", "qrels")), on=["query_id", "key"])
        if pairs.height > (best.pairs.height if best else 0):
            there = run.frame.select(PAIR)[run.rows_of(pairs["judged"].hash(seed=SEED).to_numpy())].rename(
                {"doc_id": "judged"}
            )
            pairs = without(pairs, there, ("query_id", "judged"))
            if pairs.height > (best.pairs.height if best else 0):
                best = SameIds(spelling, pairs)
    return best


def _affixes(strange: Frame, judged: Frame) -> Iterator[Spelling]:
    """Prefixes and suffixes that half of the ids have, or more, and without which some are judged ids of their query."""
    some = strange.head(SAMPLED)
    pairs = some.join(judged, on="query_id")
    for longer, shorter, side in (("ranked", "judged", "run"), ("judged", "ranked", "qrels")):
        ids, other = pl.col(longer).str, pl.col(shorter)
        for words, there, affix, pattern in (
            ("a prefix", ids.ends_with(other), ids.strip_suffix(other), "^{}"),
            ("a suffix", ids.starts_with(other), ids.strip_prefix(other), "{}$"),
        ):
            counts = (
                pairs.filter(there, pl.col(longer) != other).select(affix=affix).to_series().value_counts(sort=True)
            )
            text, count = counts.row(0) if counts.height else ("", 0)
            every = pairs[longer].unique().str
            has = every.starts_with(text) if words == "a prefix" else every.ends_with(text)
            usual = 2 * int(has.sum()) >= len(has)
            if 2 * count >= FEWEST and usual and not text.isdigit():  # digits alone are of another id
                yield Spelling(words, pattern.format(literal(text)), side=side)


def literal(text: str) -> str:
    """A text as a regular expression for it."""
    return re.sub(r"[.^$*+?{}\[\]\\|()]", r"\\\g<0>", text)


def fold_pattern(same: SameIds) -> str:
    """The regular expression (``#[0-9]+$`` for ``#12``) that folds chunks into documents, if ids of the run differ by the number of a chunk. Else empty."""
    ranked, judged = same.pairs["ranked"][0], same.pairs["judged"][0]
    if same.spelling.pattern != CHUNK or not ranked.startswith(judged):
        return ""
    return re.sub("[0-9]+", "[0-9]+", literal(ranked.removeprefix(judged))) + "$"
