"""rankscope: learn whether rankings are good, in numbers you can defend.

>>> import rankscope as rs
>>> scores = rs.evaluate({"q1": {"a": 1, "b": 0}}, {"q1": {"b": 2.0, "a": 1.0}}, ["RR", "nDCG@10"])
>>> scores["RR"]
0.5

Everything is found here and loaded when it is first used: verbs (``evaluate``), readers (``read_run``,
``read_qrels``), ``parse``, and every metric by its name (``rs.nDCG @ 10``).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankscope import words as words  # at once: __getattr__ below would look for a metric of this name
from rankscope._version import __version__ as __version__

_PLACES = {
    "advise": "rankscope.verbs.advise.advise",
    "Advice": "rankscope.verbs.advise.result",
    "evaluate": "rankscope.verbs.evaluate.evaluate",
    "catalogue": "rankscope.verbs.catalogue.catalogue",
    "compare": "rankscope.verbs.compare.compare",
    "Comparison": "rankscope.verbs.compare.result",
    "gate": "rankscope.verbs.gate.gate",
    "Gate": "rankscope.verbs.gate.result",
    "check": "rankscope.verbs.check.check",
    "Inspection": "rankscope.verbs.check.result",
    "power": "rankscope.verbs.power.power",
    "Plan": "rankscope.verbs.power.result",
    "explain": "rankscope.verbs.explain.explain",
    "diagnose": "rankscope.verbs.diagnose.diagnose",
    "Diagnosis": "rankscope.verbs.diagnose.result",
    "ties": "rankscope.verbs.ties.ties",
    "unjudged": "rankscope.verbs.unjudged.unjudged",
    "reconcile": "rankscope.verbs.reconcile.reconcile",
    "report": "rankscope.reporting.report",
    "Report": "rankscope.reporting.report",
    "Scores": "rankscope.scoring.scores",
    "read_run": "rankscope.files",
    "read_qrels": "rankscope.files",
    "Run": "rankscope.tables",
    "Qrels": "rankscope.tables",
    "parse": "rankscope.metrics",
    "Metric": "rankscope.metrics",
    "Terms": "rankscope.metrics",
    "Example": "rankscope.metrics",
    "Lists": "rankscope.lists",
    "RankscopeError": "rankscope.errors",
    "InputError": "rankscope.errors",
    "DataError": "rankscope.errors",
}

if TYPE_CHECKING:
    from rankscope.errors import DataError as DataError
    from rankscope.errors import InputError as InputError
    from rankscope.errors import RankscopeError as RankscopeError
    from rankscope.files import read_qrels as read_qrels
    from rankscope.files import read_run as read_run
    from rankscope.lists import Lists as Lists
    from rankscope.metrics import *
    from rankscope.metrics import Example as Example
    from rankscope.metrics import Metric as Metric
    from rankscope.metrics import Terms as Terms
    from rankscope.metrics import parse as parse
    from rankscope.reporting.report import Report as Report
    from rankscope.reporting.report import report as report
    from rankscope.scoring.scores import Scores as Scores
    from rankscope.tables import Qrels as Qrels
    from rankscope.tables import Run as Run
    from rankscope.verbs.advise.advise import advise as advise
    from rankscope.verbs.advise.result import Advice as Advice
    from rankscope.verbs.catalogue.catalogue import catalogue as catalogue
    from rankscope.verbs.check.check import check as check
    from rankscope.verbs.check.result import Inspection as Inspection
    from rankscope.verbs.compare.compare import compare as compare
    from rankscope.verbs.compare.result import Comparison as Comparison
    from rankscope.verbs.diagnose.diagnose import diagnose as diagnose
    from rankscope.verbs.diagnose.result import Diagnosis as Diagnosis
    from rankscope.verbs.evaluate.evaluate import evaluate as evaluate
    from rankscope.verbs.explain.explain import explain as explain
    from rankscope.verbs.gate.gate import gate as gate
    from rankscope.verbs.gate.result import Gate as Gate
    from rankscope.verbs.power.power import power as power
    from rankscope.verbs.power.result import Plan as Plan
    from rankscope.verbs.reconcile.reconcile import reconcile as reconcile
    from rankscope.verbs.ties.ties import ties as ties
    from rankscope.verbs.unjudged.unjudged import unjudged as unjudged


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _PLACES:
        value = getattr(import_module(_PLACES[name]), name)
    else:
        from rankscope.metrics import CATALOGUE

        value = CATALOGUE.get(name)
        if value is None or value.__name__ != name:
            raise AttributeError(f"module 'rankscope' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from rankscope.metrics import CATALOGUE

    return sorted({"__version__", *_PLACES, *(cls.__name__ for cls in CATALOGUE.values())})
