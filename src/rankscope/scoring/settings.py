"""The settings of a project: ``[tool.rankscope]`` in pyproject.toml, or a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rankscope import words
from rankscope.errors import InputError
from rankscope.scoring.policies import POLICIES

VERBS = ("compare", "gate", "experiment")


@dataclass(frozen=True)
class Setting:
    """The values that a setting accepts: a test, and the same in words.

    ``only`` names the verbs that use it, if not all do. ``logs`` is true if it holds for rankings and for logs, and ``experiments`` if
    an experiment has it in a table of its own. The path of a ``file`` starts at the folder of the settings.
    """

    accepts: Callable[[Any], bool]
    expects: str
    only: tuple[str, ...] = ()
    file: bool = False
    logs: bool = False
    experiments: bool = False

    def serves(self, verb: str) -> bool:
        """True if a verb uses it."""
        if verb == "experiment":
            return self.experiments
        return not self.only or verb in self.only


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")


def _is_loss(value: Any, *, above_zero: bool = False) -> bool:
    """True for a number, or a percentage as text, that a gate can accept as a loss, and above 0 for a margin."""
    from rankscope.panels.method import read_margin, read_tolerance

    if isinstance(value, str) and not value.strip().endswith("%"):
        return False
    try:
        return bool(read_margin(value, "margin") if above_zero else read_tolerance(value, "tolerance"))
    except InputError:
        return False


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _each(value: Any) -> list[Any]:
    return [*value.values()] or [None] if isinstance(value, dict) else [value]


SETTINGS: dict[str, Setting] = {
    "primary": Setting(_is_text, "the main metric, like 'nDCG@10'", experiments=True),
    "metrics": Setting(
        lambda v: all(map(_is_text, v)) and bool(v) if isinstance(v, list) else _is_text(v),
        "a metric or a list of metrics, like ['nDCG@10', 'AP']",
        experiments=True,
    ),
    "alpha": Setting(
        lambda v: _is_number(v) and 0 < v < 0.5, "a number above 0 and below 0.5, like 0.05", logs=True,
        experiments=True,
    ),
    "tolerance": Setting(
        lambda v: all(map(_is_loss, _each(v))),
        "a number of at least 0 like 0.01, a percentage like '2%', or a table with one per metric",
        only=("gate",),
    ),
    "fail_on": Setting(lambda v: v in ("loss", "tolerance"), "one of 'loss', 'tolerance'", only=("gate",), logs=True),
    "test": Setting(_is_text, "the name of a test, like 't'", experiments=True),
    "interval": Setting(_is_text, "the name of an interval, like 't'", experiments=True),
    "correction": Setting(_is_text, "the name of a correction, like 'holm'", only=("compare",), experiments=True),
    "alternative": Setting(_is_text, "a side to test, like 'better'", only=("experiment",), experiments=True),
    "all_pairs": Setting(lambda v: isinstance(v, bool), "true or false", only=("experiment",), experiments=True),
    "tried": Setting(
        lambda v: _is_number(v) and isinstance(v, int) and v >= 1,
        "the number of systems that were tried, a whole number of at least 1",
        only=("compare",),
    ),
    "margin": Setting(
        lambda v: all(_is_loss(one, above_zero=True) for one in _each(v)),
        "a negligible difference above 0, like 0.01, a percentage like '1%', or a table with one per metric",
        only=("compare",),
        experiments=True,
    ),
    "slices": Setting(_is_text, "a file of attributes of queries, like 'queries.csv'", file=True),
    "clusters": Setting(_is_text, "a file of the clusters of queries, like 'users.csv'", file=True),
    **{
        name: Setting(policy.accepts, policy.expects, file=policy.metavar == "FILE")
        for name, policy in POLICIES.items()
    },
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """The ``values`` of a project's settings, by the names in ``SETTINGS``.

    ``place`` names their table (empty without settings); ``file`` is the file that was read; ``own`` are the values that hold
    for one verb.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    place: str = ""
    file: str = ""
    own: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def of(self, verb: str) -> Settings:
        """Return the settings that a verb uses: its own table first, then the shared one. Shared settings of an experiment hold for logs."""
        shared = self.of_log if verb == "experiment" else self.values
        values = {**shared, **self.own.get(verb, {})}
        used = {name: value for name, value in values.items() if SETTINGS[name].serves(verb)}
        return replace(self, values=used, own={})

    @property
    def of_log(self) -> dict[str, Any]:
        """The settings that hold for a log."""
        return {name: value for name, value in self.values.items() if SETTINGS[name].logs}

    @property
    def metrics(self) -> Any:
        """The metrics that are set, otherwise the main one, otherwise None."""
        return self.values.get("metrics") or self.values.get("primary")

    @property
    def options(self) -> dict[str, Any]:
        """All that is set but the metrics."""
        return {name: value for name, value in self.values.items() if name not in {"metrics", "primary"}}


