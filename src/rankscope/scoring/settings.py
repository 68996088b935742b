"""What a project has settled once: ``[tool.rankscope]`` in pyproject.toml, or a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from rankscope.errors import InputError
from rankscope.panels.tolerance import Settled
from rankscope.scoring.policies import POLICIES

VERBS = ("compare", "gate")
GATE = ("tolerance", "fail_on", "alpha", "slices", "clusters", "interval", "test", *POLICIES)
NOT_FOR = {"gate": ("correction", "tried", "margin"), "compare": ("tolerance", "fail_on")}
FILES = ("slices", "clusters", "weights")


@dataclass(frozen=True)
class Settings:
    """What was settled; None stands for what was not.

    ``metrics`` are spellings and ``primary`` the one that decides; ``tolerance`` is a number, a percentage such as ``"2%"``, or a
    table of these by metric. The others are the options of the command line. ``said`` names where they stand, and is empty
    where there are none; ``file`` is what was read.
    """

    primary: str | None = None
    metrics: list[str] | None = None
    alpha: float | None = None
    tolerance: float | str | Mapping[str, float | str] | None = None
    fail_on: str | None = None
    test: str | None = None
    interval: str | None = None
    correction: str | None = None
    tried: int | None = None
    margin: float | Mapping[str, float] | None = None
    slices: str | None = None
    clusters: str | None = None
    ties: str | None = None
    queries: str | list[str] | None = None
    depth: int | None = None
    duplicates: str | None = None
    self_match: str | None = None
    no_relevant: str | int | None = None
    nothing_found: str | None = None
    mean: str | None = None
    weights: str | None = None
    dialect: str | None = None
    seed: int | None = None
    said: str = ""
    file: str = ""
    own: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def of(self, verb: str) -> Settings:
        """The settings of one verb: what its own table says, else what holds for all."""
        return replace(self, **self.own.get(verb, {}), own={})

    def chosen(self, names: Iterable[str]) -> dict[str, Any]:
        """Those of these settings that are settled."""
        found = {name: getattr(self, name, None) for name in names}
        return {name: value for name, value in found.items() if value is not None}

    def filled(self, given: Mapping[str, Any], said: frozenset[str] | set[str]) -> dict[str, Any]:
        """Options with those that were not ``said`` taken from here, where they are settled.

        >>> Settings(depth=100, seed=3).filled({"depth": None, "seed": 0, "ties": "trec"}, {"seed"})
        {'depth': 100, 'seed': 0, 'ties': 'trec'}
        """
        return dict(given) | self.chosen(name for name in given if name not in said)


def settings_of(path: str | None = None, start: str | Path | None = None) -> Settings:
    """The settings in a TOML file, or in the nearest pyproject.toml from the folder ``start`` upwards.

    A file that is named holds them in ``[tool.rankscope]`` or at its top; a pyproject.toml that is found in
    ``[tool.rankscope]``, and without that table nothing is settled. ``[tool.rankscope.gate]`` and
    ``[tool.rankscope.compare]`` hold for one verb. Files are named from the folder of the settings.

    Raises InputError for a file that cannot be read, an unknown name, or a value that cannot be right.
    """
    place = Path(path) if path is not None else _nearest(Path.cwd() if start is None else Path(start))
    if place is None:
        return Settings()
    tool = _read(place).get("tool", {})
    table = tool.get("rankscope") if isinstance(tool, Mapping) else None
    where = f"{place.name if path is None else path} [tool.rankscope]"
    if table is None:
        if path is None or place.name == "pyproject.toml":
            return Settings(file=str(place))
        table, where = _read(place), str(path)
    if not isinstance(table, Mapping):
        raise InputError(f"{where} is no table: write depth = 100 and the like below [tool.rankscope]")
    shared = {name: value for name, value in table.items() if name not in VERBS}
    own = {verb: _checked(table[verb], f"{where} {verb}", place.parent) for verb in VERBS if verb in table}
    for verb, found in own.items():
        for name in found:
            if name in NOT_FOR[verb]:
                raise InputError(f"{where} {verb}: {verb} does not use {name}: leave it out")
    return Settings(
        **_checked(shared, where, place.parent), said=where if table else "", file=str(place), own=own
    )


def _nearest(folder: Path) -> Path | None:
    places = (above / "pyproject.toml" for above in (folder.resolve(), *folder.resolve().parents))
    return next((place for place in places if place.is_file()), None)


def _read(place: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(place.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(
            f"{place}: cannot be read: {error.strerror or error}; settings are a TOML file"
        ) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{place}: is no TOML: {' '.join(str(error).split())}") from None


def _checked(table: Any, where: str, folder: Path) -> dict[str, Any]:
    """The settings of a table, each of the right kind, by their names with underscores."""
    if not isinstance(table, Mapping):
        raise InputError(f"{where} is no table of settings: write [tool.rankscope.gate] above them")
    out = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in KINDS:
            close = get_close_matches(name, [*KINDS, *VERBS], n=1, cutoff=0.6)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(KINDS)}"
            raise InputError(f"{where}: no setting is called {key}, {hint}")
        if name in out:
            raise InputError(f"{where}: {name} is set twice")
        right, words = KINDS[name]
        if not right(value):
            raise InputError(f"{where}: {key} = {_shown(value)}: {key} is {words}")
        out[name] = [value] if name == "metrics" and isinstance(value, str) else value
        if name == "tolerance" and isinstance(value, dict):
            out[name] = Settled(value)
        if name in FILES:
            out[name] = str(folder / value) if not Path(value).is_absolute() else value
    return out


def _shown(value: Any) -> str:
    text = {True: "true", False: "false"}.get(value, repr(value)) if isinstance(value, bool) else repr(value)
    return text if len(text) <= 80 else text[:79] + "…"


# --- what each setting can be ----------------------------------------------------------------------

Kind = tuple[Callable[[Any], bool], str]


def is_number(value: Any) -> bool:
    """Whether this is a number, and not true or false."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")


