"""The rules of ``rankscope check``: one class a rule, one module a family.

To add a rule, write one class in the module of its family (a new module goes into ``FAMILIES`` of ``catalogue.py``)::

    class OneGrade(Rule, code="RS399"):
        \"\"\"All judgments have one grade.\"\"\"               # what is wrong: --list, --explain, docs

        severity = "information"                            # the default is "warning"; check exits 1 for a warning
        why = "nDCG then cannot tell documents apart ..."   # why it matters for the number
        remedy = "judge documents that are not relevant"    # what to do; the hint of a finding unless it names another

        def find(self, case: CheckCase) -> Iterator[Finding]:
            grades = case.judgments["grade"].unique()
            if len(grades) == 1:
                yield self.finding(
                    f"all {case.judgments.height:,} judgments have grade {grades[0]:g}",
                    effect={"nDCG@10": -0.01},              # by metric, how far the number moves (optional)
                    run=None, count=..., queries=[...], documents=[(query, doc), ...], places=["qrels.txt line 3"],
                    severity="warning",                     # where this finding is more serious
                )

A ``CheckCase`` (``case.py``) has all that a rule may look at: ``case.scores`` (None where nothing could be scored), ``scored_runs``,
``metrics``, ``mean(run, metric)``, ``mean_over``, ``values(run, metrics, ties)`` (of other metrics or another tie policy, cheap),
``other_means`` (means of other metrics), ``judged(run)``, ``top(run, k)``, ``judgments``, ``input(run).table``, ``background``.
``words`` and ``changes`` (``rule.py``) write numbers and counts, ``leads.py`` tells whether another run wins. A rule must be quiet
on good data, give the size of the effect on this data, and cost little: work on judged documents and the top k, not on all rows.
Families: RS1xx what was given, RS2xx rankings, RS3xx metrics against the data, RS4xx comparisons, RS5xx training data. A code never
changes its meaning; ``docs/check.md`` lists all (``make docs``), and a test holds a minimal bad case and a clean case for each.
"""
