"""Simulate logs with a known truth in four regimes, and write bias, variance, RMSE and coverage of estimators into docs/counterfactual.md.

python tools/write_counterfactual_table.py --write
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import rankscope.estimators.catalogue  # noqa: F401 - declares the estimators
from rankscope.behaviour.policies import EpsilonShuffle, LoggingPolicy, PlackettLuce
from rankscope.estimators.base import Estimator, centre_and_error
from rankscope.estimators.events import Level, LoggedEvents
from rankscope.estimators.overlap import support_of
from rankscope.estimators.rewards import ItemMeans
from rankscope.estimators.targets import OfPolicy
from rankscope.lists import Array

PAGE = Path(__file__).resolve().parents[1] / "docs" / "counterfactual.md"
START, END = "<!-- estimators: begin -->", "<!-- estimators: end -->"
SINGLE = ("DM", "IPS", "SNIPS", "BetaIPS", "IPS(clip=10)", "DR", "SNDR", "SwitchDR", "DRos(shrink=10)")
SLATES = ("SIPS", "SNSIPS", "RIPS", "SNRIPS", "CascadeDR", "IIPS", "SNIIPS")


@dataclass(frozen=True)
class Regime:
    """A world: a logger and a target on scores of items by context, and the click rate of items by context."""

    title: str
    about: str
    logger: LoggingPolicy
    logged: Array
    target: LoggingPolicy
    aimed: Array
    rates: Array
    estimators: tuple[str, ...]
    places: int = 1
    lists: int = 2000

    def policies(self) -> tuple[OfPolicy, OfPolicy]:
        """Return the logger and the target."""
        items = np.tile(np.arange(self.logged.shape[1]), (len(self.logged), 1))
        return OfPolicy("logger", self.logger, self.logged, items), OfPolicy("target", self.target, self.aimed, items)

    def largest_weight(self) -> float:
        """Return the largest weight of an item at a position."""
        logger, target = (policy.table(self.places) for policy in self.policies())
        return float((target[logger > 0] / logger[logger > 0]).max())

    def truth(self) -> float:
        """Return the mean reward of a list under the target: contexts are equally frequent, positions earn alike."""
        table = self.policies()[1].table(self.places)
        return float((table.sum(axis=2) * self.rates).sum(axis=1).mean())

    def draw(self, seed: int) -> LoggedEvents:
        """Return one log."""
        draws = np.random.default_rng(seed)
        logger, target = self.policies()
        context = draws.integers(len(self.logged), size=self.lists)
        shown, _ = self.logger.show(
            self.logged, context, draws.random((self.lists, self.logged.shape[1] + 1)), self.places
        )
        item, number = shown.ravel(), np.repeat(np.arange(self.lists), self.places)
        contexts = context[number]
        clicks = (draws.random(len(item)) < self.rates[contexts, item]).astype(float)
        zeros = np.zeros(len(item), dtype=np.int64)
        made = LoggedEvents(
            clicks, number, self.lists, number, np.tile(np.arange(self.places), self.lists), item, [str(i) for i in range(self.logged.shape[1])],
            contexts, zeros, {}, model=ItemMeans(),
        )  # fmt: skip
        levels: tuple[Level, ...] = ("item",) if self.places == 1 else ("item", "prefix", "slate")
        return replace(made, propensities={level: logger.chance(made, level) for level in levels}, target=target)


def regimes() -> list[Regime]:
    """Return the four worlds."""
    draws = np.random.default_rng(5)
    scores, rates = np.sort(draws.normal(size=8)), np.linspace(0.05, 0.4, 8)
    both, same = np.stack([scores, scores]), np.stack([rates, rates])
    apart = np.stack([rates, rates[::-1]])
    return [
        Regime("Good overlap", "a reward model that is right", EpsilonShuffle(epsilon=0.9), both[:, ::-1], PlackettLuce(temperature=1.0), both, same, SINGLE),
        Regime("Poor overlap", "a reward model with few rows of the items that the target prefers", PlackettLuce(temperature=0.35), both[:, ::-1], PlackettLuce(temperature=1.0), both, same, SINGLE),
        Regime("Wrong reward model", "the best item depends on the query, which the reward model ignores", EpsilonShuffle(epsilon=0.6), np.stack([scores, scores[::-1]]), PlackettLuce(temperature=1.0), np.stack([scores[::-1], scores]), apart, SINGLE),
        Regime("Long lists", "six positions, rewards of positions independent of each other", PlackettLuce(temperature=2.0), both[:, ::-1], PlackettLuce(temperature=2.0), both, same, SLATES, places=6),
    ]  # fmt: skip


@dataclass(frozen=True)
class Row:
    """What many logs say of one estimator."""

    bias: float
    deviation: float
    coverage: float
    flagged: float

    @property
    def rmse(self) -> float:
        """The root of the mean squared error."""
        return float(np.hypot(self.bias, self.deviation))


def measure(regime: Regime, logs: int) -> Mapping[str, Row]:
    """Return the rows of a regime over this many logs."""
    truth = regime.truth()
    found: dict[str, list[tuple[float, float, bool]]] = {name: [] for name in regime.estimators}
    for seed in range(logs):
        events = regime.draw(seed)
        for name in regime.estimators:
            estimator = Estimator.read(name)
            value, error = centre_and_error(estimator.earn(events), events)
            warned = any(True for _ in support_of(estimator, events, "target", "list").cautions())
            found[name].append((value, error, warned))
    out = {}
    for name, each in found.items():
        values, errors, warned_of = (np.array(column) for column in zip(*each, strict=True))
        covered = np.abs(values - truth) <= 1.96 * errors
        out[name] = Row(
            float(values.mean() - truth), float(values.std(ddof=1)), float(covered.mean()), float(warned_of.mean())
        )
    return out


def table(logs: int) -> str:
    """Return all regimes as Markdown."""
    lines = [f"{logs} logs of 2,000 lists each. Bias, standard deviation and RMSE are in percent of the truth."]
    for regime in regimes():
        truth, rows = regime.truth(), measure(regime, logs)
        lines += [
            "",
            f"**{regime.title}**: {regime.about}. The largest weight of an item is {regime.largest_weight():,.1f}.",
            "",
            "| estimator | bias | deviation | RMSE | 95% intervals that hold | logs with a warning |",
            "|---|--:|--:|--:|--:|--:|",
        ]
        for name, row in rows.items():
            numbers = [f"{100 * number / truth:.1f}" for number in (row.bias, row.deviation, row.rmse)]
            held = "-" if Estimator.read(name).fallible else f"{row.coverage:.0%}"
            lines.append(f"| `{name}` | {' | '.join(numbers)} | {held} | {row.flagged:.0%} |")
    return "\n".join(lines)


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=400)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    text = table(asked.logs)
    if not asked.write:
        print(text)
        return
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.partition(START)[0], page.partition(END)[2]
    PAGE.write_text(f"{before}{START}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
