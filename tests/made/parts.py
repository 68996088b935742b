"""A log whose rows lie in parts: what is asked of it is sent to each part as bytes, as it is to a cluster."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from rankscope.engines.remote_queries import answer, columns_read, stand_in
from rankscope.impressions import Log


@dataclass(eq=False)
class Scattered:
    """Rows in ``count`` parts, which are cut anew for each query and come in any order; ``within`` are the columns that were asked within."""

    rows: pl.DataFrame
    count: int
    seed: int
    within: list[str] = field(default_factory=list)

    def gather(self, query: pl.LazyFrame, within: str) -> pl.DataFrame:
        """What the query gives for each part."""
        self.within.append(within)
        draws = np.random.default_rng((self.seed, len(self.within)))
        if within:
            values = self.rows[within].unique(maintain_order=True).to_frame()
            places = values.with_columns(pl.Series(" part", draws.integers(0, self.count, len(values))))
            place = self.rows.select(within).join(
                places, on=within, how="left", nulls_equal=True, maintain_order="left"
            )[" part"]
        else:
            place = pl.Series(draws.integers(0, self.count, len(self.rows)))
        read = columns_read(query, self.rows.schema)
        parts = [
            self.rows.select(list(dict.fromkeys([*read, *([within] if within else [])]))).filter(place == part)
            for part in range(self.count)
        ]
        return pl.concat([answer(query, parts[at]) for at in draws.permutation(self.count)])


def scattered(log: Log, count: int = 4, seed: int = 1) -> tuple[Log, Scattered]:
    """A log with its rows in so many parts, and the parts."""

    def refuse(_: pl.LazyFrame) -> pl.DataFrame:
        raise AssertionError("it was asked of all rows at once")

    there = Scattered(log.collect(log.frame), count, seed)
    return replace(log, frame=stand_in(log.schema), collect=refuse, elsewhere=there), there


def assert_close(here: Any, there: Any) -> None:
    """Equal, numbers but for rounding in the last digits."""
    assert type(here) is type(there)
    if isinstance(here, dict):
        assert list(here) == list(there)
        for name, value in here.items():
            assert_close(value, there[name])
    elif isinstance(here, list | tuple):
        assert len(here) == len(there)
        for one, other in zip(here, there, strict=True):
            assert_close(one, other)
    elif isinstance(here, float):
        assert math.isclose(here, there, rel_tol=1e-12, abs_tol=1e-12) or (math.isnan(here) and math.isnan(there))
    else:
        assert here == there
