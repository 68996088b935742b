"""Simulated queries, the candidates of each with their grades, and the scores of rankers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from rankscope.errors import DataError, InputError
from rankscope.lists import Array
from rankscope.worlds.world import World, stream

HAIR = 1e-9  # what settles equal scores: less than any difference between them


@dataclass(frozen=True, eq=False)
class Candidates:
    """The items that could be shown for each query: queries x candidates, those that there are not with grade NaN.

    ``popularity`` sums to 1 over queries. ``items`` are the ids, row by row; ``labels`` the grades as judged, ``grades`` the same between 0 (the lowest)
    and 1 (the highest). ``noise`` is what rankers get wrong, the same for all of them, so that those of one quality are one ranker.
    """

    queries: pl.Series
    popularity: Array
    items: pl.Series
    labels: Array
    grades: Array
    noise: Array

    def by_grade(self, values: Sequence[float]) -> Array:
        """Values given from the lowest grade to the highest, for each candidate."""
        grades = np.nan_to_num(self.grades)
        return (
            np.interp(grades, np.linspace(0.0, 1.0, len(values)), values)
            if len(values) > 1
            else np.full(grades.shape, values[0])
        )


def made_candidates(world: World) -> Candidates:
    """Simulated queries and candidates: every query has grades in the shares that the world sets."""
    draws = stream(world.seed, "items")
    shape = world.queries, world.candidates
    bounds, best = np.round(np.cumsum(world.grades) * world.candidates).astype(int), len(world.grades) - 1
    grades = np.searchsorted(bounds, np.arange(world.candidates), side="right").clip(max=best).astype(float)
    labels = np.broadcast_to(grades, shape)
    weights = np.arange(1, world.queries + 1) ** -world.popularity
    digits = len(str(world.candidates))
    queries = pl.Series("query_id", [f"q{q + 1}" for q in range(world.queries)])
    numbers = [f"d{d + 1:0{digits}}" for d in range(world.candidates)]
    items = pl.Series("item_id", [f"{q}-{d}" for q in queries for d in numbers])
    noise = draws.standard_normal(shape)
    return Candidates(queries, weights / weights.sum(), items, labels, labels / max(best, 1), noise)


def judged_candidates(
    world: World, qrels: pl.DataFrame, runs: Sequence[pl.DataFrame] = ()
) -> tuple[Candidates, list[Array]]:
    """Queries and candidates of real judgments, with the scores of each run.

    ``qrels`` has query_id, doc_id, grade. A run has query_id, doc_id, rank. Candidates are the first of each run, as many as the world
    says; without runs the judged documents, the best of them. Documents that nobody judged have grade 0. Raises DataError where
    judgments and runs share no query, and where nothing is relevant.
    """
    pair = ["query_id", "doc_id"]
    best = qrels.group_by(pair).agg(pl.col("grade").max().clip(lower_bound=0.0))
    tops = [run.filter(pl.col("rank") <= world.candidates) for run in runs]
    pool = pl.concat([top.select(pair) for top in tops]).unique() if tops else best.select(pair)
    pool = pool.join(best.select("query_id").unique(), on="query_id", how="semi")
    highest = float(best["grade"].max() or 0.0)  # type: ignore[arg-type] # a column of numbers
    if highest <= 0:
        raise DataError("no document is judged relevant: the judgments do not say what draws clicks")
    if not len(pool):
        raise DataError("no judged query has a ranking: the query ids of judgments and runs must be the same")
    pool = pool.join(best, on=pair, how="left").with_columns(pl.col("grade").fill_null(0.0)).sort(pair)
    if not tops:
        place = pl.col("grade").rank("ordinal", descending=True).over("query_id")
        pool = pool.filter(place <= world.candidates)
    queries = pool["query_id"].unique(maintain_order=True)
    codes = pl.DataFrame({"query_id": queries}).with_row_index("code")
    pool = pool.with_columns(place=pl.int_range(pl.len()).over("query_id")).join(codes, on="query_id")
    wide = int(pool["place"].max()) + 1  # type: ignore[arg-type] # it has rows
    pool = pool.with_columns(flat=pl.col("code").cast(pl.Int64) * wide + pl.col("place"))
    labels: Array = np.full(len(queries) * wide, np.nan)
    labels[pool["flat"].to_numpy()] = pool["grade"].to_numpy()
    cells = pl.DataFrame({"flat": np.arange(len(labels))})
    items = cells.join(pool, on="flat", how="left", maintain_order="left")["doc_id"]
    draws = stream(world.seed, "items")
    noise = draws.standard_normal((len(queries), wide))
    weights = (draws.permutation(len(queries)) + 1.0) ** -world.popularity
    labels = labels.reshape(noise.shape)
    made = Candidates(queries, weights / weights.sum(), items, labels, labels / highest, noise)
    return made, [_run_scores(top, pool, noise.shape) for top in tops]


def _run_scores(run: pl.DataFrame, pool: pl.DataFrame, shape: tuple[int, ...]) -> Array:
    """Minus the logarithm of the rank, for the items of the run."""
    cells = pool.join(run, on=["query_id", "doc_id"], how="inner")
    scores = np.full(shape[0] * shape[1], -np.inf)
    scores[cells["flat"].to_numpy()] = -np.log(cells["rank"].to_numpy().astype(float))
    return scores.reshape(shape)


def quality_scores(candidates: Candidates, quality: float) -> Array:
    """The scores of a ranker of this quality: 0 ranks by chance, 1 by grade; -inf where there is no candidate.

    In between, what a score says is ``quality`` parts of the grade, in standard deviations, and ``1 - quality`` parts of noise.
    Raises InputError for a quality out of bounds.
    """
    if isinstance(quality, bool) or not isinstance(quality, int | float) or not 0 <= quality <= 1:
        raise InputError(f"quality={quality!r}: the quality of a ranker is a number from 0 (by chance) to 1 (ideal)")
    spread = float(np.nanstd(candidates.grades)) or 1.0
    scores = quality * candidates.grades / spread + (1 - quality + HAIR) * candidates.noise
    return np.where(np.isnan(candidates.labels), -np.inf, scores)
