"""rankscope: learn whether rankings are good, in numbers you can defend.

>>> import rankscope as rs
>>> scores = rs.evaluate({"q1": {"a": 1, "b": 0}}, {"q1": {"b": 2.0, "a": 1.0}}, ["RR", "nDCG@10"])
>>> scores["RR"]
0.5

Everything is found here and loaded when it is first used: verbs (``evaluate``), readers (``read_run``,
``read_qrels``), ``parse``, and every metric by its name (``rs.nDCG @ 10``).
"""

from __future__ import annotations

from rankscope._version import __version__ as __version__

TYPE_CHECKING = False  # instead of typing's, which is slow to import: start-up must stay short and interruptible

# the package of each name, with the module in it: module.name
_NAMES = {
    "": "errors.DataError errors.InputError errors.RankscopeError files.read_qrels files.read_run impressions.Log "
        "lists.Lists metrics.Example metrics.Metric metrics.Terms metrics.parse tables.Qrels tables.Run",
    "scoring": "logs.read_log scores.Scores",
    "files": "writers.write_qrels writers.write_run",
    "logs": "base.OnlineMetric base.Parts base.RatioParts metrics.Abandonment metrics.CTR metrics.CVR metrics.Count metrics.Dwell "
        "metrics.GoodAbandonment metrics.ItemsPerSession metrics.LTV metrics.ListCTR metrics.Mean metrics.OrderValue "
        "metrics.RPM metrics.Ratio metrics.ReformulationRate metrics.Retention metrics.ReturnRate "
        "metrics.SatisfiedClicks metrics.SessionLength metrics.SessionsPerUser metrics.Share metrics.TimeToSuccess",
    "lists": "examination.Examination overlap.jaccard overlap.rbo",
    "sharding": "partial.PartialScores",
    "click_models": "base.ClickModel base.FittedModel files.read_model",
    "verbs.clicks": "clicks.clicks result.ClickModels",
    "verbs.position_bias": "position_bias.position_bias result.PositionBias",
    "verbs.advise": "advise.advise result.Advice",
    "verbs.agree": "agree.agree result.RankAgreement",
    "verbs.catalogue": "catalogue.catalogue result.Catalogue result.OnlineCatalogue",
    "verbs.check": "check.check check.rules result.Inspection",
    "verbs.compare": "compare.compare result.Comparison collections.compare_collections collections.CollectionComparison",
    "verbs.contexts": "contexts.contexts result.ContextScores",
    "verbs.demo": "demo.demo",
    "verbs.diagnose": "diagnose.diagnose result.Diagnosis",
    "estimators": "base.Estimator events.Earned events.LoggedEvents",
    "verbs.estimate": "estimate.estimate result.Estimates",
    "verbs.diversify": "diversify.diversify result.Diversification",
    "verbs.evaluate": "arrays.evaluate_arrays evaluate.evaluate evaluator.Evaluator result.BatchScores",
    "verbs.experiment": "experiment.experiment result.Experiment",
    "verbs.explain": "explain.explain result.Difference result.Explanation result.Origin",
    "verbs.fuse": "fuse.fuse",
    "verbs.gate": "gate.gate result.ExperimentGate result.Gate result.LogGate",
    "behaviour": "mixing.Mixing mixing.TeamDraft mixing.Balanced mixing.DebiasedBalanced mixing.Probabilistic mixing.PairwisePreference optimised.Optimised",
    "interleavings": "credits.Credit",
    "verbs.interleave": "interleave.interleave interleave.MixedLists",
    "verbs.interleaving": "interleaving.interleaving result.Interleaving",
    "verbs": "launches.launches",
    "verbs.launches": "result.LaunchCorrelations result.LaunchList result.LaunchPrediction",
    "verbs.learn": "learn.learn result.Learning",
    "verbs.merge": "merge.merge",
    "verbs.online": "online.online result.OnlineValues",
    "verbs.power": "interleaving.InterleavingPlan interleaving.PolicyPlan log.ExperimentPlan power.power result.Design result.Plan",
    "verbs.reconcile": "reconcile.reconcile result.Reconciliation",
    "reporting.sections": "reproduce.methods",
    "verbs.pool": "pool.pool result.PoolReport",
    "verbs.rerank": "rerank.rerank result.Reranking",
    "verbs.reproduce": "reproduce.reproduce result.Reproduction",
    "verbs.simulate": "aa.FalseAlarms aa.simulate_aa result.Simulation simulate.simulate simulate.simulate_launches",
    "verbs.ties": "result.TieReport ties.ties",
    "verbs.tune": "result.Tuning tune.tune",
    "verbs.unjudged": "result.UnjudgedReport unjudged.unjudged",
    "reporting": "agreement.OnlineAgreement agreement.agreement report.Report report.playground report.report",
}  # fmt: skip
_PLACES = {
    name: ".".join(filter(None, ("rankscope", package, module)))
    for package, names in _NAMES.items()
    for module, _, name in (place.partition(".") for place in names.split())
}

