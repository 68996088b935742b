"""Warnings, declared once: ``rule`` says what a rule is, ``codes`` finds rules by name, each other module declares one family.

To add a warning, declare it in the module of its family: the problem, why it matters for the number, what to do, the message::

    OneGrade = Rule(
        "RS399",
        "OneGrade",
        "All judgments have one grade",
        severity="information",
        why="nDCG then ranks all relevant documents alike.",
        remedy="judge documents that are not relevant",
        text="all {count:judgment has|judgments have} grade {grade:amount}[; with two grades: {effect}]",
    )

Whoever finds the problem raises it with numbers: ``OneGrade.caution(count=120, grade=1.0)`` in a verb, or ``OneGrade.finding(...)`` in a
function of ``verbs/check/rules``. Families: RS1xx inputs, RS2xx rankings, RS3xx metrics, RS4xx comparisons, RS5xx training data, RS6xx logs.
A code never changes its meaning. ``make docs`` writes the table of docs/check.md.
"""
