"""Documents that say the same, where their texts are given."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import polars as pl

from rankscope.verbs.check.rules.base import Finding, Rule, counted, moved

if TYPE_CHECKING:
    from rankscope.verbs.check.rules.case import Case

ALIKE = 0.9  # share of words that two texts have in common
MANY, FAR = 0.05, 0.02  # of the top k, or of a metric: from here on copies are a warning
FEWEST = 5  # words below which texts are compared as a whole only

Words = tuple[str, frozenset[str]]


class NearDuplicates(Rule, code="RS206"):
    """Documents with the same text, or nearly the same, stand in the top k of one query."""

    needs = "texts"
    why = (
        "Users see one document twice, while each copy that was judged relevant earns again. Copies that nobody judged push the rest "
        "down. Systems that show copies and systems that do not are not measured alike."
    )
    remedy = "keep one of each group of copies, in the collection or in the ranking, and judge copies alike"

    def find(self, case: Case) -> Iterator[Finding]:
        """One finding a run, where texts were given (--docs-text)."""
        if not case.said.texts:
            return
        words: dict[str, Words | None] = {}
        for run in case.scored_runs:
            top = case.top(run.name).filter(pl.col("query_id").is_in(list(case.qrels.query_set)))
            copies = list(_copies(top, case.said.texts, words))
            if not copies:
                continue
            effect = self._effect(case, run.name, copies)
            size = moved(effect)
            query, doc, first = copies[0]
            grave = len(copies) >= MANY * top.height or any(abs(by) >= FAR for by in effect.values())
            queries = list(dict.fromkeys(q for q, _, _ in copies))
            yield self.found(
                f"{run.name}: {counted(len(copies), 'document')} of the top {case.cutoff} "
                f"{'repeats' if len(copies) == 1 else 'repeat'} the text of a higher one, in {counted(len(queries), 'query', 'queries')} "
                f"({doc} of {first}, query {query})" + (f"; without copies: {size}" if size else ""),
                severity="warning" if grave else "information",
                run=run.name,
                count=len(copies),
                effect=effect,
                queries=queries,
                documents=[(q, d) for q, d, _ in copies],
            )

    def _effect(self, case: Case, name: str, copies: list[tuple[str, str, str]]) -> dict[str, float]:
        given = case.given(name)
        gone = pl.DataFrame(
            {"query_id": [q for q, _, _ in copies], "doc_id": [d for _, d, _ in copies]},
        )
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
            words = known[doc]
            if words is None:
                continue
            twin = next((d for d, other in seen if _alike(words, other)), None)
            if twin is None:
                seen.append((doc, words))
            else:
                yield str(query), doc, twin


def _words(text: str) -> Words | None:
    """The text in small letters without punctuation, and the set of its words; None for an empty one."""
    words = re.findall(r"\w+", text.casefold())
    return (" ".join(words), frozenset(words)) if words else None


def _alike(a: Words, b: Words) -> bool:
    """Whether two texts are the same but for letters and punctuation, or share nine words of ten."""
    if a[0] == b[0]:
        return True
    small, large = sorted((len(a[1]), len(b[1])))
    if small < FEWEST or small < ALIKE * large:
        return False
    both = len(a[1] & b[1])
    return both >= ALIKE * (len(a[1]) + len(b[1]) - both)
