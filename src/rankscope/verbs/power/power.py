"""Plan an evaluation: what the queries at hand can detect, and how many it takes to detect more."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, cast, overload

from rankscope import words
from rankscope.declared import one_of, plain, whole_number
from rankscope.errors import HUGE, DataError, InputError
from rankscope.experiments.request import refuse_for_log
from rankscope.impressions import Log
from rankscope.panels.families import baseline_of, pairs_of
from rankscope.panels.reach import PowerGoal, reach_by, reach_of
from rankscope.scoring.logs import log_of, read_log
from rankscope.scoring.measurements import Measurements, measure
from rankscope.scoring.policies import refuse_unknown
from rankscope.verbs.power.interleaving import InterleavingPlan, PolicyPlan, plan_interleaving, plan_policies
from rankscope.verbs.power.log import ExperimentPlan, lifts_of, plan_of_log
from rankscope.verbs.power.result import VARIANCE_OF, Design, DesignKind, Plan
from rankscope.words import option_named

# only for plans from logs
FOR_LOGS = ("lift", "covariates", "share", "strata", "winsorise", "test", "guardrails", "margin")
OF_ESTIMATES = ("target", "reward", "logging", "model", "examination", "force")
OF_LOGS = ("columns", "difference", "power", "alpha", "comparisons", "n", "clusters", *FOR_LOGS)
OF_POLICIES = ("columns", "lift", "difference", "power", "alpha", "comparisons", "n", "baseline")
OF_DESIGN = ("columns", "lift", "power", "alpha", "comparisons")
USUAL = (0.01, 0.02, 0.05)  # differences on metrics from 0 to 1
# the plans that take an option
BELONGS = {
    "variance": ("design",), "width": ("design",), "systems": ("runs", "design"), "n": ("runs", "deviation"),
    **dict.fromkeys(("baseline", "all_pairs", "clusters", "metrics"), ("runs",)),
}  # fmt: skip


# fmt: off
@overload
def power(*, design: str, **options: Any) -> Design: ...
@overload
def power(qrels: Any, runs: None = None, metrics: Any = None, *, design: Literal["interleaving"], **options: Any) -> InterleavingPlan: ...
@overload
def power(qrels: Any, runs: None, metrics: Any = None, *, lift: Any, **options: Any) -> ExperimentPlan: ...
@overload
def power(qrels: Any, runs: None = None, metrics: Any = None, *, target: Any, **options: Any) -> PolicyPlan: ...
@overload
def power(qrels: Any = None, runs: Any = None, metrics: Any = None, *, design: None = None, **options: Any) -> Plan: ...
def power(  # noqa: PLR0913 - the options of the command line, each with its default
    qrels: Any = None, runs: Any = None, metrics: Any = None, *,
    difference: Any = None, power: float = 0.8, alpha: float = 0.05, comparisons: int = 1, n: int | None = None,
    baseline: str | None = None, all_pairs: bool = False, clusters: Any = None, systems: Any = None,
    deviation: float | None = None, design: str | None = None, variance: float | None = None, width: Any = None,
    lift: Any = None, covariates: Any = None, share: Any = None, strata: str | None = None, winsorise: float | None = None, test: Any = None,
    guardrails: Any = None, margin: Any = None, target: Any = None, reward: str | None = None, logging: Any = None,
    model: Any = None, examination: Any = None, force: bool = False, progress: Callable[[str], None] | None = None, **policies: Any,
) -> Plan | Design | ExperimentPlan | InterleavingPlan | PolicyPlan:
    """What difference the queries at hand can detect, and how many queries other differences need.

    From runs: ``qrels``, ``runs`` and ``metrics`` are as for ``compare`` (without ``runs``, the first is a table of scores or a
    result of ``evaluate``), and so are ``baseline``, ``all_pairs``, ``clusters``, ``systems`` and the ``policies``.
    ``difference``: one that you want to be able to detect, or several. Default: 0.01, 0.02, 0.05 and the observed one. ``power``: the chance
    to detect it. ``alpha``: the chance of a false difference over all ``comparisons``, each at alpha / comparisons. ``n``: plan for n queries.
    Without runs: ``deviation`` is the standard deviation of the differences, known from elsewhere. ``design`` plans the topics of a
    collection: "t" and "anova" for a ``difference``, "interval" for a ``width``, from a ``variance`` (and ``systems``, how many).
    From a log of what users did (in place of ``qrels``, without ``runs``): what an experiment with such users can detect, and how many users and
    days a ``lift`` takes, like 0.02 or "2%" (or an absolute ``difference``); ``metrics`` are online ones, ``share`` is that of users who would
    get the new variant, ``margin`` a loss of the first metric to rule out, ``guardrails`` are such losses by metric, ``test`` may be of looks.
    ``covariates``, ``strata``, ``winsorise`` and ``clusters`` are as for ``experiment``. From a log of interleaved lists, ``design="interleaving"`` plans the lists that
    interleaving and an A/B test need for each ``lift`` in clicks per list, side by side. With a ``target`` (and the
    options of ``estimate``): what the log can show about policies, and the users that a ``lift`` takes; ``metrics`` are estimators.
    Raises InputError for what cannot be used, DataError where nothing can be planned from the queries.
    >>> import rankscope as rs
    >>> rs.power(deviation=0.2, difference=0.05).reaches[0].targets[0].queries
    128
    >>> rs.power(design="t", variance=0.04, difference=0.1).sizes
    ((0.1, 34),)
    """
    args = {name: value for name, value in locals().items() if name not in {"qrels", "runs", "metrics", "progress"}}
    refuse_unknown(policies, "power")
    goal = _aim(power, alpha, comparisons, n)
    log = None if qrels is None or runs is not None else log_of(qrels, columns=policies.get("columns"), target=target)
    if log is None and qrels is not None and runs is None and lift is not None:
        with suppress(InputError):  # a table of users, whose columns have any names
            log = read_log(qrels, columns=policies.get("columns"))
    of_policies = log is not None and target is not None and design is None
    for name in () if of_policies else _set_options(args, *OF_ESTIMATES):
        raise InputError(f"{option_named(name)} is for a plan of policies: give the log of the policy that ran, with --target")
    if log is not None or design == "interleaving":
        return _plan_of_log(log, metrics, goal, {**args.pop("policies"), **args})
    for name in _set_options(args, *FOR_LOGS):
        raise InputError(f"{name} is for a plan from a log of users: leave it out, or give a log")
    way = _way(
        {"runs": qrels if runs is None else runs, "deviation": deviation, "design": design},
        variance=variance, width=width, systems=systems, n=n, baseline=baseline, all_pairs=all_pairs or None,
        clusters=clusters, metrics=metrics,
    )
    sizes = _sizes("difference", difference)
    if way == "design":
        return _design(design, variance, sizes, _sizes("width", width), systems, goal)
    if way == "deviation":
        spread = _number("deviation", deviation, "the standard deviation of differences must be a number above 0, like 0.2")
        return Plan([reach_by(spread, goal, sizes or USUAL)], goal)
    if isinstance(systems, int):
        raise InputError(f"systems={systems}: a number of systems is for design='anova', and runs are counted")
    measured = measure(qrels, runs, metrics, clusters=clusters, systems=systems, progress=progress, **policies)
    return _plan_of(measured, goal, sizes, baseline, all_pairs)
# fmt: on


def _set_options(options: Mapping[str, Any], *names: str) -> list[str]:
    """Options that have a value, of all or of these."""
    return [name for name in names or options if options[name] is not None and options[name] is not False]


def _plan_of_log(
    log: Log | None, metrics: Any, goal: PowerGoal, args: Mapping[str, Any]
) -> ExperimentPlan | InterleavingPlan | PolicyPlan:
    """Return the plan of an experiment, of interleaved lists or of policies. Raises InputError for options of another plan."""
    lift, design, known = args["lift"], args["design"], {"power", "alpha", "comparisons"}
    names = [name for name in _set_options(args) if name not in known]
    if args["target"] is not None and log is not None and design is None:
        for name in [name for name in names if name not in {*OF_POLICIES, *OF_ESTIMATES}]:
            raise InputError(f"{option_named(name)} does not belong to a plan of policies (--target): leave it out")
        options = {name: args[name] for name in (*OF_ESTIMATES, "baseline")}
        return plan_policies(
            log, metrics, goal, lifts=lift, differences=_sizes("difference", args["difference"]), **options
        )
    if design == "interleaving":
        refuse_for_log([name for name in names if name != "design"], "power design='interleaving'", OF_DESIGN)
        return plan_interleaving(log, goal, lifts_of(lift))
    assert log is not None
    refuse_for_log(names, "power", OF_LOGS)
    options = {name: args[name] for name in ("clusters", *FOR_LOGS[1:])}
    return plan_of_log(log, metrics, goal, lifts=lift, differences=_sizes("difference", args["difference"]), **options)


def _plan_of(
    measured: Measurements, goal: PowerGoal, sizes: Sequence[float], baseline: str | None, all_pairs: bool
) -> Plan:
    if all_pairs and baseline is not None:
        raise InputError(f"baseline {baseline!r} and all pairs: ask for only one")
    panels = measured.panels
    against = baseline_of(baseline, panels[0].systems)
    for panel in panels:
        if panel.reason:
            raise InputError(f"{panel.name} is {panel.reason}, which grows with queries: leave it out of the plan")
    widest = max(panels, key=lambda panel: panel.measure.range[1] - panel.measure.range[0])
    low, high = widest.measure.range
    if sizes and sizes[-1] > high - low:  # percent for parts of 1
        raise InputError(
            f"difference={plain(sizes[-1])}: {widest.name} is between {words.amount(low)} and {words.amount(high)}, so no two runs are that far apart: "
            "write 0.05 for five hundredths"
        )
    pairs = pairs_of(panels[0].systems, against, all_pairs)
    reaches = [reach_of(panel, pair, goal, sizes or USUAL, observed=not sizes) for panel in panels for pair in pairs]
    if all(reach.reason for reach in reaches):
        raise DataError(reaches[0].reason)
    return Plan(reaches, goal, measured, None if all_pairs else against)


def _design(
    kind: Any, variance: Any, differences: Sequence[float], widths: Sequence[float], systems: Any, goal: PowerGoal
) -> Design:
    from rankscope.inference.power import topic_set_size

    one_of("design", kind, tuple(VARIANCE_OF))
    kind = cast(DesignKind, kind)
    variance = _number("variance", variance, f"design {kind!r} needs the variance {VARIANCE_OF[kind]}, above 0")
    both = (("difference", differences), ("width", widths))
    (needs, sizes), (other, extra) = both[::-1] if kind == "interval" else both
    if extra:
        raise InputError(f"{other} does not belong to design {kind!r}: it takes a {needs}")
    if not sizes:
        raise InputError(f"design {kind!r} needs a {needs}, like 0.1")
    if kind == "anova":
        whole_number("systems", systems, 2, "design 'anova' needs how many systems will be compared, 2 or more")
    elif systems is not None:
        raise InputError(f"systems does not belong to design {kind!r}: it is about two systems")
    known: dict[str, Any] = {"variance": variance, "systems": systems, "power": goal.power, "alpha": goal.each}
    queries = [topic_set_size(kind, **(known | {needs: size})) for size in sizes]
    return Design(kind, variance, systems, tuple(zip(sizes, queries, strict=True)), goal)


def _way(ways: dict[str, Any], **options: Any) -> str:
    """What to plan from: runs, a deviation or a design. Raises InputError for several, for none, and for options of another."""
    chosen = _set_options(ways)
    if len(chosen) > 1:
        raise InputError(f"{chosen[0]} and {chosen[1]}: plan from runs, from a deviation or by a design, one at a time")
    way = chosen[0] if chosen else ""
    for name in _set_options(options):
        if way != "design" and BELONGS[name] == ("design",):
            raise InputError(f"{name} belongs to a design: name one, t, anova or interval")
        if way and way not in BELONGS[name]:
            beside = f"design {ways['design']!r}" if way == "design" else way
            source = " or a ".join(BELONGS[name])
            raise InputError(f"{name} belongs to a plan from {source}: leave it out with {beside}")
    if not way:
        raise InputError("nothing to plan from: give judgments and two runs, a deviation of differences, or a design")
    return way


def _aim(power: Any, alpha: Any, comparisons: Any, n: Any) -> PowerGoal:
    _number("alpha", alpha, "alpha is a share above 0 and below 0.5, like 0.05", below=0.5)
    _number("power", power, "power is a share above alpha and below 1, like 0.8", alpha, 1.0)
    whole_number("comparisons", comparisons, 1, "comparisons is a whole number of at least 1")
    if n is not None:
        whole_number("n", n, 2, "n is a whole number of at least 2")
    return PowerGoal(power, alpha, comparisons, n)


def _sizes(name: str, values: Any) -> tuple[float, ...]:
    several = hasattr(values, "__iter__") and not isinstance(values, str)
    sizes = () if values is None else values if several else (values,)
    return tuple(sorted({_number(name, value, f"a {name} must be a number above 0, like 0.02") for value in sizes}))


def _number(name: str, value: Any, expects: str, above: float = 0.0, below: float = math.inf) -> float:
    numeric = hasattr(value, "__float__") and not isinstance(value, bool)
    if not (numeric and max(above, 1 / HUGE) < value < min(below, HUGE)):
        raise InputError(f"{name}={value!r}: {expects}")
    return float(value)
