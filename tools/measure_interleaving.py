"""Measure how often interleaving errs and how much traffic it saves, in two models of users, and write the table in docs/interleaving.md.

    python tools/measure_interleaving.py [--runs 5000] [--write]

In each run 100 users see 1 to 4 lists of 10 by team draft, each for a query of its own with 20 items. Without a difference, both rankers
are equally good. Otherwise the second is better. The A/B test compares clicks per list of two halves of users who see one ranker each.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

import numpy as np

from rankscope.behaviour.browsing import Browsing, Cascade, PositionBased
from rankscope.behaviour.mixing import team_draft
from rankscope.behaviour.policies import ranked
from rankscope.panels.contrast import contrast
from rankscope.panels.method import method_of
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure

PAGE = Path(__file__).resolve().parents[1] / "docs" / "interleaving.md"
MODELS: dict[str, Browsing] = {"never leave": PositionBased(), "leave when satisfied": Cascade(stop=0.9)}
USERS, MOST, ITEMS, K, TASTE = 100, 4, 20, 10, 0.7
TESTS = ("t", "sign")
EQUAL, BETTER = (1.0, 1.0), (1.0, 1.6)  # weights of relevance in the scores of both rankers
AT_ONCE = 250
Array = np.ndarray[Any, Any]


def simulate(
    browsing: Browsing, quality: tuple[float, float], runs: int, seed: list[int]
) -> tuple[Array, Array, Array, Array]:
    """Sum up by user: lists won by the first ranker less lost, lists with a click, and clicks of an A/B test with lists, per ranker."""
    draws = np.random.default_rng(seed)
    users = runs * USERS
    user = np.repeat(np.arange(users), draws.integers(1, MOST + 1, users))
    lists = len(user)
    taste = np.exp(TASTE * draws.standard_normal(users) - TASTE**2 / 2)[user]
    relevance = draws.choice([0.05, 0.15, 0.4], (lists, ITEMS), p=[0.6, 0.25, 0.15])
    scores = [good * np.log(relevance) + draws.standard_normal((lists, ITEMS)) for good in quality]
    order, team, _ = team_draft(scores[0], scores[1], np.arange(lists), draws.random((lists, K)), K)

    def clicks(shown: Array) -> Array:
        tempted = draws.random(shown.shape) < np.take_along_axis(relevance, shown, axis=1) * taste[:, None]
        return tempted & browsing.examine(tempted, draws.random((lists, K + 1)))

    clicked = clicks(order)
    apart = np.sign((clicked & (team == 0)).sum(axis=1) - (clicked & (team == 1)).sum(axis=1))
    seen = clicked.any(axis=1)
    ab = np.stack([np.bincount(user, clicks(ranked(score, K)).sum(axis=1), users) for score in scores])
    return np.bincount(user, apart, users), np.bincount(user, seen, users), ab, np.bincount(user, minlength=users)


def verdicts(apart: Array, of: Array) -> dict[str, tuple[float, float]]:
    """The p-value and the preference of one run, by each test."""
    kept = of > 0
    share = (1 + apart[kept] / of[kept]) / 2
    panel = Panel(Measure("preference", "higher", (0, 1), unit="user"), ("a", "b"), tuple(map(str, range(len(share)))), np.stack([share, 1 - share]), weights=np.stack([of[kept]] * 2))  # fmt: skip
    found = {name: contrast(panel, "a", "b", method_of(test=name)) for name in TESTS}
    return {name: (c.p_value, c.difference) for name, c in found.items()}


def ratio(above: Array, below: Array) -> tuple[float, float]:
    """A ratio of sums over users, and the variance between users of its linearised parts."""
    value = above.sum() / below.sum()
    return float(value), float(np.var((above - value * below) / below.mean()))


def row(name: str, browsing: Browsing, runs: int) -> str:
    """One line of the table."""
    none, some = (together(browsing, quality, runs, seed) for quality, seed in ((EQUAL, 1), (BETTER, 2)))
    false = dict.fromkeys(TESTS, 0)
    right = found = 0
    for run in range(runs):
        of_run = slice(run * USERS, (run + 1) * USERS)
        for test, (p_value, _) in verdicts(none[0][of_run], none[1][of_run]).items():
            false[test] += p_value <= 0.05
        p_value, preference = verdicts(some[0][of_run], some[1][of_run])["t"]
        right += preference < 0
        found += p_value <= 0.05 and preference < 0
    preference, variance = ratio(some[0], some[1])
    one, other = ratio(some[2][0], some[3]), ratio(some[2][1], some[3])
    times = 2 * (one[1] + other[1]) / (one[0] - other[0]) ** 2 / (variance / preference**2)  # users, so lists
    shares = [*(false[test] / runs for test in TESTS), right / runs, found / runs]
    return f"| users that {name} | {' | '.join(f'{100 * share:.1f}%' for share in shares)} | {times:.1f} |"


def together(browsing: Browsing, quality: tuple[float, float], runs: int, seed: int) -> list[Array]:
    """The sums of the users of all runs, simulated some runs at a time."""
    starts = range(0, runs, AT_ONCE)
    parts = [simulate(browsing, quality, min(AT_ONCE, runs - start), [seed, start]) for start in starts]
    return [np.concatenate(part, axis=-1) for part in zip(*parts, strict=True)]


def main() -> None:
    """Print the table, or write it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=5000)
    options.add_argument("--write", action="store_true")
    given = options.parse_args()
    head = "| users | false positives, t | sign | right ranker ahead | found at 5% (t) | lists of A/B over interleaving |\n|---|--:|--:|--:|--:|--:|"
    table = "\n".join([head, *(row(name, browsing, given.runs) for name, browsing in MODELS.items())])
    print(table)
    if given.write:
        text = PAGE.read_text(encoding="utf-8")
        marked = r"(<!-- measured: python tools/measure_interleaving.py --write -->\n).*?(\n<!-- end -->)"
        PAGE.write_text(re.sub(marked, rf"\1{table}\2", text, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
