"""How many topics a test collection needs, designed before it is built."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from rankscope.blocks import EMPTY, Block, Caution, Column, Paragraph, Table
from rankscope.declared.choices import one_of
from rankscope.errors import InputError
from rankscope.inference.power import topic_set_size
from rankscope.panels.reach import Aim

Kind = Literal["t", "anova", "interval"]
KINDS: tuple[Kind, ...] = ("t", "anova", "interval")
COLUMNS = (
    "design", "systems", "variance", "difference", "width", "topics", "power", "alpha", "comparisons",
)  # fmt: skip
VARIANCE_OF = {
    "t": "of the differences of two systems",
    "anova": "of topics within a system",
    "interval": "of the differences of two systems",
}


@dataclass(frozen=True)
class Design:
    """How many topics each difference (for "interval": each width) needs: ``sizes`` holds both, the smallest difference first."""

    kind: Kind
    variance: float
    systems: int | None
    sizes: tuple[tuple[float, int], ...]
    aim: Aim

    @property
    def notes(self) -> Sequence[str]:
        """Nothing was read."""
        return ()

    @property
    def warnings(self) -> Sequence[Caution]:
        """Nothing to doubt but the variance."""
        return ()

    def __str__(self) -> str:
        return sentence(self)

    __repr__ = __str__


def designed(
    kind: str, variance: Any, differences: Sequence[float], widths: Sequence[float], systems: Any, aim: Aim
) -> Design:
    """The topics that a design needs, after Sakai; InputError says in one line what is missing or does not belong."""
    one_of("design", kind, KINDS)
    if not hasattr(variance, "__float__") or not 0 < float(variance) < math.inf:
        raise InputError(
            f"variance={variance!r}: design {kind!r} needs the variance {VARIANCE_OF[kind]}, a number above 0"
        )
    needs, other = ("width", "difference") if kind == "interval" else ("difference", "width")
    given, extra = (widths, differences) if kind == "interval" else (differences, widths)
    if extra:
        raise InputError(f"{other} does not belong to design {kind!r}: it takes a {needs}")
    if not given:
        raise InputError(f"design {kind!r} needs a {needs}: say which one is to be reached, like 0.1")
    if kind == "anova":
        if isinstance(systems, bool) or not hasattr(systems, "__index__") or systems < 2:
            raise InputError(
                f"systems={systems!r}: design 'anova' needs how many systems will be compared, 2 or more"
            )
    elif systems is not None:
        raise InputError(f"systems does not belong to design {kind!r}: it is about two systems")
    sizes = tuple((size, _topics(cast(Kind, kind), float(variance), size, systems, aim)) for size in given)
    return Design(cast(Kind, kind), float(variance), systems, sizes, aim)


def _topics(kind: Kind, variance: float, size: float, systems: int | None, aim: Aim) -> int:
    if kind == "interval":
        return topic_set_size(kind, variance=variance, width=size, power=aim.power, alpha=aim.each)
    return topic_set_size(
        kind, variance=variance, difference=size, systems=systems, power=aim.power, alpha=aim.each
    )


# --- in words and as records ----------------------------------------------------------------------


def sentence(found: Design) -> str:
    """How many topics it takes, in words."""
    size, topics = found.sizes[-1]
    if found.kind == "interval":
        level = f"{100 * (1 - found.aim.each):.6g}%"
        return f"With {topics:,} topics, the {level} interval of a difference is expected to be at most {size:g} wide."
    if found.kind == "t":
        what = f"a paired t test finds a true difference of {size:g} between two systems"
    else:
        what = f"an analysis of variance finds that {found.systems} systems differ, the best and the worst by {size:g},"
    return f"With {topics:,} topics, {what} with {found.aim.power:.0%} power."


def blocks_of(found: Design) -> list[Block]:
    """The sentence, a table where several were asked for, and what was assumed."""
    blocks: list[Block] = [Paragraph(sentence(found))]
    if len(found.sizes) > 1:
        name = "width" if found.kind == "interval" else "difference"
        rows = tuple((f"{size:g}", topics) for size, topics in found.sizes)
        blocks += [EMPTY, Table((Column(name), Column("topics", "count")), rows)]
    return [*blocks, EMPTY, Paragraph(" · ".join(_small_print(found)), quiet=True)]


def _small_print(found: Design) -> Iterator[str]:
    yield f"variance {VARIANCE_OF[found.kind]}: {found.variance:g}"
    yield level_in_words(found.aim)
    yield {
        "t": "paired two-sided t test, noncentral t distribution",
        "anova": "one-way analysis of variance, noncentral F distribution, the other systems in the middle",
        "interval": "t interval, its width from end to end; half of the intervals will be wider",
    }[found.kind]
    yield "after Sakai, Topic set size design, 2016"


def level_in_words(aim: Aim) -> str:
    """Alpha, and over how many comparisons it holds."""
    if aim.comparisons == 1:
        return f"alpha {aim.alpha:g} for one comparison (--comparisons M plans for M)"
    return f"alpha {aim.alpha:g} over {aim.comparisons:,} comparisons: {aim.each:.2g} for each"


def records(found: Design) -> Iterator[dict[str, Any]]:
    """One record a difference or width."""
    interval = found.kind == "interval"
    for size, topics in found.sizes:
        yield {
            "design": found.kind,
            "systems": found.systems,
            "variance": found.variance,
            "difference": None if interval else size,
            "width": size if interval else None,
            "topics": topics,
            "power": None if interval else found.aim.power,
            "alpha": found.aim.alpha,
            "comparisons": found.aim.comparisons,
        }
