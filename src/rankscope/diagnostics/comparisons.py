"""Warnings about comparisons (RS4xx): metrics that disagree, leads that few queries carry, queries without a pair, too few queries."""

from __future__ import annotations

from rankscope.diagnostics.rule import Rule

# fmt: off
MetricsDisagree = Rule("RS401", "MetricsDisagree", "A run is clearly better on one metric and clearly worse on another",
    why="Choosing the metric is choosing the winner. The difference is real on both: the run does one thing better and another worse.",
    remedy="before looking, decide which metric represents the needs of users (rankscope compare --primary names it)",
    text="{run} is better than {baseline} on {better} and worse on {worse}")

CutoffDecides = Rule("RS402", "CutoffDecides", "Another run is ahead at another cutoff", severity="information",
    why="The winner at k = 10 is not the winner at k = 3 or 100: the conclusion depends on a number that is often left at its default.",
    remedy="choose the cutoff that users see, before looking (rankscope report draws every cutoff)",
    text="which run is ahead on {metric} changes with the cutoff: {leads}")

FewQueriesDecide = Rule("RS403", "FewQueriesDecide", "A few queries carry a difference that looks clear",
    why="If one query in twenty, or fewer, is left out, the lead is gone. It depends on whether future queries are like these.",
    remedy="look at these queries first (rankscope explain QRELS RUN RUN), as a few may carry the whole difference, and judge more like them",
    text="{contrast}: the lead is gone without {count} of {queries:query} ({share:%1}; without large differences it would take about {usual})")

SliceReversed = Rule("RS404", "SliceReversed", "A run is better over all queries but worse in one slice", other_verb="rankscope compare --slices",
    why="A mean over all queries can rise while queries of one language, or of one kind of user, get worse results.",
    remedy="find out which users send these queries before shipping",
    text="{run} is {verdict} than {baseline} on {metric} over all queries and {verdict_here} in the slice {slice} "
        "({difference:+4}, {queries:query})")

TooFewDiffer = Rule("RS405", "TooFewDiffer", "Two runs differ on fewer than six queries",
    why="With five differing queries no test of signs can reach 5%, however large the difference: 2 x 1/2^5 is 6.25%.",
    remedy="judge more queries (rankscope power computes how many), first those that the two runs answer differently",
    text="{run} and {baseline} differ on {differing} of {queries:query} on {metric}; fewer than {fewest} cannot show a difference"
        "[ (and {more:more comparison} like it)]")
TooFewDifferForPlan = TooFewDiffer.variant(
    remedy="treat the numbers as rough, or plan with runs that differ more",
    text="{run} and {baseline} differ on {differing} of {queries:query} on {metric}; fewer than {fewest} tell little about how differences vary")

OutOfReach = Rule("RS406", "OutOfReach", "The test cannot give a p-value small enough for this number of comparisons", severity="information",
    why="Corrected for many comparisons, the smallest p-value that the test can give on these queries is still above 5%.",
    remedy="compare fewer runs, judge more queries, or use --test t",
    text="{test} cannot give a p-value below {smallest} on {differing} differing queries, so none of {comparisons} comparisons can be clear "
        "at {alpha:amount} unless others are ({metric})")
TooFewDraws = OutOfReach.variant(
    hint="draw more: --correction '{name}(rounds={rounds})'",
    text="{correction} cannot give an adjusted p-value below {smallest}, so nothing can be clear at {alpha:amount}")

NotPaired = Rule("RS407", "NotPaired", "Queries have a value for only one of two runs",
    why="The means are then over different queries, and their difference mixes the systems with the choice of queries: a run that skips "
        "hard queries looks better.",
    remedy="trust the difference, not the two means, which are over different queries, or give the missing ones a value",
    text="{metric}: {count:query has|queries have} a value for only one of {run} and {baseline} and cannot be paired: the difference is over "
        "the other {queries}")
NotPairedInGate = NotPaired.variant(
    remedy="use --queries judged to count a missing ranking as a loss",
    text="{metric}: {count:query has|queries have} a value for only one of {run} and {baseline} and cannot be paired: the gate looks at the "
        "other {queries}")
