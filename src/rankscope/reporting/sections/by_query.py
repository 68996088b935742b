"""One run against another, query by query: sorted differences, one against the other, and the queries that differ most."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Paragraph
from rankscope.panels.contrast import Contrast
from rankscope.panels.method import FEWEST
from rankscope.reporting.part import PagePart
from rankscope.reporting.subject import SubjectOfComparison
from rankscope.verbs.compare.charts import differing_queries, file_names, scatter, waterfall
from rankscope.verbs.compare.tables import FEW

TOP = 10  # queries whose share of the gain is told


class ByQueryPart(PagePart[SubjectOfComparison]):
    """Per rival each query's difference: in order, one run against the other, and the queries that differ most."""

    name, title = "by-query", "Query by query: where they differ"
    subjects = SubjectOfComparison

    @cached_property
    def rivals(self) -> list[Contrast]:
        """The first rivals that share queries."""
        return [c for c in self.subject.rivals if c.queries][:FEW]

    def blocks(self) -> Iterator[Any]:
        """Two charts and a table a rival."""
        files = file_names(self.rivals)
        for c in self.rivals:
            file = files[c.run, c.baseline]
            if c.differing:
                yield from (waterfall(c, file), scatter(c, file), differing_queries(c, file, self.subject.queries_text))
            else:
                yield Paragraph(
                    f"{c.run} and {c.baseline} score the same on {c.metric} on {words.counted(c.queries, 'query')}."
                )
        of = len(self.subject.mine)
        if self.rivals and of > len(self.rivals):
            text = f"Shown are the {len(self.rivals)} pairs whose means differ most in favour of the run, of {words.count(of)}."
            yield Paragraph(text, quiet=True)

    def lead(self) -> str:
        """How few queries account for the difference of the first rival."""
        c = self.rivals[0]
        pair, queries = f"{c.run} against {c.baseline} on {c.metric}", words.counted(c.queries, "query")
        if not c.differing:
            return f"{pair}: unchanged on {queries}."
        said, share = [], share_of_top(c)
        if share is not None:
            what = (
                f"the {'gain' if c.improved else 'loss'}"
                if c.panel.sign
                else "the changes in the direction of the mean"
            )
            said.append(f"the top {TOP} queries account for {words.share(share)} of {what}")
        said += [removed] if (removed := _removed(c)) else []
        return f"{pair}: {'; '.join(said) or f'{words.count(c.differing)} of {queries} differ'}."


def _removed(c: Contrast) -> str:
    """How many queries must go for the lead to vanish; nothing without one, of too few queries, or if all that favour it must go."""
    if c.favourable is None or c.queries < FEWEST:
        return ""
    count, part = c.favourable
    if count >= int(np.count_nonzero(c.paired.gains * c.difference > 0)):
        return ""
    lead, best = ("lead", "best") if c.panel.sign else ("difference", "largest")
    which = (
        f"{best} {words.count(count)} ({words.share(part, 1)} of all) are"
        if count > 1
        else f"{best} query ({words.share(part, 1)} of all) is"
    )
    ahead = f" of {c.run if c.improved else c.baseline}" if c.panel.sign else ""
    return f"the {lead}{ahead} vanishes only if the {which} removed"


def share_of_top(c: Contrast, most: int = TOP) -> float | None:
    """The share that the largest differences have of all in the direction of the mean; None where there are no more, or weights differ."""
    aggregate = c.panel.metric.aggregate if c.panel.metric is not None else "mean"
    if c.panel.weights is not None or aggregate not in {"mean", "sum"} or not c.difference:
        return None
    ahead = sorted((abs(g) for g in c.paired.gains.tolist() if g * c.difference > 0), reverse=True)
    return math.fsum(ahead[:most]) / math.fsum(ahead) if len(ahead) > most else None
