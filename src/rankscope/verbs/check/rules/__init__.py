"""Find the problems that rules declare: one function per rule of judgments, the health of a log, cautions of a comparison.

A function gets a ``CheckCase`` and yields findings of its rule::

    @finds(OneGrade)
    def _one_grade(case: CheckCase) -> Iterator[Finding]:
        if len(case.grades) == 1:
            yield OneGrade.finding(count=case.judgments.height, grade=max(case.grades), effect={"nDCG@10": -0.01})

A ``CheckCase`` has ``scored_runs`` (the runs with their values, ``means``, ``cost``, ``shifts``, ``under`` other ties), ``metrics``,
``alternatives`` (another metric in the place of one), ``change`` (other rows or policies), ``health`` of runs, ``top(run, k)``,
``judgments``, ``grades``. A rule must be quiet on good data, give the size of the effect on this data, and cost little: use judged
documents and the top k, not all rows. A test holds a minimal bad case and a clean case for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rankscope import words
from rankscope.diagnostics.codes import all_rules, codes_of
from rankscope.diagnostics.comparisons import TooFewQueries
from rankscope.diagnostics.rule import Finding, Rule
from rankscope.errors import InputError
from rankscope.panels.reach import PowerGoal, pairs_within_reach
from rankscope.scoring.measurements import panels_of
from rankscope.verbs.check.case import FINDERS, CheckCase, LogCase, finds
from rankscope.verbs.check.rules import grades, inputs, metrics, rankings, training

FAMILIES = (grades, inputs, metrics, rankings, training)
MAX_OF_ONE_CODE = 3  # findings about comparisons; the others are counted


def select_rules(select: str | Iterable[str] = (), ignore: str | Iterable[str] = ()) -> list[Rule]:
    """Return the rules to apply: all or the selected, without the ignored ones, by code or family (RS1). Raises InputError for an unknown rule."""
    wanted, unwanted = codes_of(select), codes_of(ignore)
    kept = [rule for rule in all_rules() if (rule.code in wanted or not wanted) and rule.code not in unwanted]
    if not kept:
        raise InputError("no rule is left: everything that is selected is also ignored")
    return kept


def applies(rule: Rule, case: CheckCase | LogCase) -> bool:
    """Return True if ``check`` can find this in a case: its needs were given, and no other command reports it."""
    return rule.of == case.of and not rule.other_verb and (not rule.needs or getattr(case, rule.needs) is not None)


def findings_of(rule: Rule, case: CheckCase | LogCase) -> Iterable[Finding]:
    """Return the findings of a rule in a case."""
    if isinstance(case, LogCase):
        return case.findings(rule.code)
    return FINDERS[rule.code](case) if rule.code in FINDERS else _of_comparison(rule, case)


def _of_comparison(rule: Rule, case: CheckCase) -> list[Finding]:
    """Return the first doubts of ``compare`` under a code; the last one counts the others."""
    cautions = [caution for caution in case.doubts if caution.code == rule.code]
    rest = len(cautions) - MAX_OF_ONE_CODE
    messages = [caution.message for caution in cautions[:MAX_OF_ONE_CODE]]
    if rest > 0:
        messages[-1] += f" (and {words.count(rest)} more like it)"
    return [Finding(rule.code, message, rule.remedy, severity=rule.severity) for message in messages]


@finds(TooFewQueries)
def _too_few_queries(case: CheckCase) -> Iterator[Finding]:
    """Find pairs of runs with a difference, on the first metric, that these queries cannot detect."""
    metric = next((m for m in case.metrics if m.aggregate in {"mean", "weighted"} and m.better != "neither"), None)
    if metric is None or case.scores is None or any(metric in run.weights for run in case.scored_runs):
        return
    (panel,) = panels_of(case.scores, [metric])
    pairs, small, least = pairs_within_reach(panel, PowerGoal())
    if least is not None:
        yield TooFewQueries.finding(
            one=least.run, other=least.baseline, difference=abs(least.difference), metric=metric, known=least.queries,
            detectable=least.detectable.difference, clear=case.is_clear(metric, least.run, least.baseline), count=small,
            pairs=pairs if pairs > 1 else None,
        )  # fmt: skip
