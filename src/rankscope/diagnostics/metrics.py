"""Warnings about metrics (RS3xx): scales and gains, conventions, ideals, cutoffs and averages that mislead."""

from __future__ import annotations

from rankscope.diagnostics.rule import Rule

ANOTHER_WINS = "[; another run wins: {winners}][; another run is ahead, if not clearly: {leaders}]"

# fmt: off
BinaryOnGraded = Rule("RS301", "BinaryOnGraded", "A binary metric is used on graded judgments", severity="information",
    why="AP, RR, P, R and Success treat a document of the lowest relevant grade like the best one. A run that finds the best documents "
        "gains nothing by it. If another run finds more of the passable ones, that run wins.",
    remedy="report nDCG as well, or state which grade counts, as in AP(level=2)",
    text="{metrics:4} {number:=ignores} the [difference between grades {pair_low:amount} and {high:amount}]"
        "[differences among grades {low:amount} to {high:amount}] ({low_share:%} of the judgments above 0 are {lowest:amount}, "
        "{high_share:%} {high:amount})[{several:?}; seeing them would not change which run wins]")
GradesDecide = BinaryOnGraded.variant(text="{metric} does not see grades, and [that changes the winner: {winners}][that changes which run is ahead, if not clearly: {leaders}]")

LowestGrade = Rule("RS302", "LowestGrade", "The lowest grade above 0 counts as relevant, but in some collections means related only", severity="information",
    why="On some scales grade 1 means 'on the topic, does not answer' (TREC Deep Learning passages count from 2). Binary metrics then "
        "count these documents as relevant: AP, R and P are about another set of documents.",
    remedy="look up the meaning of the grades, and use level=2, as in AP(level=2), if grade 1 is not relevant",
    hint="look up what grade {low:amount} means; if it is not relevant, use {other}",
    text=("{share:%} of the relevant documents have grade {low:amount}; counting only grade {level:amount} and above: [{effect}][{same:?}nothing "
        "changes][ ({run_moved})]") + ANOTHER_WINS)

TopGrade = Rule("RS303", "TopGrade", "Exponential gain is used with many grades, so that the top grade holds most of the gain", severity="information",
    why="2^grade - 1 doubles with each grade: 31 for grade 5, 1 for grade 1. With many grades the metric is about the documents of the "
        "top grade, and the order of all others has almost no effect.",
    remedy="use linear gain, or a table of gains such as nDCG(gain={1: 1, 2: 3, 3: 5}), and report which",
    text="{grades} grades are in use; with exponential gain, grade {top:amount} holds {steep:%} of all gain ({linear:%} with linear gain; "
        "{share:%} of the judgments have it): {metrics:4}")

GainDecides = Rule("RS304", "GainDecides", "Linear and exponential gain order the runs differently",
    why="Half of all tools use the grade as gain, the other half 2^grade - 1, and both call it nDCG. If the two order the runs "
        "differently, the better run depends on a convention that may not have been chosen.",
    remedy="before looking, decide how much better a top grade is for users, and report the gain with the number",
    text="{run} is ahead of {other} on {metric} ({now}) and behind with {gain} gain ({then})[; {count:pair} of {pairs} {count:=changes} "
        "order][{same:?}; the same run wins]")

OtherScale = Rule("RS305", "OtherScale", "A metric assumes another top grade than the judgments have", severity="information",
    why="ERR and related metrics turn a grade into the chance that the reader is satisfied, relative to max_grade (default 4). If the "
        "best grade in use is lower, the best document satisfies few readers: grade 2 of 4 stops 3 readers in 16 instead of 3 in 4.",
    remedy="set the top of the scale, as in ERR(max_grade=3)@20, and do not compare numbers with different max_grade",
    hint="use {other}, unless the scale goes up to {most:amount} and no document was that good (--scale 0-{most_plain})",
    text=("{metric} assumes that {most:amount} is the top grade, but [the stated scale ends at {stated:amount}][the best grade in use is "
        "{best:amount}]: with max_grade={top} {change:+3}[ (a document of grade {stops:amount} stops {now:%} of readers instead of "
        "{then:%})]") + ANOTHER_WINS)
AboveScale = OtherScale.variant(
    hint="use {other}",
    text="{metric} assumes that {most:amount} is the top grade, but {highest:amount} is in use: evaluate refuses it")

RatingScale = Rule("RS306", "RatingScale", "Grades look like a scale of ratings, and a low one counts as relevant",
    why="On a scale of stars without a 0 the lowest grades mean that the user did not like the item. Binary metrics count from grade 1 by "
        "default: every rated item is then relevant, and the metric is about rated items, not about liked ones.",
    remedy="state the lowest relevant grade, like --relevance-level 4",
    text="the grades look like ratings, and {metrics:4} {number:=counts} every document of grade {level:amount} or more as relevant")

SeveralCutoffs = Rule("RS311", "SeveralCutoffs", "nDCG is reported at several cutoffs", severity="information",
    why="The ideal ranking is cut at k as well, so the value at a larger k may be higher or lower with nothing gained or lost: each k is "
        "a different yardstick. nDCG@5 of one run cannot be compared with nDCG@10 of another.",
    remedy="compare runs at one k, and name it. Do not compare one run across cutoffs",
    text="each cutoff has an ideal of its own ({run_shown}: {means:4}): compare runs at one cutoff, not one run across cutoffs")

SeveralConventions = Rule("RS312", "SeveralConventions", "One metric is reported under several conventions",
    why="Gain, ideal, discount and denominator change the number while the name stays: side by side, or in two tables, these values "
        "look like better and worse systems.",
    remedy="keep one convention, and show it with the number. rankscope reconcile finds the convention behind another tool's number",
    text="{name} is computed with different {conventions}: for {run_shown} {values:4}")

