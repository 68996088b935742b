"""A plan of an experiment, written before it runs: metrics, margins, the split and looks, and the state of its looks."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from rankscope import words
from rankscope.errors import InputError
from rankscope.experiments.request import EXPERIMENT_OPTIONS, ExperimentRequest
from rankscope.files.roles import column_roles
from rankscope.inference.base import Interval, PairedTest
from rankscope.inference.sequential import LEAST
from rankscope.panels.method import Method, find_method
from rankscope.store import write_file

EXPECTS = (
    "a plan is TOML or JSON with options of an experiment (primary, metrics, guardrails, margin ...) and a table looks"
)
OF_LOOKS = ("units", "spending", "taken")
SHARED = ("alpha", "alternative")  # options that all looks share
READING = ("variant", "columns", "log_format", "time_format", "time_zone", "start", "end")
KEYS = ("metrics", *(name for name in EXPERIMENT_OPTIONS if name not in {"assignments", "events"}))


@dataclass(frozen=True)
class Look:
    """One look at an experiment: its ``number``, the ``units`` so far of the ``planned`` ones, and the units at the ``earlier`` looks.

    ``changed`` is true if the plan was changed after its first look.
    """

    number: int
    units: int
    planned: int
    earlier: tuple[int, ...]
    spending: str
    changed: bool = False

    @property
    def last(self) -> bool:
        """True if all planned units are in, so that the rest of alpha is spent."""
        return self.units >= self.planned

    def method(self, method: Method) -> Method:
        """Return a method with the limits of this look."""
        shares = tuple(round(min(units / self.planned, 1.0), 6) for units in (*self.earlier, self.units))
        looks = self.number + (not self.last)
        test = f"group_sequential(look={self.number}, looks={looks}, shares={shares}, spending={self.spending!r})"
        return replace(method, test=find_method(PairedTest, test), interval=find_method(Interval, test))

    def sentence(self, noun: str) -> str:
        """The look in a sentence."""
        share = words.percent(min(self.units / self.planned, 1.0))
        after = "the last look" if self.last else "alpha is left for later looks"
        warning = " The plan was changed after its first look, so the rate of false differences is not known."
        changed = warning if self.changed else ""
        return f"Look {self.number} of the plan: {words.counted(self.units, noun)} of {words.count(self.planned)} ({share}), {after}.{changed}"

    def record(self) -> dict[str, Any]:
        """The look for programs."""
        return {"look": self.number, "units": self.units, "planned_units": self.planned, "earlier": list(self.earlier), "last": self.last, "plan_changed": self.changed}  # fmt: skip


@dataclass(frozen=True)
class ExperimentPlanFile:
    """The ``options`` that a plan sets, its looks, and the ``place`` of its file (empty for a mapping)."""

    options: Mapping[str, Any]
    looks: Mapping[str, Any] | None
    place: str = ""
    digest: str = ""

    @property
    def state(self) -> Path:
        """The file with the looks that were taken."""
        return Path(f"{self.place}.looks.json")

    def applied(self, metrics: Any, request: ExperimentRequest) -> tuple[Any, ExperimentRequest]:
        """Return metrics and options with those of the plan. Raises InputError for an option that both set."""
        usual = {field.name: field.default for field in fields(ExperimentRequest)} | {"metrics": None}
        options = {**vars(request), "metrics": metrics}
        for name, value in self.options.items():
            if options[name] != usual[name] and options[name] != value:
                raise InputError(
                    f"{name} is set by the plan {self.place or 'in the mapping'}: leave it out, or change the plan"
                )
        if self.looks is not None and (
            options["test"] or options["interval"] or {"test", "interval"} & set(self.options)
        ):
            raise InputError("the plan has looks, which set the test and the interval: leave both out")
        for name in SHARED if self.looks is not None else ():
            if name not in self.options and options[name] != usual[name]:
                raise InputError(
                    f"the plan has looks, which share {name}: write {name} = {options[name]!r} into the plan"
                )
        rest = {name: value for name, value in self.options.items() if name != "metrics"}
        return self.options.get("metrics", metrics), replace(request, **rest)

    def reading(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of reading the log, ``options`` and those of the plan, with the variant among the roles. Raises InputError for an option that both set."""
        reading: dict[str, Any] = {name: options.get(name) for name in READING}
        _, request = self.applied(None, ExperimentRequest(**reading))
        planned = {name: value for name in READING if (value := getattr(request, name)) is not None}
        if variant := planned.pop("variant", None):
            roles = column_roles(planned["columns"], "visitor=unit_id") if "columns" in planned else []
            planned["columns"] = {**dict(roles), variant: "variant"}
        return planned

    @property
    def once_read(self) -> ExperimentPlanFile:
        """The plan for a log that was read by its options."""
        return replace(self, options={name: value for name, value in self.options.items() if name not in READING})

    def look_at(self, units: int, noun: str) -> Look | None:
        """Return the look at this number of units: the last one again if none came. Raises InputError for fewer units, or after the last look."""
        if self.looks is None:
            return None
        taken, digest = self._taken()
        planned, spending = self.looks["units"], self.looks.get("spending", "obrien_fleming")
        if taken and units < taken[-1]:
            raise InputError(
                f"look {len(taken)} of the plan was at {words.count(taken[-1])} {words.plural(noun)}, and there are {words.count(units)}: a look takes all {words.plural(noun)}"
            )
        again = bool(taken) and units - taken[-1] < LEAST * planned
        if taken and taken[-1] >= planned and not again:
            raise InputError(
                f"the last look of the plan was at {words.count(taken[-1])} {words.plural(noun)}: its verdict is final. Write a new plan for another experiment"
            )
        earlier = taken[:-1] if again else taken
        at, changed = taken[-1] if again else units, digest not in {"", self.digest}
        return Look(len(earlier) + 1, at, planned, tuple(earlier), spending, changed)

    def _taken(self) -> tuple[Sequence[int], str]:
        """The units at each look so far, and the digest of the plan at the first one."""
        assert self.looks is not None
        if not self.place or not self.state.exists():
            return self.looks.get("taken", []), ""
        try:
            state = json.loads(self.state.read_text(encoding="utf-8"))
            taken = [int(look["units"]) for look in state["looks"]]
            return taken, str(state["plan_sha256"])
        except (OSError, ValueError, KeyError, TypeError):
            raise InputError(f"{self.state}: not the state of a plan: move it away, or restore it") from None

    def write(self, look: Look | None, noun: str) -> None:
        """Write a look that was taken next to the plan."""
        if look is None or not self.place:
            return
        _, digest = self._taken()
        looks = [{"look": at, "units": units} for at, units in enumerate((*look.earlier, look.units), 1)]
        head = {"schema": "rankscope/looks/1", "plan_sha256": digest or self.digest, "unit": noun}
        state = {**head, "planned_units": look.planned, "looks": looks}
        write_file(self.state, [json.dumps(state, indent=2), "\n"])


