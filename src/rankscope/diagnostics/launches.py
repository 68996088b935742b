"""Warnings about the launch ledger (RS9xx): few launches, noise, selection, mixed conventions, errors taken as independent."""

from __future__ import annotations

from rankscope.diagnostics.rule import Rule

# fmt: off
FewLaunches = Rule("RS901", "FewLaunches", "There are too few launches for a precise correlation", other_verb="rankscope launches correlate",
    why="The interval of a correlation over 30 launches is about 0.5 wide, before any noise in them. The best of several metrics is then best by chance.",
    remedy="record more launches and rejected candidates (compare --record, experiment --record)",
    text="{offline} and {online}: {count:launch has|launches have} both differences; below {fewest} intervals are wide, and the best metric may change")

NoisyDifferences = Rule("RS902", "NoisyDifferences", "Errors explain more than 40% of the variance of the differences", severity="information", other_verb="rankscope launches correlate",
    why="The correction for noise divides by the reliability. Intervals were measured down to a reliability of 0.6; below it they are wide and less exact.",
    remedy="judge more queries, or run experiments longer",
    text="{metric}: the reliability of its differences is {reliability:2}")

OnlyLaunched = Rule("RS903", "OnlyLaunched", "The ledger holds only candidates that won offline", other_verb="rankscope launches correlate",
    why="If candidates with a loss offline are never launched or recorded, the correlation over all candidates is unknown; the slope is less affected.",
    remedy="record candidates that were not launched as well (launches add --launched no, or launched=no in the file)",
    text="{metric}: {share:%} of {count:launch|launches} gained offline and no rejected candidate is recorded: the correlation holds for launched candidates")

MixedConventions = Rule("RS904", "MixedConventions", "Differences under several conventions are taken together", other_verb="rankscope launches correlate",
    why="The same name with other ties, gains or populations is another quantity, with another slope.",
    remedy="leave out --mixed, which makes each a metric of its own",
    text="{offline} and {online}: differences under {count} sets of conventions are taken together")

ApartConventions = MixedConventions.variant(
    remedy="evaluate old candidates again under one set of conventions, or take all together with --mixed",
    text="differences under several conventions are metrics of their own: {metrics}")

SeveralJudgments = Rule("RS905", "SeveralJudgments", "Launches were evaluated on several sets of judgments", severity="information", other_verb="rankscope launches correlate",
    why="Judgments age and grow. A change of the relation between two sets looks like a change over time.",
    remedy="look at the drift, and evaluate old candidates again if it is large",
    text="{metric}: differences are of {count} sets of judgments")

ErrorsIndependent = Rule("RS906", "ErrorsIndependent", "Errors of offline metrics are taken as independent", other_verb="rankscope launches correlate",
    why="Metrics on the same queries err together. If covariances of their errors are missing, weights of a combination are wrong and its correlation is biased.",
    remedy="record comparisons with --record, or fill the column covariances",
    text="covariances between the errors of {metrics} are unknown and taken as 0")

FewForCombination = Rule("RS907", "FewForCombination", "There are fewer than ten launches per weight of a combination", other_verb="rankscope launches correlate",
    why="Weights fitted to few launches fit their noise: the combination that looks best is not best for the next launch.",
    remedy="use the best single metric, or name fewer with --offline",
    text="{count:launch|launches} for {metrics} weights: the combination for {online} may be chance")