OutOfReturned = Rule("RS313", "OutOfReturned", "A metric divides by the retrieved documents, not by all judged ones",
    why="With an ideal (or a denominator) made of retrieved documents, a missed document never costs anything: a run that returns one "
        "good document and stops scores 1, and returning less can score better.",
    remedy="use the ideal of all judged documents (the usual one), and divide by all known relevant ones",
    hint="use {other}; rankscope reconcile lists the tools that compute the other",
    text="{metric} divides by what was retrieved: {run_moved} scores {now:4}, but {then:4} out of all judged documents" + ANOTHER_WINS)

NotNormalised = Rule("RS314", "NotNormalised", "A sum of gains is averaged over queries without being normalised", severity="information",
    why="DCG grows with the number of relevant documents of a query. Its mean depends on the few queries that have many. A run that is "
        "better on these few is ahead, even if it is worse on the rest.",
    remedy="report nDCG, which divides every query by its ideal",
    hint="report {other}",
    text="{metric} is not normalised: the [{several} ]richest of {total:query} {count:=holds} {share:%} of its sum ({run_shown})" + ANOTHER_WINS)

Constant = Rule("RS315", "Constant", "A metric has the same value for every query", severity="information",
    why="A metric that is 0 (or 1) everywhere cannot separate this run from a worse (or better) one. All zeros usually mean that ids or "
        "grades do not match, not that the system finds nothing.",
    remedy="if all are 0, compare the ids of run and qrels, and the level. Otherwise choose a metric that still varies",
    hint="choose a metric that still varies: a smaller cutoff, or one that sees order and grades",
    text="{run}: {values:4} for every query, and cannot tell it from a [{best:?}better][{worse:?}different] run")
AllZero = Constant.variant(
    hint="check that ids and grades of run and qrels match, and that the cutoff is deep enough",
    text="{run}: {metrics:4} {count:=is} 0 for all {total:query}")

DeepCutoff = Rule("RS321", "DeepCutoff", "Most of the metric's weight is below rank 10", severity="information",
    why="1/log2(rank + 1) falls slowly: at k = 100 ranks 11 and below hold 78% of the weight. Two runs can then differ, or be equal, "
        "because of ranks that few readers see.",
    remedy="report nDCG@10 as well. A deep cutoff is right if all results are read, or passed to another stage",
    hint="report {shallow} as well, if readers see ten results",
    text="{share:%} of the weight of {metric} (to rank {depth}) lies below rank {seen}[; {ahead} is ahead of {behind} by {lead:4}, of which "
        "{below:+4} comes from there]")

ListsEnd = Rule("RS322", "ListsEnd", "A metric has no cutoff, and the lists were cut", severity="information",
    why="AP of lists that end at rank 100 is AP@100 by another name: relevant documents below count as never found, and a run that was "
        "saved to rank 1000 beats one that was saved to 100 for that reason.",
    remedy="name the cutoff, as in AP@100, and cut all runs at the same rank",
    hint="name the cutoff: {named}",
    text=("the lists of {runs:4} end at rank {depth}, so that {metrics:4} {number:=is} {cut:4} there[; cutting all runs there: up to "
        "{change:+3} {most_changed}]") + ANOTHER_WINS)

Ceiling = Rule("RS323", "Ceiling", "No ranking can reach 1, as queries have fewer relevant documents than k, or more", severity="information",
    why="P@10 of a query with 3 relevant documents is at most 0.3. R@10 and AP@10 of one with 50 are at most 0.2. A value near the "
        "ceiling is as good as it gets, and queries with a low ceiling count little in the mean.",
    remedy="read the value as a share of the ceiling, or divide by the reachable number: denominator='min_k_relevant'",
    hint="use {other}, or compare runs only",
    text="even a perfect ranking scores {ceiling:4} on {metric}: {count:query has|queries have} [{few:?}too few relevant documents for]"
        "[{more:?}more relevant documents than] {cutoff} ranks[; {run_shown} reaches {value:4}, {share:%} of it]")

LooksSampled = Rule("RS341", "LooksSampled", "Lists look like a random sample of the candidates",
    why="If 99 or 100 others were drawn at random, the relevant item competes with few of all items. Recall, nDCG and AP are then far too high, and may order "
        "systems in another way than over all items.",
    remedy="rank all items, or write Sampled(metric='nDCG@10', items=10000) and --candidates sampled. If these are all candidates, ignore this warning",
    text="every list has {length} documents, and the one relevant document of its query is always one of them: {metrics:4} {number:=holds} for a sample "
        "of the candidates only")

PooledAgainstGrouped = Rule("RS331", "PooledAgainstGrouped", "Pooled AUC and GAUC disagree on which run wins",
    why="One curve over all users rewards a model that predicts which users click a lot, even if it orders every user's list badly. GAUC "
        "measures the order within each list, as a ranking metric should. A pooled AUC of 0.56 can go with a GAUC of 0.",
    remedy="decide by GAUC if each list is for one user. Pooled AUC is about calibration across users",
    text="over all documents and within lists, another run [wins: {winners}][is ahead: {leaders}]")

OneClass = Rule("RS332", "OneClass", "Most users have documents of one class only, so they have no AUC", severity="information",
    why="A list with clicks on all documents, or without clicks, has no pair to order. These users are left out of GAUC, which is then about the "
        "few with both. Counted as 0, 0.5 or 1 they would decide the number.",
    remedy="report how many users the number is about, and keep documents that were shown and not clicked in the judgments",
    text="{metric} is about {defined} of {total:query}: {share:%} have retrieved documents of one class only[ ({run_shown})]"
        "[, and count as {single_class:amount}]")