def is_allowance(value: Any) -> bool:
    """Whether this can be a tolerance: a number of at least 0, or a percentage such as 2%."""
    if isinstance(value, str):
        try:
            return value.strip().endswith("%") and 0 <= float(value.strip()[:-1]) <= 100
        except ValueError:
            return False
    return is_number(value) and value >= 0


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_text, value))


def _whole(least: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least


def _one_of(*choices: Any) -> Kind:
    return (
        lambda value: any(value == c and type(value) is type(c) for c in choices),
        f"one of {', '.join(repr(c) if isinstance(c, str) else str(c) for c in choices)}",
    )


KINDS: dict[str, Kind] = {
    "primary": (_text, "the metric that decides, like 'nDCG@10'"),
    "metrics": (lambda v: _text(v) or _texts(v), "a metric or a list of them, like ['nDCG@10', 'AP']"),
    "alpha": (lambda v: is_number(v) and 0 < v < 0.5, "a number above 0 and below 0.5, like 0.05"),
    "tolerance": (
        lambda v: (
            is_allowance(v) or (isinstance(v, dict) and bool(v) and all(is_allowance(x) for x in v.values()))
        ),
        "a number of at least 0 like 0.01, a percentage like '2%', or a table of these by metric",
    ),
    "fail_on": _one_of("loss", "tolerance"),
    "test": (_text, "the name of a test, like 't'"),
    "interval": (_text, "the name of an interval, like 't'"),
    "correction": (_text, "the name of a correction, like 'holm'"),
    "tried": (_whole(1), "how many systems were tried, a whole number of at least 1"),
    "margin": (
        lambda v: (
            (is_number(v) and v > 0)
            or (isinstance(v, dict) and bool(v) and all(is_number(x) and x > 0 for x in v.values()))
        ),
        "a difference above 0 that would not matter, like 0.01, or a table of these by metric",
    ),
    "slices": (_text, "a file of attributes of queries, like 'queries.csv'"),
    "clusters": (_text, "a file of the clusters of queries, like 'users.csv'"),
    **{name: (policy.accepts, policy.expects) for name, policy in POLICIES.items()},
}

assert set(KINDS) | {"said", "file", "own"} == {f.name for f in fields(Settings)}