NothingFoundInGate = NotPairedInGate.variant(remedy="use --nothing-found metric to score a query that finds nothing")
UndefinedInGate = NotPairedInGate.variant(remedy="the metric itself may be undefined for a query (as AUC with one class): choose one that is not")

NoPlan = Rule("RS408", "NoPlan", "A pair of runs gives nothing to plan with (reported by rankscope power)", severity="information", other_verb="rankscope power",
    why="The number of queries that a comparison needs follows from how the differences vary between queries. Two runs that differ on at most one "
        "query do not show that.",
    remedy="leave the pair out of the plan, or judge more queries",
    text="{reason}")

TooFewQueries = Rule("RS409", "TooFewQueries", "There are too few queries for the observed differences", severity="information",
    why="With few queries the difference of two means is mostly chance. Below the smallest difference that this number of queries can "
        "detect (80% power at 5%), the next set of queries may name another winner.",
    remedy="see the verdict of rankscope compare, as it may still be clear, or judge more (rankscope power computes how many)",
    text="{one} and {other} differ by {difference:4} on {metric}; {known:query} like these detect {detectable:3} in four of five cases (80% "
        "power)[{clear:?}, though here compare tells them apart][ ({count} of {pairs:pair} of runs differ by less than they can detect)]")

JointWithGaps = Rule("RS410", "JointWithGaps", "A joint correction leaves out queries for which one run has no value", severity="information", other_verb="rankscope compare --correction",
    why="max-T and Tukey need a value of every run for every query. One run with gaps removes queries from the comparison of all others.",
    remedy="leave out the run with gaps, or use --correction holm",
    text="{metric}: {correction} takes the {complete} queries for which every run has a value, while single pairs have up to {queries}")

FewClusters = Rule("RS411", "FewClusters", "Queries come in few clusters, or in one large one and small ones", severity="information", other_verb="rankscope compare --clusters",
    why="Queries of one user, session or topic are correlated, so the number of clusters counts. With few clusters the error between clusters "
        "is uncertain: intervals are wide, and one cluster may decide.",
    remedy="take queries from more clusters: few can show large differences only",
    text="{queries:query} in {clusters:cluster}[ of unequal size (the largest holds {size:%})][ of unequal weight (one holds {weight:%} of "
        "it)]: intervals and p-values rest on {freedom} {unit} of freedom")

TooEarly = Rule("RS412", "TooEarly", "A sequential test looked before it had seen how differences spread", severity="information", other_verb="rankscope compare --test anytime",
    why="anytime estimates the spread from the data collected. If most queries gain a little and few lose much, these losses may not have "
        "occurred yet: looking from 20 queries on, it refutes a true mean of 0 in 18 of 100 cases, from 100 queries on in 5.",
    remedy="look from 100 queries on, or use --test betting",
    text="{test} takes {queries:query} for a picture of all: if large losses are rare, and still to come, it errs more often than it states")
TooEarlyInExperiment = TooEarly.variant(
    hint="look from {needed} {unit:plural} in each variant on",
    text="{test} takes the {count:{unit}} of {variant} for a picture of all: so early it errs more often than it states")

OptimisticGain = Rule("RS420", "OptimisticGain", "A gain shrinks on queries that did not choose the parameters", other_verb="rankscope tune",
    why="The best of many settings on some queries is best there partly by chance. Chance differs on other queries.",
    remedy="expect the held-out gain, judge more queries, or try fewer settings",
    text="{metric}: the gain is {same:+3} on the queries of the choice ({then}) and {held_out:+3} on held-out queries ({verdict})")

GuardrailFell = Rule("RS421", "GuardrailFell", "A guardrail is clearly worse on held-out queries", other_verb="rankscope tune",
    why="The choice keeps guardrails only on the queries that choose. On other queries the metric fell.",
    remedy="choose parameters by a metric that includes the guardrail, or accept the loss with a limit, like --guardrail R@100=1%",
    text="{metric} changes by {difference:+3} on held-out queries")
