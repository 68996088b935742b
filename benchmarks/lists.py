"""Logs of lists: interleaving, other policies and position bias beside scans of the same columns, and an EM step beside one pass over its arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.data import make_log
from benchmarks.measure import Answer, Call, Command, Trial
from benchmarks.scope import Scope, peer

ROWS = 70  # rows of a simulated user, about
MODELS = ("PBM", "UBM", "DCM", "DBN")
# the verb with its options, what its users see, the columns of the scan, and the column that it sums by, if any
WORKS: dict[str, tuple[tuple[str, ...], dict[str, Any], str, str]] = {
    "interleaving": (("interleaving",), {"interleave": True, "quality": (0.5, 0.6)}, "click,position,rank_a,rank_b", "impression_id"),
    "estimates": (
        ("estimate", "--target", "uniform", "--estimator", "IPS", "--estimator", "SNIPS", "--estimator", "DR"),
        {"policy": "EpsilonShuffle(epsilon=0.3)"}, "click,p_item_pos", "unit_id",
    ),
    "position bias": (("position-bias",), {"policy": "TopShuffle(top=10)", "items": 10}, "click,position,p_item_pos", "item_id"),
}  # fmt: skip


def trials(scope: Scope) -> Iterator[Trial]:
    """Each verb on a log of lists, in sizes growing tenfold; then the steps of click models on pages of ten."""
    for users in scope.sizes(7_000, 70_000):
        for work, (verb, made, summed, by) in WORKS.items():
            log = make_log("simulate_lists", scope.folder, f"{work.replace(' ', '-')}-{users}", users=users, **made)
            yield Trial(
                f"lists/{work}/{users}",
                f"{work}, Parquet, {users:,} users",
                users * ROWS,
                "rows",
                {
                    f"Polars, sums by {by}": peer("polars-sums", log, by, summed),
                    f"rankscope {verb[0]}": Command((sys.executable, "-m", "rankscope", verb[0], str(log), *verb[1:])),
                },
                f"lists/{work}",
                floors=(f"Polars, sums by {by}",),
            )
    for pages in scope.sizes(10_000, 100_000, 1_000_000):
        steps = {
            f"{model}, a step": Call("benchmarks.lists:step", {"model": model, "pages": pages}) for model in MODELS
        }
        yield Trial(
            f"lists/clicks/{pages}",
            f"EM of click models, {pages:,} pages of ten",
            pages,
            "pages",
            {"NumPy, one pass": Call("benchmarks.lists:passed", {"pages": pages}), **steps},
            "lists/clicks",
            floors=("NumPy, one pass",),
        )


def _observed(pages: int) -> Any:
    import numpy as np

    from rankscope.click_models.em import Observed

    draw = np.random.default_rng(1)
    group = draw.integers(0, 10_000, (10, pages), dtype=np.int32)
    return Observed(group, draw.random((10, pages)) < np.linspace(0.3, 0.05, 10)[:, np.newaxis], 10_000)


def step(model: str, pages: int) -> Callable[[], Answer]:
    """One step of the fit of a click model."""
    import numpy as np

    from rankscope.click_models import models
    from rankscope.click_models.em import Fit, FittedEstimates

    chosen, seen = getattr(models, model)(), _observed(pages)
    table = np.clip(chosen.browsing.table(10), 0.05, 0.95)
    start = FittedEstimates(table, table, None, (0.2, 0.5))
    fit = Fit(chosen.browsing, seen, chosen.browsing.satisfies, 10.0, start)
    return lambda: {"likelihood": fit.step() * 0}


def passed(pages: int) -> Callable[[], Answer]:
    """Look up the attraction of each item, multiply it, and sum by item: one pass over the arrays of a step."""
    import numpy as np

    seen = _observed(pages)
    attraction = np.full(seen.size, 0.2)

    def work() -> Answer:
        chance = attraction[seen.group] * 0.5
        np.bincount(seen.group.ravel(), np.where(seen.click, 1.0, chance).ravel(), minlength=seen.size)
        return {"likelihood": 0.0}

    return work