def settings_of(path: str | None = None, start: str | Path | None = None, verb: str | None = None) -> Settings:
    """The settings in a TOML file, or in the nearest pyproject.toml from the folder ``start`` upwards, or those that a ``verb`` uses.

    A file that is named holds them in ``[tool.rankscope]`` or at its top. A pyproject.toml that was looked for holds them in
    ``[tool.rankscope]``, and without that table nothing is set. ``[tool.rankscope.gate]``, ``[tool.rankscope.compare]``
    and ``[tool.rankscope.experiment]`` hold for one verb. Files are named from the folder of the settings.

    Raises InputError for a file that cannot be read, an unknown name, or a value that cannot be right.
    """
    try:
        here = (Path.cwd() if start is None else Path(start)).resolve()
    except FileNotFoundError:  # the working directory was deleted, and no settings are above it
        here = Path("/")
    projects = (above / "pyproject.toml" for above in (here, *here.parents))
    file = next((one for one in projects if one.is_file()), None) if path is None else Path(path)
    if file is None:
        return Settings()
    tool = _read(file).get("tool", {})
    table = tool.get("rankscope") if isinstance(tool, Mapping) else None
    place = f"{file.name if path is None else path} [tool.rankscope]"
    if table is None:
        if path is None or file.name == "pyproject.toml":
            return Settings(file=str(file))
        table, place = _read(file), str(path)
    if not isinstance(table, Mapping):
        raise InputError(f"{place} must be a table: write depth = 100 and the like below [tool.rankscope]")
    own = {user: _check(table[user], f"{place} {user}", file.parent) for user in VERBS if user in table}
    for user, values in own.items():
        for name in values:
            if not SETTINGS[name].serves(user):
                raise InputError(f"{place} {user}: {user} does not use {name}: leave it out")
    shared = {name: value for name, value in table.items() if name not in VERBS}
    settings = Settings(_check(shared, place, file.parent), place if table else "", str(file), own)
    return settings if verb is None else settings.of(verb)


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}; settings are a TOML file") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{file}: not TOML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise InputError(f"{file}: is nested too deeply; settings are tables of names and values") from None


def _check(table: Any, place: str, folder: Path) -> dict[str, Any]:
    if not isinstance(table, Mapping):
        raise InputError(f"{place} must be a table of settings: write [tool.rankscope.gate] above them")
    out: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in SETTINGS:
            hint = words.hint(name, [*SETTINGS, *VERBS], most=len(SETTINGS) + len(VERBS))
            raise InputError(f"{place}: no setting is called {key}{hint}")
        if name in out:
            raise InputError(f"{place}: {name} is set twice")
        setting = SETTINGS[name]
        if not setting.accepts(value):
            text = str(value).lower() if isinstance(value, bool) else repr(value)
            raise InputError(f"{place}: {key} = {words.short(text, 80)}: {key} is {setting.expects}")
        if name == "metrics" and isinstance(value, str):
            value = [value]  # noqa: PLW2901
        if name == "tolerance" and isinstance(value, dict):
            from rankscope.panels.tolerance import Defaults

            value = Defaults(value)  # noqa: PLW2901
        out[name] = str(folder / value) if setting.file else value
    return out
