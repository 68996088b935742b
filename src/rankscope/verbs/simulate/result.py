"""The result of ``simulate``: the log, its users, counts, and the true effects of an experiment."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rankscope import words
from rankscope.blocks import EMPTY, Chart, Column, Heading, Paragraph
from rankscope.files.writers import write_rows
from rankscope.logs.base import parse_online
from rankscope.show.result import Col, Result, Shown, View
from rankscope.worlds.log import Effect, Scenario, counts_by_arm, counts_by_position, design_effect

TOLD = (1, 2, 3, 10, 20)  # positions whose click-through rate is told in a sentence


def _relative(effect: Effect) -> float:
    return effect.difference / effect.baseline_value if effect.baseline_value else math.nan


def _counts(*names: str) -> tuple[Col, ...]:
    """Columns of counts, and of the click-through rate."""
    rate = Col("ctr", head="click-through", kind="value", cell=lambda one: words.share(one.ctr, 2))
    return (*(Col(name, head=name, kind="count") for name in names), rate)


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(Result):
    """A simulated world: ``log`` has one row per shown item, ``units`` one row per user, ``effects`` the effect of each variant on all users.

    ``made["treatment", "CTR"]`` is one true effect, with ``value``, ``baseline_value``, ``difference`` and the standard ``error`` of that.
    ``design_effect`` is the variance of CTR relative to the variance of independent rows.
    """

    kind: str
    scenario: Scenario
    log: Any
    units: Any
    effects: Sequence[Effect]
    truth_users: int

    schema = "simulate/1"
    views = (
        View("results", _counts("position", "shown", "examined", "clicks"), lambda made: made.places),
        View(
            "effects",
            (
                Col("metric", of=lambda e: str(e.metric), head="metric"),
                Col("variant", of=lambda e: e.arm, head="variant"),
                Col("baseline"),
                Col("value", head="value", kind="value", cell=lambda e: words.cell(e.value)),
                Col("baseline_value", head="baseline", kind="value", cell=lambda e: words.cell(e.baseline_value)),
                Col("difference", head="difference", kind="value", cell=lambda e: words.in_table(words.number(e.difference, sign=True, digits=4))),
                Col("error", head="±", kind="value", cell=lambda e: words.cell(e.error, 5)),
                Col("relative", of=_relative, head="lift", kind="value", cell=lambda e: words.relative(_relative(e)) if math.isfinite(_relative(e)) else ""),
            ),
            lambda made: made.effects,
            labels=2,
        ),
        View("arms", (Col("name", head="shown by"), *_counts("users", "lists", "rows", "clicks")), lambda made: made.parts),
    )  # fmt: skip

    # -- what was made ------------------------------------------------------------------------------

    def write_log(self, path: str | Path) -> Path:
        """Write the log to a file, in the format of its ending: .parquet .csv .tsv .jsonl, with .gz packed; gives the path."""
        return write_rows(self.log, path)

    def write_units(self, path: str | Path) -> Path:
        """Write the users to a file, as ``write_log`` does."""
        return write_rows(self.units, path)

    def __getitem__(self, key: Any) -> Effect:
        *arms, metric = key if isinstance(key, tuple) else (key,)
        name = str(parse_online(metric))
        chosen = [e for e in self.effects if str(e.metric) == name and tuple(arms) in {(), (e.arm,)}]
        if len(chosen) != 1:
            known = "; ".join(f"{e.arm}, {e.metric}" for e in self.effects[:6]) or "none"
            raise KeyError(f"name the variant and the metric, like made['treatment', 'CTR']: there are {known}")
        return chosen[0]

    @cached_property
    def places(self) -> list[SimpleNamespace]:
        """The counts of each position: ``shown``, ``examined``, ``clicks``, and the click-through rate ``ctr``."""
        return counts_by_position(self.log)

    @cached_property
    def parts(self) -> list[SimpleNamespace]:
        """The counts of each variant or policy; none for a single one without a name."""
        by_name = {row.name: row for row in counts_by_arm(self.log)}
        return [by_name[arm.name] for arm in self.scenario.arms if arm.name in by_name]

    @cached_property
    def design_effect(self) -> float:
        """How much larger the variance of the click-through rate is than if rows were independent. NaN where nothing can be said."""
        units = self.units
        groups = units["variant"] if "variant" in units.columns else units["unit_id"].str.slice(0, 1)
        return design_effect(units["clicks"].to_numpy(), units["impressions"].to_numpy(), groups.to_numpy())

    # -- for programs -------------------------------------------------------------------------------

    @property
    def conventions(self) -> dict[str, Any]:
        """The parameters of the world, and what was shown how."""
        arms = [
            {"name": arm.name, "policy": str(arm.policy), "share": share}
            for arm, share in zip(self.scenario.arms, self.scenario.shares, strict=True)
        ]
        return {
            **asdict(self.scenario.behaviour.world), "browsing": str(self.scenario.behaviour.browsing), "arms": arms,
            "interleaved": any(arm.rival is not None for arm in self.scenario.arms), "truth": self.truth_users,
        }  # fmt: skip

    def json_header(self) -> dict[str, Any]:
        """How much was made, and under which parameters."""
        names = ("sessions", "lists", "impressions", "clicks", "orders", "revenue")
        sums = self.units.select(names).sum().row(0, named=True)
        sums["revenue"] = round(sums["revenue"], 2)
        return {
            "kind": self.kind, "rows": len(self.log), "users": len(self.units), **sums, "days": self.scenario.behaviour.world.days,
            "design_effect": words.finite(self.design_effect), "conventions": self.conventions,
        }  # fmt: skip

    # -- for people ---------------------------------------------------------------------------------

    def sentences(self) -> Iterator[str]:
        """What was made, how click-through falls with position, and what is true."""
        world = self.scenario.behaviour.world
        lists = words.counted(int(self.units["lists"].sum()), "list")
        users = f"{words.counted(len(self.units), 'user')} in {words.counted(world.days, 'day')}"
        yield f"Made {words.counted(len(self.log), 'row')}: {lists} of {users}, from {world.start} on (seed {world.seed})."
        rates = [f"{words.share(p.ctr, 1)} at {p.position}" for p in self.places if p.position in TOLD]
        yield f"Click-through by position: {words.listing(rates)}."
        if self.effects:
            first = self.effects[0].metric
            for e in (e for e in self.effects if e.metric == first):
                change = f"{words.number(e.difference, sign=True, digits=5)} ± {words.number(e.error, digits=5)}"
                yield (
                    f"The truth: {e.arm} changes {e.metric} by {change}, from {words.number(e.baseline_value, digits=5)} to "
                    f"{words.number(e.value, digits=5)} ({words.relative(_relative(e))}), if all users meet it."
                )
        if math.isfinite(self.design_effect):
            wrong = math.erfc(1.959964 / math.sqrt(2 * max(self.design_effect, 1e-9)))
            yield (
                f"Rows of one user are alike: the design effect of CTR is {words.number(self.design_effect, digits=1)}. A test that takes rows "
                f"for independent would find a difference in {words.share(wrong)} of experiments without any, rather than in 5%."
            )

    def blocks(self, **_: Any) -> list[Shown]:
        """The sentences, the truth, what was shown by what, and the first positions."""
        title = f"the truth: {words.counted(self.truth_users, 'further user')} under each variant"
        effects: list[Shown] = [Heading(title), self.table("effects"), EMPTY] if self.effects else []
        arms: list[Shown] = [self.table("arms"), EMPTY] if self.parts else []
        return [*map(Paragraph, self.sentences()), EMPTY, *effects, *arms, self.table()]

    def charts(self) -> Iterator[Chart]:
        """Click-through by position."""
        yield Chart(
            "positions", "Click-through by position", "points", (Column("position", "count"), Column("click-through in percent", "value")),
            tuple((p.position, 100 * p.ctr) for p in self.places), x="position", y="click-through in percent",
            caption="Observed: what was clicked out of what was shown. How often a place is examined is another curve, which starts at 1.",
        )  # fmt: skip
