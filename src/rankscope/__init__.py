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

# the module of each name
_PLACES = {
    name: module
    for module, names in {
        "rankscope.errors": ("DataError", "InputError", "RankscopeError"),
        "rankscope.files": ("read_qrels", "read_run"),
        "rankscope.scoring.logs": ("read_log",),
        "rankscope.files.writers": ("write_qrels", "write_run"),
        "rankscope.impressions": ("Log",),
        "rankscope.lists": ("Lists",),
        "rankscope.logs.base": ("OnlineMetric", "Parts", "RatioParts"),
        "rankscope.logs.metrics": (
            "Abandonment",
            "CTR",
            "CVR",
            "Dwell",
            "GoodAbandonment",
            "ItemsPerSession",
            "LTV",
            "ListCTR",
            "Mean",
            "OrderValue",
            "RPM",
            "Ratio",
            "ReformulationRate",
            "Retention",
            "ReturnRate",
            "SatisfiedClicks",
            "SessionLength",
            "SessionsPerUser",
            "TimeToSuccess",
        ),
        "rankscope.lists.overlap": ("jaccard", "rbo"),
        "rankscope.metrics": ("Example", "Metric", "Terms", "parse"),
        "rankscope.tables": ("Qrels", "Run"),
        "rankscope.sharding.partial": ("PartialScores",),
        "rankscope.scoring.scores": ("Scores",),
        "rankscope.verbs.advise.advise": ("advise",),
        "rankscope.verbs.advise.result": ("Advice",),
        "rankscope.verbs.catalogue.catalogue": ("catalogue",),
        "rankscope.verbs.catalogue.result": ("Catalogue", "OnlineCatalogue"),
        "rankscope.verbs.check.check": ("check", "rules"),
        "rankscope.verbs.check.result": ("Inspection",),
        "rankscope.verbs.compare.compare": ("compare",),
        "rankscope.verbs.compare.result": ("Comparison",),
        "rankscope.verbs.demo.demo": ("demo",),
        "rankscope.verbs.diagnose.diagnose": ("diagnose",),
        "rankscope.verbs.diagnose.result": ("Diagnosis",),
        "rankscope.verbs.evaluate.arrays": ("evaluate_arrays",),
        "rankscope.verbs.evaluate.evaluate": ("evaluate",),
        "rankscope.verbs.evaluate.evaluator": ("Evaluator",),
        "rankscope.verbs.evaluate.result": ("BatchScores",),
        "rankscope.verbs.experiment.experiment": ("experiment",),
        "rankscope.verbs.experiment.result": ("Experiment",),
        "rankscope.verbs.explain.explain": ("explain",),
        "rankscope.verbs.explain.result": ("Difference", "Explanation", "Origin"),
        "rankscope.verbs.gate.experiment": ("ExperimentGate",),
        "rankscope.verbs.gate.gate": ("gate",),
        "rankscope.verbs.gate.result": ("Gate",),
        "rankscope.verbs.merge.merge": ("merge",),
        "rankscope.verbs.online.online": ("online",),
        "rankscope.verbs.online.result": ("OnlineValues",),
        "rankscope.verbs.power.experiment": ("ExperimentPlan",),
        "rankscope.verbs.power.power": ("power",),
        "rankscope.verbs.power.result": ("Design", "Plan"),
        "rankscope.verbs.reconcile.reconcile": ("reconcile",),
        "rankscope.verbs.reconcile.result": ("Reconciliation",),
        "rankscope.verbs.pool.pool": ("pool",),
        "rankscope.verbs.pool.result": ("PoolReport",),
        "rankscope.verbs.simulate.result": ("Simulation",),
        "rankscope.verbs.simulate.simulate": ("simulate",),
        "rankscope.verbs.ties.result": ("TieReport",),
        "rankscope.verbs.ties.ties": ("ties",),
        "rankscope.verbs.unjudged.result": ("UnjudgedReport",),
        "rankscope.verbs.unjudged.unjudged": ("unjudged",),
        "rankscope.reporting.agreement": ("OnlineAgreement", "agreement"),
        "rankscope.reporting.report": ("Report", "playground", "report"),
    }.items()
    for name in names
}

