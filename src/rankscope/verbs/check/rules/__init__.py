"""The rules of ``rankscope check``: one class a rule, one module a family.

To add a rule, write one class in the module of its family (a new module goes into ``FAMILIES``)::

    class OneGrade(Rule, code="RS399"):
        \"\"\"All judgments have one grade.\"\"\"               # what is wrong: --list, --explain, docs

        severity = "information"                            # "warning" unless said; check exits 1 for a warning
        why = "nDCG then cannot tell documents apart ..."   # why it matters for the number
        remedy = "judge documents that are not relevant"    # what to do; the hint of a finding unless it says another

        def find(self, case: Case) -> Iterator[Finding]:
            grades = case.judgments["grade"].unique()
            if len(grades) == 1:
                yield self.found(
                    f"all {case.judgments.height:,} judgments have grade {grades[0]:g}",
                    effect={"nDCG@10": -0.01},              # by metric, how far the number moves (optional)
                    run=None, count=..., queries=[...], documents=[(query, doc), ...], places=["qrels.txt line 3"],
                    severity="warning",                     # where this finding is graver than the rule
                )

A ``Case`` (``case.py``) has all that a rule may look at: ``case.scores`` (None where nothing could be scored), ``scored_runs``,
``metrics``, ``mean(run, metric)``, ``mean_over``, ``also(run, metrics)`` (values of other metrics, cheap), ``under(run, "best",
metrics)``, ``judged(run)``, ``top(run, k)``, ``judgments``, ``given(run).table``, ``said``. ``base.py`` has ``counted``, ``some``
and ``moved`` for sentences. A rule must be quiet on good data, give the size of the effect on this data, and cost little: work on
judged documents and the top k, not on all rows. Families: RS1xx what was given, RS2xx rankings, RS3xx metrics against the data,
RS4xx comparisons, RS5xx training data. A code never changes its meaning; ``docs/check.md`` lists all (``make docs``), and a test
holds a minimal bad case and a clean case for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module

from rankscope.errors import InputError
from rankscope.verbs.check.rules.base import Finding, Rule

__all__ = ["FAMILIES", "Finding", "Rule", "called", "rules", "selected"]

# the modules that declare rules
FAMILIES: tuple[str, ...] = (
    "faults",
    "queries",
    "ids",
    "texts",
    "rankings",
    "judgments",
    "training",
    "comparisons",
    "graded",
    "scales",
    "metrics",
    "depths",
    "areas",
)


@cache
def rules() -> tuple[Rule, ...]:
    """All rules, by code."""
    for module in FAMILIES:
        import_module(f"rankscope.verbs.check.rules.{module}")
    known = {cls.code: cls for cls in Rule.catalogue.values() if cls.__module__.startswith(__name__)}
    return tuple(known[code]() for code in sorted(known))


def called(name: str) -> Rule:
    """The rule of this code or name, whatever its case. Raises InputError with the nearest.

    >>> called("rs101").code
    'RS101'
    """
    by_name = {n.casefold(): rule for rule in rules() for n in (rule.code, type(rule).__name__)}
    found = by_name.get(name.strip().casefold())
    if found is None:
        raise InputError(
            f"no rule is called {name}{_near(name.strip(), by_name)} (rankscope check --list lists all)"
        )
    return found


def _near(name: str, by_name: Mapping[str, Rule]) -> str:
    """The nearest rule: by its name, or the codes of the family."""
    if re.fullmatch(r"RS\d*", name, re.IGNORECASE):  # numbers are near to nothing but their family
        family = [rule.code for rule in rules() if rule.code[:3] == name[:3].upper()]
        return f", did you mean one of {', '.join(family)}?" if family else ""
    close = get_close_matches(name.casefold(), by_name, n=1, cutoff=0.6)
    return f", did you mean {type(by_name[close[0]]).__name__} ({by_name[close[0]].code})?" if close else ""


def selected(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> list[Rule]:
    """The rules to apply: all, or those selected, without those ignored; a family is told by the start of its codes, like RS1.

    Raises InputError for what names no rule.
    """
    chosen = [rule for name in _listed(select) for rule in _matching(name)]
    left_out = [rule for name in _listed(ignore) for rule in _matching(name)]
    kept = [rule for rule in rules() if (rule in chosen or not _listed(select)) and rule not in left_out]
    if not kept:
        raise InputError("no rule is left: everything that is selected is ignored, too")
    return kept


def _listed(names: Iterable[str]) -> list[str]:
    names = [names] if isinstance(names, str) else names
    return [part for name in names for part in name.replace(",", " ").split()]


def _matching(name: str) -> list[Rule]:
    family = [rule for rule in rules() if rule.code.startswith(name.upper())]
    return family or [called(name)]