# fmt: off
if TYPE_CHECKING:
    from typing import Any

    from rankscope import words as words
    from rankscope.lists.examination import Examination as Examination
    from rankscope.click_models.base import ClickModel as ClickModel, FittedModel as FittedModel
    from rankscope.click_models.files import read_model as read_model
    from rankscope.errors import DataError as DataError, InputError as InputError, RankscopeError as RankscopeError
    from rankscope.files import read_qrels as read_qrels, read_run as read_run
    from rankscope.files.writers import write_qrels as write_qrels, write_run as write_run
    from rankscope.impressions import Log as Log
    from rankscope.lists import Lists as Lists
    from rankscope.lists.overlap import jaccard as jaccard, rbo as rbo
    from rankscope.logs.base import OnlineMetric as OnlineMetric, Parts as Parts, RatioParts as RatioParts
    from rankscope.logs.metrics import (
        CTR as CTR, CVR as CVR, LTV as LTV, RPM as RPM, Abandonment as Abandonment, Count as Count, Dwell as Dwell,
        GoodAbandonment as GoodAbandonment, ItemsPerSession as ItemsPerSession, ListCTR as ListCTR, Mean as Mean,
        OrderValue as OrderValue, Ratio as Ratio, ReformulationRate as ReformulationRate, Retention as Retention,
        ReturnRate as ReturnRate, SatisfiedClicks as SatisfiedClicks, SessionLength as SessionLength,
        SessionsPerUser as SessionsPerUser, Share as Share, TimeToSuccess as TimeToSuccess,
    )
    from rankscope.metrics import *
    from rankscope.metrics import Example as Example, Metric as Metric, Terms as Terms, parse as parse
    from rankscope.reporting.agreement import OnlineAgreement as OnlineAgreement, agreement as agreement
    from rankscope.reporting.report import Report as Report, playground as playground, report as report
    from rankscope.scoring.logs import read_log as read_log
    from rankscope.scoring.scores import Scores as Scores
    from rankscope.sharding.partial import PartialScores as PartialScores
    from rankscope.tables import Qrels as Qrels, Run as Run
    from rankscope.verbs.advise.advise import advise as advise
    from rankscope.verbs.agree.agree import agree as agree
    from rankscope.verbs.agree.result import RankAgreement as RankAgreement
    from rankscope.verbs.advise.result import Advice as Advice
    from rankscope.verbs.catalogue.catalogue import catalogue as catalogue
    from rankscope.verbs.catalogue.result import Catalogue as Catalogue, OnlineCatalogue as OnlineCatalogue
    from rankscope.verbs.check.check import check as check, rules as rules
    from rankscope.verbs.check.result import Inspection as Inspection
    from rankscope.verbs.clicks.clicks import clicks as clicks
    from rankscope.verbs.clicks.result import ClickModels as ClickModels
    from rankscope.verbs.compare.collections import CollectionComparison as CollectionComparison
    from rankscope.verbs.compare.collections import compare_collections as compare_collections
    from rankscope.verbs.compare.compare import compare as compare
    from rankscope.verbs.compare.result import Comparison as Comparison
    from rankscope.verbs.contexts.contexts import contexts as contexts
    from rankscope.verbs.contexts.result import ContextScores as ContextScores
    from rankscope.verbs.demo.demo import demo as demo
    from rankscope.verbs.diagnose.diagnose import diagnose as diagnose
    from rankscope.verbs.diagnose.result import Diagnosis as Diagnosis
    from rankscope.estimators.base import Estimator as Estimator
    from rankscope.estimators.events import Earned as Earned, LoggedEvents as LoggedEvents
    from rankscope.verbs.estimate.estimate import estimate as estimate
    from rankscope.verbs.estimate.result import Estimates as Estimates
    from rankscope.verbs.diversify.diversify import diversify as diversify
    from rankscope.verbs.diversify.result import Diversification as Diversification
    from rankscope.verbs.evaluate.arrays import evaluate_arrays as evaluate_arrays
    from rankscope.verbs.evaluate.evaluate import evaluate as evaluate
    from rankscope.verbs.evaluate.evaluator import Evaluator as Evaluator
    from rankscope.verbs.evaluate.result import BatchScores as BatchScores
    from rankscope.verbs.experiment.experiment import experiment as experiment
    from rankscope.verbs.experiment.result import Experiment as Experiment
    from rankscope.verbs.explain.explain import explain as explain
    from rankscope.verbs.explain.result import Difference as Difference, Explanation as Explanation, Origin as Origin
    from rankscope.verbs.fuse.fuse import fuse as fuse
    from rankscope.verbs.gate.gate import gate as gate
    from rankscope.verbs.gate.result import ExperimentGate as ExperimentGate, Gate as Gate, LogGate as LogGate
    from rankscope.behaviour.mixing import (
        Balanced as Balanced, DebiasedBalanced as DebiasedBalanced, Mixing as Mixing, PairwisePreference as PairwisePreference,
        Probabilistic as Probabilistic, TeamDraft as TeamDraft,
    )
    from rankscope.behaviour.optimised import Optimised as Optimised
    from rankscope.interleavings.credits import Credit as Credit
    from rankscope.verbs.interleave.interleave import MixedLists as MixedLists, interleave as interleave
    from rankscope.verbs.interleaving.interleaving import interleaving as interleaving
    from rankscope.verbs.interleaving.result import Interleaving as Interleaving
    from rankscope.verbs.launches import launches as launches
    from rankscope.verbs.launches.result import LaunchCorrelations as LaunchCorrelations, LaunchList as LaunchList
    from rankscope.verbs.launches.result import LaunchPrediction as LaunchPrediction
    from rankscope.verbs.learn.learn import learn as learn
    from rankscope.verbs.learn.result import Learning as Learning
    from rankscope.verbs.merge.merge import merge as merge
    from rankscope.verbs.online.online import online as online
    from rankscope.verbs.online.result import OnlineValues as OnlineValues
    from rankscope.reporting.sections.reproduce import methods as methods
    from rankscope.verbs.pool.pool import pool as pool
    from rankscope.verbs.pool.result import PoolReport as PoolReport
    from rankscope.verbs.reproduce.reproduce import reproduce as reproduce
    from rankscope.verbs.reproduce.result import Reproduction as Reproduction
    from rankscope.verbs.position_bias.position_bias import position_bias as position_bias
    from rankscope.verbs.position_bias.result import PositionBias as PositionBias
    from rankscope.verbs.power.interleaving import InterleavingPlan as InterleavingPlan, PolicyPlan as PolicyPlan
    from rankscope.verbs.power.log import ExperimentPlan as ExperimentPlan
    from rankscope.verbs.power.power import power as power
    from rankscope.verbs.power.result import Design as Design, Plan as Plan
    from rankscope.verbs.reconcile.reconcile import reconcile as reconcile
    from rankscope.verbs.reconcile.result import Reconciliation as Reconciliation
    from rankscope.verbs.rerank.rerank import rerank as rerank
    from rankscope.verbs.rerank.result import Reranking as Reranking
    from rankscope.verbs.simulate.aa import FalseAlarms as FalseAlarms, simulate_aa as simulate_aa
    from rankscope.verbs.simulate.result import Simulation as Simulation
    from rankscope.verbs.simulate.simulate import simulate as simulate, simulate_launches as simulate_launches
    from rankscope.verbs.ties.result import TieReport as TieReport
    from rankscope.verbs.ties.ties import ties as ties
    from rankscope.verbs.tune.result import Tuning as Tuning
    from rankscope.verbs.tune.tune import tune as tune
    from rankscope.verbs.unjudged.result import UnjudgedReport as UnjudgedReport
    from rankscope.verbs.unjudged.unjudged import unjudged as unjudged
