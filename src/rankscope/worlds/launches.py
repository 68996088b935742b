"""Simulated launches with known correlations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankscope.errors import InputError

OFFLINE = {"nDCG@10": 0.8, "AP": 0.6, "RR@10": 0.4, "P@10": 0.1}
SPREAD = 0.02  # standard deviation of true offline differences
ONLINE_SPREAD = 0.003
BOUNDS = {"reliability": (0.01, 1.0), "shared": (0.0, 0.99), "uneven": (0.0, 3.0), "rejected": (0.0, 0.95)}
BASELINE = {"nDCG@10": 0.45, "AP": 0.3, "RR@10": 0.55, "P@10": 0.35, "CTR": 0.1}


@dataclass(frozen=True)
class LaunchWorld:
    """The truth about simulated launches.

    ``correlation`` maps offline metrics to their true correlation with CTR, ``reliability`` is the share of true variance in each measured
    difference, ``shared`` the correlation of errors on the same queries, ``uneven`` the spread of the logarithms of error
    variances, ``rejected`` the share of candidates, the lowest on the first metric, that are not launched. Raises InputError for impossible values.
    """

    launches: int = 200
    seed: int = 0
    correlation: dict[str, float] = field(default_factory=lambda: dict(OFFLINE))
    reliability: float = 0.7
    shared: float = 0.7
    uneven: float = 0.0
    rejected: float = 0.0

    def __post_init__(self) -> None:
        for name, (low, high) in BOUNDS.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
                raise InputError(f"{name}={value!r}: a number from {low} to {high}")
        correlations = list(self.correlation.values())
        if not correlations or not all(isinstance(r, int | float) and -1 <= r <= 1 for r in correlations):
            raise InputError(f"correlation={self.correlation!r}: numbers from -1 to 1, by metric")

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per launch and metric, as ``launches import`` reads them."""
        draws = np.random.default_rng(self.seed)
        names, n = list(self.correlation), self.launches
        online = draws.normal(size=n)
        r = np.array([self.correlation[name] for name in names])
        offline = online[:, None] * r + draws.normal(size=(n, len(r))) * np.sqrt(1 - r**2)
        noise = np.sqrt((1 - self.reliability) / self.reliability)
        wide = np.exp(draws.normal(size=(n, 2)) * self.uneven - self.uneven**2 / 2) ** 0.5 * noise
        common = draws.normal(size=(n, 1)) * np.sqrt(self.shared)
        errors = (common + draws.normal(size=(n, len(r))) * np.sqrt(1 - self.shared)) * wide[:, :1]
        measured = 0.005 + (offline + errors) * SPREAD
        users = 0.0005 + (online + draws.normal(size=n) * wide[:, 1]) * ONLINE_SPREAD
        kept = measured[:, 0] >= np.quantile(measured[:, 0], self.rejected) if self.rejected else np.ones(n, bool)
        start = np.datetime64("2020-01-06")
        out = []
        for i in range(n):
            head = {
                "launch": f"launch {i + 1:0{len(str(n))}}", "date": str(start + 7 * i), "launched": "yes" if kept[i] else "no"
            }  # fmt: skip
            x_error, y_error = float(wide[i, 0]) * SPREAD, float(wide[i, 1]) * ONLINE_SPREAD
            for j, name in enumerate(names):
                joint = "; ".join(f"{other}={self.shared * x_error**2:.6g}" for other in names if other != name)
                out.append(head | _measured("offline", name, measured[i, j], x_error, joint))
            if kept[i]:
                out.append(head | _measured("online", "CTR", users[i], y_error))
        return out


def _measured(side: str, metric: str, value: float, error: float, joint: str = "") -> dict[str, Any]:
    return {
        "side": side, "metric": metric, "difference": round(float(value), 6), "standard_error": round(error, 6),
        "baseline_value": BASELINE.get(metric, 0.4), "covariances": joint,
    }  # fmt: skip
