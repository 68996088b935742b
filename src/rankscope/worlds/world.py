"""The parameters of a simulated world: users, visits, queries, attraction, revenue, and reasons to leave."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal, get_args, get_type_hints

import numpy as np

from rankscope import words
from rankscope.declared import Param, check_value
from rankscope.errors import InputError

STREAMS = (
    "items", "users", "visits", "lists", "queries", "variants", "policies", "rankings", "teams", "examination", "clicks", "dwell", "orders", "moods",
)  # fmt: skip
Phase = Literal["log", "before", "truth"]
PHASES = ("log", "before", "truth")


def stream(seed: int, name: str, phase: Phase = "log", part: int = 0) -> np.random.Generator:
    """The stream of chance of this name, for one part of the users in one phase.

    >>> float(stream(1, "clicks").random()) == float(stream(1, "clicks").random()) != float(stream(1, "dwell").random())
    True
    """
    return np.random.default_rng([seed, PHASES.index(phase), part, STREAMS.index(name)])


# fmt: off
@dataclass(frozen=True, kw_only=True)
class World:
    """Users, what they ask for and how they behave. Every number has its meaning and its bounds.

    What is given for several grades runs from the lowest to the highest. Grades of other judgments lie between them as on a straight line.
    Raises InputError for a value out of bounds.

    >>> World(users=50).users, World.about("taste")
    (50, 'how much users differ in how readily they click: standard deviation, relative to the mean')
    """

    users: Annotated[int, Param("how many users there are; each comes at least once", low=1, high=100_000_000)] = 5000
    days: Annotated[int, Param("how many days the log spans", low=1, high=3650)] = 14
    seed: Annotated[int, Param("what all that is random depends on: one seed, one log", low=0, high=2**53)] = 0
    start: Annotated[str, Param("the first day, like 2024-01-01")] = "2024-01-01"
    items: Annotated[int, Param("items per list", low=1, high=100)] = 20
    visits: Annotated[float, Param("visits per user and day, mean over users", above=0.0, high=100.0)] = 0.15
    activity: Annotated[float, Param("how much users differ in how often they come: standard deviation of the logarithm", low=0.0, high=2.5)] = 0.9
    taste: Annotated[float, Param("how much users differ in how readily they click: standard deviation, relative to the mean",
        low=0.0, high=2.0)] = 0.6
    queries: Annotated[int, Param("how many queries there are", low=1, high=1_000_000)] = 1000
    popularity: Annotated[float, Param("how much some queries are asked more than others: the query of rank r is asked in proportion to r to minus this",
        low=0.0, high=3.0)] = 0.5
    candidates: Annotated[int, Param("how many items there are to choose from for a query", low=1, high=1000)] = 40
    grades: Annotated[tuple[float, ...], Param("which share of the candidates has grade 0, 1, 2 and so on", low=0.0, high=1.0)] = (0.55, 0.275, 0.125, 0.05)
    attraction: Annotated[tuple[float, ...], Param("probability of a click on an examined item, by grade", low=0.0, high=1.0)] = (0.05, 0.165, 0.285, 0.4)
    dwell: Annotated[tuple[float, ...], Param("seconds spent on what was clicked, the median, by grade", low=0.1, high=86_400.0)] = (8.0, 20.0, 45.0, 90.0)
    dwell_spread: Annotated[float, Param("how much dwell times differ: standard deviation of the logarithm", low=0.0, high=3.0)] = 0.9
    satisfied: Annotated[float, Param("seconds from which a click is a satisfied one", low=0.0, high=86_400.0)] = 30.0
    conversion: Annotated[tuple[float, ...], Param("how probable it is that what was clicked is bought, by grade", low=0.0, high=1.0)] = (0.01, 0.03, 0.06, 0.12)
    order_value: Annotated[float, Param("what an order earns, the mean", low=0.0, high=1e6)] = 40.0
    order_spread: Annotated[float, Param("how much orders differ: standard deviation of the logarithm", low=0.0, high=3.0)] = 1.0
    again_bad: Annotated[float, Param("how probable another query is in the same visit after a list without a satisfied click", low=0.0, high=0.95)] = 0.45
    again_good: Annotated[float, Param("how probable another query is in the same visit after a list with one", low=0.0, high=0.95)] = 0.2
    leave_bad: Annotated[float, Param("how probable it is that a user leaves for good after a visit without a satisfied click", low=0.0, high=1.0)] = 0.1
    leave_good: Annotated[float, Param("how probable it is that a user leaves for good after a visit with one", low=0.0, high=1.0)] = 0.02
    before: Annotated[int, Param("days before the start over which covariates are measured; 0 for none", low=0, high=3650)] = 0

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self), include_extras=True)
        for one in fields(self):
            kind, param = get_args(hints[one.name])
            object.__setattr__(self, one.name, check_value("simulate", one.name, getattr(self, one.name), kind, param))
        _ = self.begins
        if not 0.999 < sum(self.grades) < 1.001:
            raise InputError(f"simulate(grades={self.grades!r}): the shares of grades must add up to 1, not to {words.number(sum(self.grades))}")

    @property
    def begins(self) -> datetime:
        """The first moment of the log, in UTC."""
        try:
            day = date.fromisoformat(self.start)
        except ValueError:
            raise InputError(f"simulate(start={self.start!r}): the first day is written like 2024-01-01") from None
        if not 1971 <= day.year <= 2200:
            raise InputError(f"simulate(start={self.start!r}): the first day must be in the years 1971 to 2200")
        return datetime(day.year, day.month, day.day, tzinfo=UTC)

    @property
    def size(self) -> int:
        """Estimate the bytes that a log takes: its rows, the users in work at once, and the candidates."""
        lists = 1.5 * (1 + self.visits * max(self.days, self.before))
        rows = self.users * lists * self.items * 400
        at_once = 256 * lists * (12 * self.items + 6 * self.candidates) * 8
        return int(rows + at_once + self.queries * self.candidates * (8 + 2 * self.items) * 8)

    @classmethod
    def of(cls, values: dict[str, Any]) -> World:
        """A world with these parameters. Raises InputError for an unknown name, with the nearest known one."""
        names = [one.name for one in fields(cls)]
        for name in values:
            if name not in names:
                raise InputError(f"simulate has no parameter {name!r}{words.hint(name, names)}")
        return cls(**values)

    @classmethod
    def about(cls, name: str) -> str:
        """The meaning of a parameter."""
        _, param = get_args(get_type_hints(cls, include_extras=True)[name])
        return str(param.about)
# fmt: on
