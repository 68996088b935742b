"""Warnings about rankings (RS2xx): scores, ties, depth, copies, unjudged documents."""

from __future__ import annotations

from rankscope.diagnostics.rule import Rule

BREAKS_TIES = {"trec": "the document id", "docid": "the document id", "input": "the order of the file"}

# fmt: off
RankColumn = Rule("RS201", "RankColumn", "The rank column contradicts the scores",
    why="trec_eval and evaluate order by score and never read the rank column. A run in another order (sorted by another number, "
        "re-ranked without new scores, or scored by distances) is not measured in the order that users saw.",
    remedy="write scores that fall with the rank, or follow the rank column with --ties rank",
    text="{run}: the rank column contradicts the scores in {count:query}; the scores were followed"
        "[{rising:?} (they rise with the rank: are they distances?)][; by the rank column: {effect}]")

ShortRun = Rule("RS202", "ShortRun", "The run is shorter than the cutoff of a metric",
    why="A metric at k then counts ranks without documents: P@100 of 50 documents is at most 0.5, and R@100 is R@50. Compared with a "
        "run that is deep enough, this compares depths.",
    remedy="retrieve documents down to the largest cutoff, or choose a smaller one",
    text="{run} has at most {count:document} per query, and {metrics} {number:=looks} deeper[; {deeper} goes down to rank {depth}]")

TiesAtCutoff = Rule("RS203", "TiesAtCutoff", "Equal scores leave the order, and so the number, undecided", severity="information",
    why="Documents with equal scores have no order, and each tool picks one: by document id, by the order of the file, at random. A "
        "system that gives all documents one score can print any number between the worst and the best.",
    remedy="give distinct scores, or take --ties expected (rankscope ties shows how much it matters)",
    text="{run}: [scores tie across {ranks}; {breaker} breaks the tie][{tied_rows:row} with equal scores]"
        "[; {metric} could be anything from {low:3} to {high:3}][; their order decides whether it is ahead of {rival} on {ahead_on}]")
TiesMove = TiesAtCutoff.variant(
    brief=True, text="{run}: ties across {ranks}: {metric} is {low:4} to {high:4}[ ({more:more run} like it)]")

Unjudged = Rule("RS204", "Unjudged", "Much of the top k is unjudged, or more of one run than of another", brief=True,
    why="Unjudged documents count as not relevant. The number is then too low by an unknown amount. If one run has more unjudged documents "
        "than another (often a new kind of system that was not pooled), the comparison is unfair to it.",
    remedy="judge more, or look at Bpref as well (rankscope unjudged shows how much it could matter)",
    text="{run}: {share:%} of its top {cutoff} is unjudged and counted as not relevant"
        "[ ({best}: {best_share:%}), so the comparison may be unfair][; leaving unjudged documents out: {effect}]")
UnjudgedNewcomers = Unjudged.variant(
    brief=False,
    text="query {query}: [{part} of the {total:document}][all {all:document}] that {run} has in its top {cutoff} and {baseline} has not "
        "{count:=is} unjudged and counted as not relevant, so the comparison may be unfair")
PositiveJudgments = Unjudged.variant(
    remedy="expected with clicks, purchases and one answer per query. Other documents may be relevant",
    text="the qrels name [{only:?}relevant documents only][{mostly:?}hardly any document that is not relevant]: {share:%} of the top {cutoff} "
        "of {run} is not in them, and counts as not relevant")

ConstantScores = Rule("RS205", "ConstantScores", "All documents of a query have the same score",
    why="The output is a set, not a ranking: the order comes from document ids or from the file, and with it the number. A scorer that "
        "failed and returned a constant can look good, because files are often written best first.",
    remedy="find out why the scorer does not distinguish documents. --ties expected gives the mean over all orders",
    text="{run}: all documents have the same score in {count} of {total:query} ({queries:ids})[; the mean over all orders: {effect}]")

NearDuplicates = Rule("RS206", "NearDuplicates", "Documents with the same text, or nearly the same, are in the top k of one query", needs="docs_text",
    why="Users see one document twice, while each copy that was judged relevant earns again. Unjudged copies push the rest down. "
        "Systems that show copies and systems that do not are not measured alike.",
    remedy="keep one of each group of copies, in the collection or in the ranking, and judge copies alike",
    text="{run}: {count:document} of the top {cutoff} {count:=repeats} the text of a higher one, in {number:query} ({document} of {first}, "
        "query {query})[; without copies: {effect}]")
