"""The verdict of a comparison in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rankscope.panels.contrast import Contrast
from rankscope.panels.verdicts import (
    NAMED,
    OTHERWISE,
    SPELLED,
    after,
    also,
    named_runs_text,
    number,
    sentence,
)

if TYPE_CHECKING:
    from rankscope.verbs.compare.compare import Comparison


def sentences(found: Comparison) -> Iterator[str]:
    """The verdict: the primary metric first, then where the others differ from it."""
    if found.all_pairs and len(found.systems) > 2:
        yield from _pairs_in_words(found)
        return
    runs = [system for system in found.systems if system != found.baseline]
    if len(runs) > SPELLED:
        yield from _many_in_words(found, runs)
        return
    by_run = {run: [c for c in found.contrasts if run in {c.run, c.baseline}] for run in runs}
    for mine in by_run.values():
        first, *others = mine
        yield " ".join([sentence(first), *(also(c) for c in others)])


def _many_in_words(found: Comparison, runs: Sequence[str]) -> Iterator[str]:
    for i, metric in enumerate(found.metrics):
        mine = found.of(metric)
        better = [c.run for c in sorted(mine, key=lambda c: -abs(c.difference)) if c.verdict == "better"]
        worse = [c.run for c in mine if c.verdict == "worse"]
        others = [
            f"{count} {words}"
            for verdict, words in OTHERWISE.items()
            if (count := sum(c.verdict == verdict for c in mine))
        ]
        parts = [
            f"{len(better)} better" + (f" ({named_runs_text(better)})" if better else ""),
            f"{len(worse)} worse" + (f" ({named_runs_text(worse)})" if worse and len(worse) <= NAMED else ""),
            *others,
        ]
        parts[-1] += after(mine[0])
        if i == 0:
            yield f"Of {len(runs)} runs compared with {found.baseline} on {metric}: {'; '.join(parts)}{_could_show(mine)}."
        else:
            yield f"{metric}: {'; '.join([f'{len(better)} better', f'{len(worse)} worse', *others])}."


def _could_show(contrasts: Sequence[Contrast]) -> str:
    """The range of the differences that could have been shown, of those contrasts that are not clear."""
    unclear = sorted(
        c.detectable.difference
        for c in contrasts
        if c.verdict == "cannot tell" and not math.isnan(c.detectable.difference)
    )
    if not unclear:
        return ""
    low, high = number(unclear[0]), number(unclear[-1])
    return f"; these queries could show differences of about {low if low == high else f'{low} to {high}'}"


def _pairs_in_words(found: Comparison) -> Iterator[str]:
    for i, metric in enumerate(found.metrics):
        mine = found.of(metric)
        clear = sum(c.verdict in {"better", "worse", "different"} for c in mine)
        lead = f"Of {len(mine):,} pairs of {len(found.systems)} runs, " if not i else ""
        yield f"{lead}{metric} tells {clear:,} apart ({clear / len(mine):.0%}){after(mine[0])}."
