"""The rules of ``rankscope check``: one class a rule, one module a family. Here they are listed and chosen.

To add a rule, write one class in the module of its family::

    # the severity is "warning" unless named, and check exits 1 for one; the tail is how an effect ends the message
    class OneGrade(Rule, code="RS399", severity="information", tail="; with two grades: {}"):
        \"\"\"All judgments have one grade.\"\"\"               # what is wrong: --list, --explain, docs

        why = "nDCG then cannot tell documents apart ..."   # why it matters for the number
        remedy = "judge documents that are not relevant"    # what to do; the hint of a finding unless it names another

        def find(self, case: CheckCase) -> Iterator[Finding]:
            if len(case.grades) == 1:
                message = f"all {words.count(case.judgments.height)} judgments have one grade"
                yield self.finding(message, effect={"nDCG@10": -0.01})  # by metric, how far the number moves

A finding may name a ``run``, ``count``, ``queries``, ``documents`` and ``places``, a ``hint`` of its own, and whether it is ``serious``.

A ``CheckCase`` has all that a rule may look at: ``case.scored_runs`` (the runs with their values, ``means``, ``cost``, ``shifts``, ``under``
other ties), ``metrics``, ``alternatives`` (another metric in the place of one), ``change`` (other rows or policies), ``cautions`` of
``evaluate``, ``top(run, k)``, ``judgments``, ``grades``. A rule must be quiet on good data, give the size of the effect
on this data, and cost little: work on judged documents and the top k, not on all rows. Families: RS1xx what was given, RS2xx rankings,
RS30x metrics against the grades, RS3xx against the data, RS4xx comparisons, RS5xx training data. A code never changes its meaning; ``docs/check.md`` lists all
(``make docs``), and a test holds a minimal bad case and a clean case for each.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from rankscope.errors import InputError
from rankscope.scoring.codes import code_of, codes_of
from rankscope.verbs.check.rule import Rule
from rankscope.verbs.check.rules import comparisons, grades, inputs, metrics, rankings, training

FAMILIES = (inputs, rankings, grades, metrics, comparisons, training)


@cache
def all_rules() -> tuple[Rule, ...]:
    """All rules, by code."""
    modules = {family.__name__ for family in FAMILIES}
    known = {cls.code: cls for cls in Rule.catalogue.values() if cls.__module__ in modules}
    return tuple(known[code]() for code in sorted(known))


def rule_named(name: str) -> Rule:
    """The rule of this code or name, whatever its case. Raises InputError with the nearest.

    >>> rule_named("rs101").code
    'RS101'
    """
    code = code_of(name)
    return next(rule for rule in all_rules() if rule.code == code)


def select_rules(select: str | Iterable[str] = (), ignore: str | Iterable[str] = ()) -> list[Rule]:
    """The rules to apply: all, or those selected, without those ignored; the start of codes, like RS1, stands for a family.

    Raises InputError for what names no rule.
    """
    wanted, unwanted = codes_of(select), codes_of(ignore)
    kept = [rule for rule in all_rules() if (rule.code in wanted or not wanted) and rule.code not in unwanted]
    if not kept:
        raise InputError("no rule is left: everything that is selected is also ignored")
    return kept