# fmt: on


def _without_frames(value: Any) -> Any:
    """Return a function that shows errors raised on purpose without the frames inside of rankscope; anything else as it is."""
    import functools
    import types

    if not isinstance(value, types.FunctionType):
        return value
    from rankscope.errors import RankscopeError

    @functools.wraps(value)
    def call(*args: Any, **options: Any) -> Any:
        try:
            return value(*args, **options)
        except RankscopeError as error:
            raise error.with_traceback(None)  # noqa: B904 - the same error, its cause kept

    call.__module__, call.__qualname__ = "rankscope", value.__name__  # its place, for pickle
    return call


def __getattr__(name: str) -> Any:
    if name == "__all__":  # all that is found here, for ``from rankscope import *``
        return [one for one in __dir__() if not one.startswith("_")]
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _PLACES:
        from importlib import import_module

        value = _without_frames(getattr(import_module(_PLACES[name]), name))
    elif name == "words":  # a module, for which the catalogue of metrics need not be loaded
        from importlib import import_module

        value = import_module("rankscope.words")
    else:
        from rankscope.metrics import CATALOGUE

        value = CATALOGUE.get(name)
        if value is None or value.__name__ != name:
            from rankscope.words import hint

            raise AttributeError(f"module 'rankscope' has no attribute {name!r}{hint(name, __dir__(), otherwise='')}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from rankscope.metrics import CATALOGUE

    return sorted({"__version__", *_PLACES, *(cls.__name__ for cls in CATALOGUE.values())})
