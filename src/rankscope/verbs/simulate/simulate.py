"""Simulate what users do: a log of impressions, or an experiment whose true effects are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Literal

from rankscope import words
from rankscope.behaviour.browsing import Browsing
from rankscope.behaviour.policies import Fixed, LoggingPolicy, PlackettLuce
from rankscope.declared import one_of, whole_number
from rankscope.engines.base import Order
from rankscope.engines.top import top
from rankscope.errors import InputError
from rankscope.logs.base import OnlineMetric, parse_online
from rankscope.logs.metrics import CTR, CVR, RPM, ListCTR, Quantile, SatisfiedClicks, SessionsPerUser
from rankscope.parallel import check_memory
from rankscope.scoring.inputs import clean, distinct_names, label_of, read_any, read_inputs
from rankscope.scoring.request import Request
from rankscope.show.result import Col, Result, View
from rankscope.verbs.simulate.result import Simulation
from rankscope.worlds.events import Arm, Behaviour
from rankscope.worlds.items import Candidates, judged_candidates, made_candidates, quality_scores
from rankscope.worlds.launches import LaunchWorld
from rankscope.worlds.log import Scenario, play, true_effects
from rankscope.worlds.world import World

KINDS = ("log", "experiment")
QUALITY = {"log": (0.6,), "experiment": (0.5, 0.6)}  # of rankers, unless others are named
BEFORE = 14  # days over which covariates of an experiment are measured
TRUTH = 20_000  # users who meet every variant
USUAL = (CTR, ListCTR, SatisfiedClicks, CVR, RPM, SessionsPerUser)


# fmt: off
def simulate(  # noqa: PLR0913 - the options of the command line, each with its default
    kind: Literal["log", "experiment"] = "log", *, users: int = 5000, days: int = 14, items: int = 20, seed: int = 0,
    quality: float | Sequence[float] | None = None, policy: Any = None, browsing: Any = "PositionBased",
    qrels: Any = None, runs: Any = None, interleave: bool = False, split: Sequence[float] | None = None,
    truth: int | None = None, metrics: Any = None, **parameters: Any,
) -> Simulation:
    """Make a log of users of a search or recommender, or of an experiment with them. All that is true of it is known.

    Users come at random, each with a pace of their own (a few come very often), ask, look at the list, click on what draws them, stay,
    buy, ask again, come back another day, and leave for good sooner where lists were bad. One ``seed`` gives one log.

    - ``kind``: ``"log"`` for lists by one or several policies, ``"experiment"`` for users who were given variants.
    - ``users``, ``days``, ``items`` of a list, and the ``seed`` that all chance depends on.
    - ``quality``: of the ranker, from 0 (by chance) to 1 (ideal). Several for several rankers. In an experiment the first is the control.
    - ``policy``: how a list is made of a ranker's scores: ``"Fixed"``, ``"PlackettLuce(temperature=0.3)"``, ``"EpsilonShuffle"``,
      ``"TopShuffle(top=5)"``. Of a log several may be named, and each list is by one of them. The log says exactly how probable each
      list was: ``p_item_pos``, ``p_prefix`` and ``p_slate``.
    - ``browsing``: how users look at a list: ``"PositionBased"`` or ``"Cascade"``.
    - ``qrels``, ``runs``: judgments that say what draws clicks, and rankings to show, as ``evaluate`` takes them. Without runs, rankers
      of the ``quality`` order what is judged.
    - ``interleave``: of a log, whether lists mix two rankers' items (team draft). Columns ``team``, ``rank_a``, ``rank_b``.
    - ``split``: of an experiment, the shares of users who are given each variant; even unless given.
    - ``truth``: of an experiment, how many further users meet every variant, to know the true effects on the ``metrics``; 0 for none.
    - ``metrics``: of an experiment, those whose true effects are told: ``"CTR"``, ``"RPM"``, ``"Retention(days=7)"`` and the like.
    - ``parameters``: all else of the world, like ``taste=0.3``; docs/online.md lists them.

    ``.log`` is a Polars frame with one row per shown item, ``.units`` one with one row per user (with what they did before, where that is
    measured), ``.effects`` the truth; ``.write_log(path)`` writes the log. Raises InputError for what is out of bounds.

    >>> made = simulate("experiment", users=300, seed=7, truth=500)
    >>> made.log.columns[:7]
    ['unit_id', 'session_id', 'impression_id', 'query_id', 'timestamp', 'item_id', 'position']
    >>> made.units["variant"].unique().sort().to_list(), made["treatment", "CTR"].difference > 0
    (['control', 'treatment'], True)
    """
    one_of("kind", kind, KINDS)
    experiment = kind == "experiment"
    world = World.of({"before": BEFORE if experiment else 0, **parameters, "users": users, "days": days, "items": items, "seed": seed})
    check_memory("simulate", world.size, "this log")
    policies = _policies(policy, experiment, interleave)
    candidates, scores = _rankers(world, kind, quality, qrels, runs)
    arms = _arms(scores, policies, world, experiment, interleave)
    shares = _shares(split, len(arms), experiment)
    scenario = Scenario(Behaviour(world, candidates, Browsing.read(browsing)), arms, shares, experiment)
    everybody = _truth(truth, experiment)
    wanted = _metrics(metrics, experiment)
    return Simulation(kind, scenario, *play(scenario), true_effects(scenario, wanted, everybody) if everybody else [], everybody)
# fmt: on


def _policies(policy: Any, experiment: bool, interleave: bool) -> list[LoggingPolicy]:
    if policy is None:
        return [Fixed() if experiment or interleave else PlackettLuce()]
    out = list(dict.fromkeys(LoggingPolicy.read_all(policy)))
    if len(out) != 1 and (experiment or not out):
        raise InputError(f"policy={policy!r}: the variants of an experiment are shown by one policy; name one" if out else "policy=[]: name a policy, like Fixed")  # fmt: skip
    if interleave and out != [Fixed()]:
        raise InputError(
            f"policy={policy!r}: interleaved lists are made of two rankings as they are; leave the policy out"
        )
    return out


def _rankers(world: World, kind: str, quality: Any, qrels: Any, runs: Any) -> tuple[Candidates, list[tuple[str, Any]]]:
    """The candidates, and each ranker by its name; without a name where it is known by its quality alone."""
    if runs is not None and qrels is None:
        raise InputError("runs need judgments, which decide the clicks: give qrels as well")
    if runs is not None and quality is not None:
        raise InputError("runs are rankings of their own: give them or a quality, not both")
    if qrels is None:
        candidates = made_candidates(world)
    else:
        candidates, scores, names = _judged(world, qrels, runs)
        if runs is not None:
            return candidates, list(zip(names, scores, strict=True))
    several = isinstance(quality, Iterable) and not isinstance(quality, str)
    each = QUALITY[kind] if quality is None else quality if several else (quality,)
    scored = [(value, quality_scores(candidates, value)) for value in each]
    return candidates, [(f"quality {value:g}", scores) for value, scores in scored]


def _judged(world: World, qrels: Any, runs: Any) -> tuple[Candidates, list[Any], list[str]]:
    policies = Request.of(None, {"duplicates": "best"}).policies
    grades, read = (read_any("qrels", qrels), []) if runs is None else read_inputs(qrels, runs, policies)
    judged = clean(grades, policies, "qrels").table.frame.select("query_id", "doc_id", "grade")
    names = distinct_names([label_of(data, name, i + 1) for i, (name, data) in enumerate(read)])
    rankings = [
        top(clean(data, policies, "run").data, Order("trec", None), world.candidates, name)
        for name, (_, data) in zip(names, read, strict=True)
    ]
    candidates, scores = judged_candidates(world, judged, rankings)
    return candidates, scores, names


def _arms(
    rankers: list[tuple[str, Any]], policies: list[LoggingPolicy], world: World, experiment: bool, interleave: bool
) -> list[Arm]:
    if experiment:
        if len(rankers) < 2:
            raise InputError(
                "an experiment has two variants or more: give the quality of each, like quality=(0.5, 0.6), or two runs"
            )
        if interleave:
            raise InputError("interleave is of a log: in an experiment each user meets one ranker")
        known = rankers[0][0].startswith("quality ")
        usual = ["control", "treatment", *(f"treatment_{n}" for n in range(2, len(rankers)))]
        names = usual if known else [name for name, _ in rankers]
        return [Arm(name, scores, policies[0], world.items) for name, (_, scores) in zip(names, rankers, strict=True)]
    if interleave:
        if len(rankers) != 2:
            raise InputError(
                f"interleaving takes two rankers, not {words.count(len(rankers))}: give two values of quality, like 0.5 and 0.6, or two runs"
            )
        (one, scores), (other, rival) = rankers
        return [Arm(f"{one} and {other}", scores, policies[0], world.items, rival)]
    if not rankers:
        raise InputError("quality=(): name the quality of a ranker, like 0.6")
    out = []
    for name, scores in rankers:
        for policy in policies:
            own = name if len(policies) == 1 else str(policy) if len(rankers) == 1 else f"{name}, {policy}"
            out.append(Arm(own, scores, policy, world.items))
    return out


def _shares(split: Any, arms: int, experiment: bool) -> list[float]:
    if split is None:
        return [1 / arms] * arms
    if not experiment:
        raise InputError("split is of an experiment: a log's policies make equal shares of its lists")
    shares = list(split) if isinstance(split, Iterable) and not isinstance(split, str) else [split]
    known = [x for x in shares if isinstance(x, int | float) and not isinstance(x, bool) and 0 < x < float("inf")]
    if len(known) != len(shares) or len(shares) != arms:
        like = ", ".join(["1"] * arms)
        raise InputError(
            f"split={split!r}: give a share above 0 for each of {words.counted(arms, 'variant')}, like {like}"
        )
    return [float(x) / sum(shares) for x in shares]


def _truth(users: int | None, experiment: bool) -> int:
    if not experiment:
        if users:
            raise InputError("truth is of an experiment: a log has no effects")
        return 0
    value = TRUTH if users is None else users
    whole_number("truth", value, 0, "how many users meet every variant: a whole number, 0 for none")
    return value


def _metrics(chosen: Any, experiment: bool) -> list[OnlineMetric]:
    if chosen is not None and not experiment:
        raise InputError("metrics are for the true effects of an experiment: leave them out")
    if chosen is None:
        return [cls() for cls in USUAL]
    each = [chosen] if isinstance(chosen, str | type | OnlineMetric) else list(chosen)
    metrics = list(dict.fromkeys(parse_online(one) for one in each))
    if rows := [metric for metric in metrics if isinstance(metric, Quantile)]:
        raise InputError(
            f"metrics={rows[0]}: the true effect is worked out of what users add up to, not of a quantile of rows; name another metric"
        )
    return metrics


NAMES = ("launch", "date", "launched", "side", "metric", "difference", "standard_error", "baseline_value")


@dataclass(frozen=True, eq=False, repr=False)
class SimulatedLaunches(Result):
    """Launches of a ``world``: ``to_csv()`` holds one row per launch and metric, ``world.correlation`` the true correlation."""

    world: LaunchWorld
    made: Sequence[Mapping[str, Any]]

    schema: ClassVar[str] = "simulate_launches/1"
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
