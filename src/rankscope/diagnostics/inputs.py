"""Warnings about the input (RS1xx): lines, scores and grades, repeated documents, queries and ids that do not match."""

from __future__ import annotations

from rankscope.diagnostics.rule import Rule

LEFT_OUT = "[: {effect} compared with leaving them out]"
REST = "[; {metric} is {value:4} over the other {others}]"

# fmt: off
MissingQueries = Rule("RS101", "MissingQueries", "A judged query has no ranking in the run",
    why="It scores as empty, which is 0 for most metrics, and pulls the mean down. A tool that averages over the queries of the run "
        "leaves it out, and prints a higher number for a system that answered less.",
    remedy="find out why they are missing (rankscope check lists them), or leave them out for all runs with --queries both",
    text="{run} has no ranking for {count} of {judged:judged query} ({queries:ids}), scored as empty" + REST + LEFT_OUT)
MissingLeftOut = MissingQueries.variant(text="{run} has no ranking for {count} of {judged:judged query} ({queries:ids}), left out of the mean[; counted as empty: {effect}]")
MissingInCandidate = MissingQueries.variant(
    remedy="find out why, or use --queries judged to count a missing ranking as a loss",
    text="{run} has no ranking for {count:judged query} that {baseline} answers; left out")

ExtraQueries = Rule("RS102", "ExtraQueries", "The run ranks queries without judgments", severity="information",
    why="They are left out of the mean. A tool that averages over the queries of the run counts each as 0, and the number falls with "
        "every unjudged query.",
    remedy="expected if a run covers more than the qrels; --queries judged leaves them out, run counts them",
    text="{run} ranks {count:query} without judgments ({queries:ids}), left out[; counting them: {effect}]")
ExtraQueriesScored = ExtraQueries.variant(text="{run} ranks {count:query} without judgments ({queries:ids}), scored with no judgments")

NothingRelevant = Rule("RS103", "NothingRelevant", "A judged query has no relevant document", severity="information",
    why="Any ranking scores 0 on most metrics, for every system. All means fall by the same factor, and every difference keeps its "
        "sign. Tools that leave such queries out, or count them as 1, print another number.",
    remedy="keep them to match trec_eval, or leave them out with --no-relevant skip, and report which (rankscope check lists them)",
    text=("{count:judged query has|judged queries have} no relevant document (grade {level:amount} or more) and "
        "[{zero:=scores} 0 on most metrics][{both:=scores} 0 on most metrics, but {both:=is} left out by {metrics:3}]"
        "[{gone:=is} left out by {metrics:3}]") + LEFT_OUT)
NothingRelevantSettled = NothingRelevant.variant(
    remedy="report which (rankscope check lists them)",
    text="{count:judged query has|judged queries have} no relevant document (grade {level:amount} or more) and [{skip:=is} left out by --no-relevant skip][{one:=counts} as 1 by --no-relevant 1]")

Repeated = Rule("RS104", "Repeated", "A document is ranked, or judged, twice for a query",
    why="evaluate refuses it. A tool that counts a relevant document every time it appears can print more than 1 (nDCG 1.31 has been "
        "seen). A tool that keeps either row prints one of two numbers. If judgments differ, the tool picks one.",
    remedy="remove the repeated rows at their source, or keep one with --duplicates first or best",
    text="{run}: {count:row} of {repeating:query} {count:=repeats} a document[; keeping the best score instead of the first row: {effect}]")
RepeatedDropped = Repeated.variant(text="{run}: {count:repeated document was|repeated documents were} dropped")
JudgmentsDropped = Repeated.variant(text="qrels: {count:repeated judgment was|repeated judgments were} dropped")
JudgedTwice = Repeated.variant(
    text="{source}: {pairs:document is|documents are} judged more than once, {differing} with different grades"
        "[; the highest grade instead of the first: {effect}]")
SeveralGrades = Repeated.variant(
    remedy="alpha_nDCG, ERR_IA and similar metrics take several, and --duplicates best keeps the highest grade",
    text="{source}: {pairs:document has|documents have} several grades, by subtopic or judge, and {metric} takes one"
        "[; the highest grade instead of the first: {effect}]")

SelfMatch = Rule("RS105", "SelfMatch", "A query retrieves itself: a document with the id of the query",
    why="If queries are themselves documents (arguments, duplicate questions, similar items), each retrieves itself first, and "
        "all other documents move down a rank. Some tools drop these documents and print up to 10 points more.",
    remedy="remove the query from its own ranking, or let --self-match drop do it, and report which",
    text="{run} ranks the query itself [first in {first}][in its top {cutoff} in {high}] of {total:query}[; without it: {effect}]")
SelfMatchDropped = SelfMatch.variant(text="{run}: {count:document that is its own query was|documents that are their own query were} dropped")

EmptyRankings = Rule("RS106", "EmptyRankings", "A judged query has a ranking without any document",
    why="It scores as empty, which is 0 for most metrics. Files cannot hold an empty ranking, so a saved run loses the query.",
    remedy="find out why nothing was returned for them (rankscope check lists them)",
    text="{run} has an empty ranking for {count:judged query}, scored as empty" + REST + LEFT_OUT)

MalformedLines = Rule("RS107", "MalformedLines", "A line of a file cannot be read",
    why="evaluate refuses the file. A tool that skips these lines scores the rest silently: their documents count as not retrieved, or "
        "as unjudged, and the number is wrong by their share.",
    remedy="correct the lines, or remove them if they are not data (an interrupted copy leaves half a line)",
    text="{source}: {count:{noun}} cannot be read")

