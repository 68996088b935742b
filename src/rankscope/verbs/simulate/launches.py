"""Simulate launches with known correlations, in the form of ``launches import``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from rankscope import words
from rankscope.blocks import Caution
from rankscope.declared import whole_number
from rankscope.errors import InputError
from rankscope.show.result import Col, Result, View
from rankscope.worlds.launches import LaunchWorld

NAMES = ("launch", "date", "launched", "side", "metric", "difference", "standard_error", "baseline_value")


@dataclass(frozen=True, eq=False, repr=False)
class SimulatedLaunches(Result):
    """Launches of a ``world``: ``to_csv()`` holds one row per launch and metric, ``world.correlation`` what is true."""

    world: LaunchWorld
    made: Sequence[Mapping[str, Any]]

    schema: ClassVar[str] = "simulate_launches/1"
    notes: ClassVar[Sequence[str]] = ()
    warnings: ClassVar[Sequence[Caution]] = ()
    views: ClassVar[tuple[View, ...]] = (
        View(
            "results", (*(Col(name, head=name) for name in NAMES), Col("covariances")), lambda made: made.made, most=10
        ),
    )

    @property
    def conventions(self) -> dict[str, Any]:
        """The parameters of the world."""
        return asdict(self.world)

    def sentences(self) -> Iterator[str]:
        """Yield the number of launches and the true correlations."""
        true = words.listing(f"{name} {words.number(r, digits=2)}" for name, r in self.world.correlation.items())
        yield f"Made {words.counted(self.world.launches, 'launch', 'launches')} (seed {self.world.seed}); true correlations with CTR: {true}."


def simulate_launches(launches: int = 200, *, seed: int = 0, **parameters: Any) -> SimulatedLaunches:
    """Make launches with known correlations between offline metrics and CTR: to try the ledger, and to see how many launches are needed.

    ``parameters`` are those of ``LaunchWorld``: ``correlation={"nDCG@10": 0.8}``, ``reliability=0.7``, ``shared=0.7``, ``uneven=0.0``, ``rejected=0.0``.
    Raises InputError for impossible values.

    >>> made = simulate_launches(50, correlation={"nDCG@10": 0.9})
    >>> len(made.rows), made.rows[0]["metric"]
    (100, 'nDCG@10')
    """
    whole_number("launches", launches, 1, "the number of launches: a whole number of at least 1, like 200")
    known = {field.name for field in fields(LaunchWorld)} - {"launches", "seed"}
    if unknown := sorted(parameters.keys() - known):
        raise InputError(f"{unknown[0]} is not a parameter of launches{words.hint(unknown[0], sorted(known))}")
    world = LaunchWorld(launches, seed, **parameters)
    return SimulatedLaunches(world, world.rows())
