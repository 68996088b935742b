"""What an online metric is: what a row, a list, a session or a unit adds above the line, out of what it adds below."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

import polars as pl

from rankscope.declared import Declared, Param, parameters, parse_all, split_spellings
from rankscope.errors import InputError
from rankscope.impressions import Log

Level = Literal["row", "once", "values", "list", "session", "unit"]
KEYS: dict[Level, str] = {"list": "impression_id", "session": "session_id"}
MORE_IS_BETTER = frozenset({"click", "conversion", "revenue", "reward"})
Better = Literal["higher", "lower", "neither"]

Days = Annotated[int, Param("how many days", low=1, high=3650)]
Column = Annotated[str, Param("the name of a column of numbers")]
Direction = Annotated[
    Better | None,
    Param("better values: higher (revenue), lower (waiting times) or neither. Default: higher is assumed"),
]


@dataclass(frozen=True)
class RatioParts:
    """The sums of a unit: ``numerator`` and ``denominator``, expressions over the rows of one ``level``.

    At level ``row`` each row adds its value, at level ``once`` the first row of a unit that has one (and the largest denominator); at the others an expression sums up
    the rows of a list, a session or a unit. Null adds nothing. Without a denominator each unit counts as 1. Level ``values`` keeps the values
    of rows one by one, without a denominator: for quantiles. ``censored`` is true for units that were not observed for long enough. If the
    denominator is ``whole``, it is true for rows with a value, and a unit with a true row counts as 1. At levels above rows the expressions see the
    frame that ``prepared`` makes of the rows and the columns that name groups, such as rows in order of time.

    ``distinct`` says of levels above rows that equal rows need to be seen once only, as for any, min and max: they may be merged before. What is
    added up over them are columns of ``sums``, by names of their own.
    """

    level: Level
    numerator: pl.Expr
    denominator: pl.Expr | None = None
    censored: pl.Expr | None = None
    whole: bool = False
    prepared: Callable[[pl.LazyFrame, list[str]], pl.LazyFrame] | None = None
    distinct: bool = False
    sums: Mapping[str, pl.Expr] = field(default_factory=dict)


Parts = RatioParts  # the earlier public name


class Earning(Declared):
    """Base of everything that units earn: a numerator out of a denominator, rolled up to the unit, compared as a ratio of sums.

    ``needs`` names the columns of the log, ``unit`` the thing counted (an impression, a list, a session, a user), ``above`` and ``below`` the
    numerator and the denominator in words. ``better``, ``range`` and ``watch`` (a pitfall) serve people and verdicts. ``rowwise`` is true
    if every expression looks at its own row only: such earnings are summed without grouping the rows first. ``windowed`` earnings count
    only units that were observed for some days.
    """

    needs: ClassVar[tuple[str, ...]] = ()
    unit: ClassVar[str] = ""
    above: ClassVar[str] = ""
    below: ClassVar[str] = ""
    better: ClassVar[Better | None] = "higher"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    watch: ClassVar[str] = ""
    best_for: ClassVar[str] = ""
    source: ClassVar[str] = ""
    rowwise: ClassVar[bool] = False
    windowed: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "parts" in vars(cls) and "rowwise" not in vars(cls):  # new expressions do not inherit the promise
            cls.rowwise = False

    def parts(self, log: Log, end: datetime | None) -> RatioParts:
        """Return the sums of each unit; ``end`` is the last time in the log. The one method that every earning defines."""
        raise TypeError(f"{type(self).__name__} must define parts(): return the numerator and the denominator")

    def columns(self, log: Log) -> tuple[str, ...]:
        """The columns of the log that it needs."""
        return self.needs

    def leaves_out(self) -> bool:
        """True if units with a denominator of 0 have no value and do not count."""
        return self.windowed


class OnlineMetric(Earning, kind="online metric", at="days"):
    """Base of every online metric. The docstring of a class says in one line what it is.

    ``of_columns`` are the parameters that name columns; ``example``
    is a spelling with the values that must be given.
    """

    of_columns: ClassVar[tuple[str, ...]] = ()
    example: ClassVar[str] = ""
    listed_by: ClassVar[str] = "rankscope metrics online"

    @classmethod
    def also_written(cls, name: str) -> str:
        """Return the spelling of a metric of a column, for a message about an unknown name."""
        return f"a column of numbers is written Mean({name})"

    def reads(self, log: Log) -> set[str]:
        """Return all columns of the log that it reads."""
        return {*self.columns(log), *(log.column(getattr(self, name)) for name in self.of_columns)}

    @property
    def direction(self) -> Better:
        """The better direction: higher if a metric of columns does not state it."""
        return self.better or "higher"  # None for metrics of columns

    def assumes(self, log: Log) -> bool:
        """True if ``better`` is not given for a column other than clicks, conversions, revenue and reward."""
        column = log.column(getattr(self, self.of_columns[0])) if self.of_columns else ""
        return self.better is None and column not in MORE_IS_BETTER

    def __str__(self) -> str:
        if not self.of_columns:
            text, days = super().__str__(), getattr(self, "days", None)
            # a window is always named: "Retention" omits the day
            return text if "@" in text or days is None else f"{text}@{days}"
        own = [getattr(self, name) for name in self.of_columns]
        given = {
            n: v for n, usual in self.defaults.items() if (v := getattr(self, n)) != usual and n not in self.of_columns
        }
        first = sorted(given.items(), key=lambda item: self.defaults[item[0]] is not MISSING)  # what must be given
        return f"{type(self).__name__}({', '.join([*(name if name.isidentifier() else repr(name) for name in own), *(f'{n}={v!r}' for n, v in first)])})"

    __repr__ = __str__


class _Before(OnlineMetric):
    """The same metric of the same unit before its assignment to a variant, for covariates."""

    metric: Annotated[str, Param("the spelling of the metric")]

    @property
    def of(self) -> OnlineMetric:
        """The metric itself."""
        return parse_online(self.metric)

    def __str__(self) -> str:
        return f"{self.metric} before"

    __repr__ = __str__


def before(metric: OnlineMetric) -> OnlineMetric:
    """Return the covariate for a metric: its value before the assignment. Raises InputError for a metric over days."""
    if metric.windowed:
        raise InputError(f"covariate of {metric}: a metric over days has no value before the assignment")
    return _Before(metric=str(metric))


def before_of(metric: Earning) -> OnlineMetric | None:
    """Return the metric behind a covariate of ``before``, None for any other metric."""
    return metric.of if isinstance(metric, _Before) else None


_CALL = re.compile(r"(?P<name>\w+)\s*\((?P<inside>.*)\)\s*", re.DOTALL)


def parse_online(text: Any) -> OnlineMetric:
    """Read an online metric: ``CTR``, ``SatisfiedClicks(dwell=30)``, ``Retention@7``, ``Ratio(orders, sessions)``."""
    if isinstance(text, OnlineMetric):
        return text
    if isinstance(text, type) and issubclass(text, OnlineMetric):
        return text().ready()
    if not isinstance(text, str):
        raise InputError(f"{text!r} is not an online metric: write it like CTR or 'Ratio(orders, sessions)'")
    match = _CALL.fullmatch(text.strip())
    cls = OnlineMetric.catalogue.get(match["name"]) if match else None
    names = () if cls is None else cls.of_columns or tuple({"where"} & {*parameters(cls)})  # of what needs no name
    spelled = _named(match["inside"], names) if match and names else None
    several = parse_all(OnlineMetric, f"{match['name']}({spelled})" if match and spelled is not None else text)
    if len(several) > 1:
        raise InputError(f"{text} is {len(several)} online metrics: name one, like {several[0]}")
    return several[0]  # type: ignore[no-any-return] # the catalogue holds these alone


def parse_online_metrics(metrics: Any) -> list[OnlineMetric]:
    """Read online metrics: one, several, or texts that name several: ``"CTR Retention@1,7"``; each once.

    >>> import rankscope.logs.metrics
    >>> parse_online_metrics(["CTR, Ratio(orders, sessions)", "Retention@1,7"])
    [CTR, Ratio(orders, sessions), Retention@1, Retention@7]
    """
    if isinstance(metrics, str | type | OnlineMetric) or not isinstance(metrics, Iterable):
        metrics = [metrics]
    out: list[OnlineMetric] = []
    for one in metrics:
        for part in split_spellings(one) if isinstance(one, str) else (one,):
            name, at, cuts = part.rpartition("@") if isinstance(part, str) and "," in part else ("", "", "")
            several = (
                [f"{name}@{cut}" for cut in cuts.split(",")] if at and "(" not in cuts and ")" not in cuts else [part]
            )
            out += map(parse_online, several)
    return list(dict.fromkeys(out))


def _named(inside: str, names: tuple[str, ...]) -> str | None:
    """Columns by their places as keywords, as the grammar reads them; None where that is no list of arguments."""
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
    except (SyntaxError, ValueError):
        return None
    if not isinstance(call, ast.Call) or len(call.args) > len(names):
        return None
    arguments: Mapping[str, str] = {name: ast.unparse(node) for name, node in zip(names, call.args, strict=False)}
    more = [ast.unparse(keyword) for keyword in call.keywords]
    return ", ".join([*(f"{name}={value}" for name, value in arguments.items()), *more])
