"""The population of calibration: real scores of real systems, and how rates over samples of it are counted."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rankscope.lists import Array

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "system_scores"
METRICS = {"AP": "ap", "P@10": "p10", "RR": "rr"}
SYSTEMS = 45  # as many as three quarters of the smallest of the four matrices hold
SEED = 20
ALPHA = 0.05

Population = Mapping[str, Array]  # of each metric the scores: topics x systems


def population(folder: Path = FOLDER) -> Population:
    """The four matrices on top of each other: the first column holds the best system of each, and so on.

    Systems are ordered by mean AP. The worst quarter of each matrix is dropped, and of the others as many are taken, at
    equal distances of rank, as the smallest matrix has.
    """
    stacked: dict[str, list[Array]] = {metric: [] for metric in METRICS}
    for year in (5, 6, 7, 8):
        read = {
            metric: np.genfromtxt(folder / f"adhoc{year}_{name}.csv", delimiter=",", skip_header=1)
            for metric, name in METRICS.items()
        }
        best = np.argsort(-read["AP"].mean(axis=0), kind="stable")
        best = best[: len(best) * 3 // 4 + 1]
        taken = best[((np.arange(SYSTEMS) + 0.5) / SYSTEMS * len(best)).astype(int)]
        for metric, scores in read.items():
            stacked[metric].append(scores[:, taken])
    return {metric: np.vstack(parts) for metric, parts in stacked.items()}


def generator(*cell: object) -> np.random.Generator:
    """The random numbers of a cell: its own, whatever other cells there are."""
    return np.random.default_rng([SEED, zlib.crc32(repr(cell).encode())])


def some_pairs(count: int, *cell: object) -> Array:
    """Pairs of different systems, drawn at random."""
    rng = generator("pairs", *cell)
    return np.array([rng.choice(SYSTEMS, 2, replace=False) for _ in range(count)])


def tilted(values: Array) -> Array:
    """The chance of each value, tilted exponentially so that their mean is 0, and no value changes."""
    from scipy.optimize import brentq

    def weights(slope: float) -> Array:
        raw = slope * values
        raw = np.exp(raw - raw.max())
        return np.asarray(raw / raw.sum())

    scale = 200 / np.abs(values).max()
    return weights(brentq(lambda slope: weights(slope) @ values, -scale, scale, xtol=1e-12))


@dataclass(frozen=True)
class Rate:
    """How often something happened, and the standard error of that, both as parts of 1."""

    rate: float
    error: float

    @classmethod
    def of(cls, hits: Array) -> Rate:
        """From what happened: groups x samples, the error being that between groups; or samples alone."""
        hits = np.asarray(hits, dtype=float)
        if hits.ndim == 1:
            n = len(hits)
            near = (hits.sum() + 1) / (n + 2)
            return cls(float(hits.mean()), float(np.sqrt(near * (1 - near) / n)))
        groups = hits.mean(axis=1)
        return cls(float(groups.mean()), float(groups.std(ddof=1) / np.sqrt(len(groups))))

    def __str__(self) -> str:
        return f"{100 * self.rate:.1f} ± {100 * self.error:.1f}"


@dataclass(frozen=True)
class Size:
    """How many systems, samples and rounds a run takes; a ``quick`` one is for looking at the page, not at the numbers."""

    pairs: int = 60
    samples: int = 1000
    tested: int = 16
    tries: int = 1500
    families: int = 1500
    looks: int = 1000
    rounds: int = 999
    rounds_of_families: int = 9999


QUICK = Size(pairs=6, samples=50, tested=4, tries=50, families=40, looks=20, rounds=199, rounds_of_families=1999)