def read_plan(source: Any) -> ExperimentPlanFile:
    """Read a plan: a TOML or JSON file, or a mapping. Raises InputError for anything else."""
    if isinstance(source, ExperimentPlanFile):
        return source
    if isinstance(source, Mapping):
        return _checked(dict(source), "plan", ExperimentPlanFile({}, None))
    path = Path(source)
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8-sig")
        options = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}; {EXPECTS}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: neither TOML nor JSON: {' '.join(str(error).split())}; {EXPECTS}") from None
    return _checked(options, str(path), ExperimentPlanFile({}, None, str(path), hashlib.sha256(raw).hexdigest()))


def _checked(settings: dict[str, Any], label: str, plan: ExperimentPlanFile) -> ExperimentPlanFile:
    looks = settings.pop("looks", None)
    options = {name.replace("-", "_"): value for name, value in settings.items()}
    for name in options:
        if name in OF_LOOKS:
            raise InputError(f"{label}: {name} belongs to the looks, like looks = {{{name} = ...}}")
        if name not in KEYS:
            raise InputError(
                f"{label}: no option of an experiment is called {name}{words.hint(name, [*KEYS, 'looks'])}"
            )
    if not options.get("primary") and not options.get("metrics"):
        raise InputError(f"{label}: name the metric that decides, like primary = 'CTR'")
    if looks is not None:
        units = looks.get("units") if isinstance(looks, Mapping) else None
        if not isinstance(units, int) or isinstance(units, bool) or units < 4:
            raise InputError(
                f"{label}: looks need the planned number of units of all variants together, like looks = {{units = 40000}}"
            )
        if odd := next((name for name in looks if name not in OF_LOOKS), None):
            raise InputError(f"{label}: looks have no {odd}{words.hint(odd, OF_LOOKS)}")
    return replace(plan, options=options, looks=looks)