if TYPE_CHECKING:
    from typing import Any

    from rankscope import words as words
    from rankscope.errors import DataError as DataError
    from rankscope.errors import InputError as InputError
    from rankscope.errors import RankscopeError as RankscopeError
    from rankscope.files import read_qrels as read_qrels
    from rankscope.files import read_run as read_run
    from rankscope.files.writers import write_qrels as write_qrels
    from rankscope.files.writers import write_run as write_run
    from rankscope.impressions import Log as Log
    from rankscope.lists import Lists as Lists
    from rankscope.lists.overlap import jaccard as jaccard
    from rankscope.lists.overlap import rbo as rbo
    from rankscope.logs.base import OnlineMetric as OnlineMetric
    from rankscope.logs.base import Parts as Parts
    from rankscope.logs.base import RatioParts as RatioParts
    from rankscope.logs.metrics import CTR as CTR
    from rankscope.logs.metrics import CVR as CVR
    from rankscope.logs.metrics import LTV as LTV
    from rankscope.logs.metrics import RPM as RPM
    from rankscope.logs.metrics import Abandonment as Abandonment
    from rankscope.logs.metrics import Dwell as Dwell
    from rankscope.logs.metrics import GoodAbandonment as GoodAbandonment
    from rankscope.logs.metrics import ItemsPerSession as ItemsPerSession
    from rankscope.logs.metrics import ListCTR as ListCTR
    from rankscope.logs.metrics import Mean as Mean
    from rankscope.logs.metrics import OrderValue as OrderValue
    from rankscope.logs.metrics import Ratio as Ratio
    from rankscope.logs.metrics import ReformulationRate as ReformulationRate
    from rankscope.logs.metrics import Retention as Retention
    from rankscope.logs.metrics import ReturnRate as ReturnRate
    from rankscope.logs.metrics import SatisfiedClicks as SatisfiedClicks
    from rankscope.logs.metrics import SessionLength as SessionLength
    from rankscope.logs.metrics import SessionsPerUser as SessionsPerUser
    from rankscope.logs.metrics import TimeToSuccess as TimeToSuccess
    from rankscope.metrics import *
    from rankscope.metrics import Example as Example
    from rankscope.metrics import Metric as Metric
    from rankscope.metrics import Terms as Terms
    from rankscope.metrics import parse as parse
    from rankscope.reporting.agreement import OnlineAgreement as OnlineAgreement
    from rankscope.reporting.agreement import agreement as agreement
    from rankscope.reporting.report import Report as Report
    from rankscope.reporting.report import playground as playground
    from rankscope.reporting.report import report as report
    from rankscope.scoring.logs import read_log as read_log
    from rankscope.scoring.scores import Scores as Scores
    from rankscope.sharding.partial import PartialScores as PartialScores
    from rankscope.tables import Qrels as Qrels
    from rankscope.tables import Run as Run
    from rankscope.verbs.advise.advise import advise as advise
    from rankscope.verbs.advise.result import Advice as Advice
    from rankscope.verbs.catalogue.catalogue import catalogue as catalogue
    from rankscope.verbs.catalogue.result import Catalogue as Catalogue
    from rankscope.verbs.catalogue.result import OnlineCatalogue as OnlineCatalogue
    from rankscope.verbs.check.check import check as check
    from rankscope.verbs.check.check import rules as rules
    from rankscope.verbs.check.result import Inspection as Inspection
    from rankscope.verbs.compare.compare import compare as compare
    from rankscope.verbs.compare.result import Comparison as Comparison
    from rankscope.verbs.demo.demo import demo as demo
    from rankscope.verbs.diagnose.diagnose import diagnose as diagnose
    from rankscope.verbs.diagnose.result import Diagnosis as Diagnosis
    from rankscope.verbs.evaluate.arrays import evaluate_arrays as evaluate_arrays
    from rankscope.verbs.evaluate.evaluate import evaluate as evaluate
    from rankscope.verbs.evaluate.evaluator import Evaluator as Evaluator
    from rankscope.verbs.evaluate.result import BatchScores as BatchScores
    from rankscope.verbs.experiment.experiment import experiment as experiment
    from rankscope.verbs.experiment.result import Experiment as Experiment
    from rankscope.verbs.explain.explain import explain as explain
    from rankscope.verbs.explain.result import Difference as Difference
    from rankscope.verbs.explain.result import Explanation as Explanation
    from rankscope.verbs.explain.result import Origin as Origin
    from rankscope.verbs.gate.experiment import ExperimentGate as ExperimentGate
    from rankscope.verbs.gate.gate import gate as gate
    from rankscope.verbs.gate.result import Gate as Gate
    from rankscope.verbs.merge.merge import merge as merge
    from rankscope.verbs.online.online import online as online
    from rankscope.verbs.online.result import OnlineValues as OnlineValues
    from rankscope.verbs.pool.pool import pool as pool
    from rankscope.verbs.pool.result import PoolReport as PoolReport
    from rankscope.verbs.power.experiment import ExperimentPlan as ExperimentPlan
    from rankscope.verbs.power.power import power as power
    from rankscope.verbs.power.result import Design as Design
    from rankscope.verbs.power.result import Plan as Plan
    from rankscope.verbs.reconcile.reconcile import reconcile as reconcile
    from rankscope.verbs.reconcile.result import Reconciliation as Reconciliation
    from rankscope.verbs.simulate.result import Simulation as Simulation
    from rankscope.verbs.simulate.simulate import simulate as simulate
    from rankscope.verbs.ties.result import TieReport as TieReport
    from rankscope.verbs.ties.ties import ties as ties
    from rankscope.verbs.unjudged.result import UnjudgedReport as UnjudgedReport
    from rankscope.verbs.unjudged.unjudged import unjudged as unjudged


def __getattr__(name: str) -> Any:
    if name == "__all__":  # all that is found here, for ``from rankscope import *``
        return [one for one in __dir__() if not one.startswith("_")]
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _PLACES:
        from importlib import import_module

        value = getattr(import_module(_PLACES[name]), name)
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