NotANumber = Rule("RS108", "NotANumber", "A score is NaN or infinite (a grade that is not a number is RS107)",
    why="NaN cannot be ordered, so the rank of the document depends on how a tool happens to sort, and evaluate refuses "
        "it. Infinite scores are all equal, so the document id decides their order.",
    remedy="find out why the system gave NaN, and leave the document out, or give it a score",
    text="{source}: the score is NaN in {count:row}, which evaluate refuses")
GradeNotANumber = NotANumber.variant(text="{source}: the grade is not a finite number, or too large to compute with in {count:row}, which evaluate refuses")
InfiniteScore = NotANumber.variant(
    remedy="look for a division by zero or an overflow, and give finite scores",
    text="{source}: the score is infinite in {count:row}, and equal infinite scores are ties")

Refused = Rule("RS109", "Refused", "A metric cannot be computed on these data",
    why="evaluate stops with this message. A tool that computes it anyway invents a number: for a grade above the scale of ERR, a "
        "subtopic without a judgment, a fraction rounded to an integer.",
    remedy="give the metric the data it needs, or choose another (rankscope metrics NAME lists its requirements)",
    text="{metrics:ids} cannot be computed: {reason}")

NoSharedQuery = Rule("RS110", "NoSharedQuery", "No query of the run is judged",
    why="evaluate cannot score without a shared query, and stops. A tool that carries on prints 0, or an empty table.",
    remedy="check that run and qrels belong to the same collection, and that their query ids are written alike",
    text="no query of {run} is judged: the run has ids like {ranked}, the qrels {judged}")

NoSharedDocument = Rule("RS111", "NoSharedDocument", "No judged document is retrieved by the run for any query",
    why="Every retrieved document counts as not relevant and the number is 0, which looks like a bad system but measures nothing.",
    remedy="check that the document ids of run and qrels are of the same collection, written alike",
    text="{run}: none of {total:judged document} is retrieved[: the run has ids like {ranked}, the qrels {judged}]")
NothingJudgedRetrieved = NoSharedDocument.variant(text="{run}: none of {total:judged document} is retrieved for any query, so {metric} does not measure the run")

OffScale = Rule("RS112", "OffScale", "A grade is not on the stated scale", needs="scale",
    why="Gains grow with the grade: a 30 typed for a 3, or a code for 'unsure' such as 9, outweighs all others in the ideal ranking, "
        "and nDCG of the query falls for every system. Half grades on a scale of whole numbers come from averaging judges.",
    remedy="correct the grades, or state their scale (--scale)",
    text="{count:grade is|grades are} not on the scale {low:amount} to {high:amount} ({values:ids})"
        "[; moved to the ends of the scale: {effect}]")

QueryIdsAlike = Rule("RS113", "QueryIdsAlike", "Query ids of run and qrels look alike and differ",
    why="Ids are strings: 01 is not 1, and q7 is not 7. A query of the run without its id in the qrels is left out, and the judged "
        "query scores as empty.",
    remedy="write the ids alike: spreadsheets and data frames drop leading zeros and add .0",
    text="{run}: {count:query without judgments|queries without judgments} {count:=differs} from a judged one only in {spelling}: "
        "{ranked} and {judged}[ (--fold-by '{pattern}' folds them)][; treated as the same, {metric} is {value:4}]"
        "[; treated as the same: {effect}]")

DocIdsAlike = Rule("RS114", "DocIdsAlike", "Document ids of run and qrels look alike and differ",
    why="Ids are strings: a document with another spelling of its id in the qrels counts as not retrieved, and its copy in the run as "
        "not relevant. Chunks (d1#2 of d1) never match judgments of whole documents.",
    remedy="write the ids alike, or turn chunks into documents with --fold chunks.csv or --fold-by PATTERN",
    text="{run}: {count:unjudged document} of its top {cutoff} {count:=differs} from a judged one only in {spelling}: {ranked} and {judged}"
        "[ (--fold-by '{pattern}' folds them)][; folded, {metric} is {folded:4}][; treated as the same, {metric} is {value:4}]"
        "[; treated as the same: {effect}]")

TwinRuns = Rule("RS115", "TwinRuns", "Two runs show the same rankings",
    why="A file that was copied, or a change that never took effect, gives two runs that are one: their difference is 0 and measures no "
        "two systems.",
    remedy="compare the files: one may be a copy, or the change between them has no effect",
    text="{runs} hold the same documents with the same scores: {count:run} that are one")

SwappedInputs = Rule("RS116", "SwappedInputs", "Judgments look like scores: qrels and run may be swapped",
    why="Scores taken as grades give numbers that look right and mean nothing: the order is the judgments first, then the runs.",
    remedy="give the judgments first, then the run: QRELS RUN",
    text="{share:%} of the grades are not whole numbers, as if they were scores")
GradesFromClicks = Rule("RS117", "GradesFromClicks", "Judgments are grades from clicks, not from people",
    why="They say what users clicked in lists that they were shown, corrected by a model of how users look. Items that were never shown have no "
        "grade, and a system is favoured if it made the lists.",
    remedy="weigh queries by the views behind their grades (rankscope clicks LOG --to-weights w.csv, then --weights w.csv), and confirm with judgments",
    text="the grades are from clicks (rankscope clicks --to-qrels), so items that were never shown have no grade")

SwappedByCaller = SwappedInputs.variant(text="most grades are not whole numbers, as if they were scores: were qrels and run swapped? {run} is taken as the run")
