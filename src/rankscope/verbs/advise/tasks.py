"""Tasks as data, taken ``when`` their ``CONDITIONS`` hold: metrics (the first is primary), signals of a task, and metrics to avoid."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rankscope import words
from rankscope.declared import plain
from rankscope.errors import InputError
from rankscope.metrics import parse
from rankscope.verbs.advise.situation import LOW, Situation, grades_in_words, relevant_in_words

CLEAR, LIKELY = 3, 1  # how many points the first task is ahead of the second
WEIGHTY_GRADES = 5  # with more grades above 0 the top one holds most of an exponential gain
STEEP = 1000  # the highest grade of which 2^grade is taken
APART = 1.5  # the largest ideal DCG over the smallest


@dataclass(frozen=True)
class Pick:
    """A metric that may fit: its name, its cutoff ("k", "deep", "uncut", a number), why (with ``{k}`` and ``{deep}``), and the fact it rests on."""

    metric: str
    at: str
    why: str
    rests: str = "relevant"
    when: tuple[str, ...] = ()
    args: str = ""


@dataclass(frozen=True)
class Task:
    """A kind of task: the number ``k`` of results that people see with the ``reason``, a ``deep`` rank. ``taste`` if low grades are dislikes."""

    name: str
    about: str
    k: int
    reason: str
    picks: tuple[Pick, ...]
    also: tuple[str, ...] = ()
    deep: int = 100
    taste: bool = False


@dataclass(frozen=True)
class TaskSignal:
    """A signal in the data for a task, with its points."""

    task: str
    points: int
    when: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Guess:
    """A task that fits the data, with its points and signals."""

    task: str
    points: int
    because: tuple[str, ...]


@dataclass(frozen=True)
class Misfit:
    """A metric that misleads on these data, and why."""

    kind: ClassVar[str] = "avoid"
    primary: ClassVar[bool] = False
    rests_on: ClassVar[None] = None
    metric: str
    why: str


@dataclass(frozen=True)
class Pitfall:
    """A metric that misleads on some data: which, when, and why; ``{k}`` stands for the cutoff and ``{level}`` for the level.

    It is passed over where ``why`` has nothing to say. ``tasks`` are those that it concerns (all unless named), ``apart`` those that it
    does not; ``beside`` is a metric that must be among those recommended.
    """

    metric: str
    why: Callable[[Situation], str]
    when: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    beside: str = ""


# fmt: off
GRADES = Pick("nDCG", "k", "it rewards better grades and higher ranks, relative to the best ranking of the query", "grades", ("graded",))
PLACES = Pick("nDCG", "k", "it rewards higher ranks, relative to the best ranking of the query", "relevant", ("not graded", "not one"))
FIRST = Pick("RR", "k", "there is one right document, and only its rank counts", "singles", ("one",))
FIRST_OF_MANY = Pick("RR", "k", "the first right document ends the search, and only its rank counts", "relevant", ("not one", "not graded"))
FIRST_TOP = Pick("RR", "k", "people look for a document of the top grade, and only its rank counts", "tops", ("not one", "graded"), "level={top}")
SOON = Pick("RR", "k", "if one good answer is enough, it shows how soon that comes. nDCG is its companion", "relevant", ("not one",))
AT_ONCE = Pick("Success", "1", "it shows how often the first result is right", "queries")
FOUND = Pick("Success", "k", "it shows how often the answer is among the results that people see", "queries")
RECALL = Pick("R", "deep", "it shows which documents are found at all: no later stage can rank a missing one", "relevant", ("not capped_deep",))
CAPPED = Pick("R", "deep", "many queries have more than {deep} relevant documents, so it divides by the smaller of both", "ceiling_deep", ("capped_deep",), "denominator='min_k_relevant'")
RECALL_K = Pick("R", "k", "it shows which share of the relevant documents is passed on", "relevant", ("not capped",))
CAPPED_K = Pick("R", "k", "many queries have more than {k} relevant documents, so it divides by the smaller of both", "ceiling", ("capped",), "denominator='min_k_relevant'")
EVERY = Pick("AP", "uncut", "it rewards every relevant document found, the higher the better", "relevant", ("not graded", "not one"))
SHARE = Pick("P", "k", "it is easy to explain: the share of the results shown that is relevant", "relevant", ("not one", "many"))
STOPS = Pick("ERR", "k", "it models readers stopping at the first good document, on the scale of your grades", "grades", ("graded",))
FITS = Pick("Rprec", "", "its cutoff fits each query: its number of relevant documents", "relevant", ("not one",))
# fmt: on

SHARED_LAST = (
    Pick("Bpref", "", "it ignores unjudged documents", "unjudged", ("holes", "not aspects")),
    Pick("Judged", "k", "it shows how far the other numbers can be trusted", "unjudged", ("with_runs", "some_both")),
)  # fmt: skip

WITH_ASPECTS = (
    Pick("alpha_nDCG", "k", "it counts a subtopic less with each repetition", "aspects"),
    Pick("ERR_IA", "k", "it models readers with one subtopic in mind, who stop at a document about it", "aspects"),
    Pick("StRecall", "k", "it shows which share of the subtopics the results cover", "aspects"),
)  # fmt: skip


TASKS = (
    Task("known-item", "people look for one document that they have seen before: a home page, a file, a mail", 10, "people look for it on the first page",
        (FIRST, FIRST_OF_MANY, FIRST_TOP, AT_ONCE, FOUND),
        ("navigational", "homepage", "known item", "named page", "navigation")),
    Task("question-answering", "people look for a passage that answers a question", 10, "the answer is read from the first page",
        (FIRST, FIRST_OF_MANY, GRADES, PLACES, FIRST_TOP, SOON, AT_ONCE, FOUND, RECALL, CAPPED),
        ("qa", "questions", "answers", "passages", "faq", "manuals", "help desk", "help center", "customer support", "support tickets")),
    Task("web", "people read the results of a search engine from the top, a page at a time", 10, "ten results make a page, and a phone shows three",
        (GRADES, PLACES, FIRST,
        Pick("nDCG", "3", "a phone shows about three results at once", "queries", ("not one", "past_3")),
        SOON, STOPS, SHARE, AT_ONCE),
        ("web search", "search", "document search", "enterprise search", "intranet", "ad hoc", "adhoc", "site search", "product search", "ecommerce", "e-commerce", "shop", "code search", "job search")),
    Task("exploratory", "people explore a subject, and all its aspects are of interest", 20, "people read about two pages",
        (GRADES, PLACES, FIRST, SHARE, RECALL, CAPPED),
        ("exploratory search", "diversity", "browsing", "research", "discovery")),
    Task("recall", "everything relevant must be found: law, patents, systematic reviews", 1000, "the number of documents that people review",
        (RECALL_K, CAPPED_K,
        Pick("AP", "uncut", "it shows how early in the review all the relevant documents come", "relevant", ("not one",)),
        FITS,
        Pick("nDCG", "k", "grades show which documents matter most to the review", "grades", ("graded",))),
        ("recall-oriented", "legal", "legal discovery", "patent", "patents", "prior art", "systematic review", "ediscovery", "e-discovery", "tar", "review")),
    Task("entity", "people look for things: people, places, products of a catalogue", 10, "ten entities make a list",
        (GRADES, PLACES, FIRST, AT_ONCE,
        Pick("AP", "uncut", "a list of entities should be complete and clean", "relevant", ("not graded", "not one")),
        RECALL, CAPPED),
        ("entities", "entity search", "entity ranking", "entity linking", "people search", "expert search")),
    Task("candidates", "a first stage passes documents on to a re-ranker", 100, "the number of documents for the next stage (set it with --k)",
        (RECALL_K, CAPPED_K,
        Pick("Success", "k", "without a relevant document no re-ranker can help the query", "queries", ("not one",))),
        ("candidate stage", "candidate", "first stage", "retrieval", "recall stage", "candidate generation", "ann")),
    Task("re-ranking", "a second stage puts the documents of a first stage in a better order", 10, "the re-ranker is for the top",
        (GRADES, PLACES, FIRST, STOPS, AT_ONCE,
        Pick("R", "deep", "no order of the candidates can find more, so it must be equal in the re-rankers compared", "depth", ("with_runs",))),
        ("reranking", "rerank", "re-ranker", "reranker", "second stage", "ranking stage", "cross-encoder", "learning to rank", "ltr")),
    Task("feed", "people scroll through recommended items", 20, "people scroll through about 20 items, sometimes 50",
        (Pick("nDCG", "k", "it rewards liked items more, the higher they are ranked", "relevant"),
        RECALL_K, CAPPED_K,
        Pick("Success", "k", "it shows how many people get at least one item they like", "queries"),
        Pick("R", "50", "it shows the gain from a longer scroll", "relevant", ("not capped", "within_50")),
        Pick("AP", "k", "it rewards tops without misses, relative to the best list of this length", "relevant", ("not one",), "denominator='min_k_relevant'")),
        ("recommendation", "recommendations", "recommendation feed", "recommender", "recsys", "top-n", "homepage feed", "news feed", "ratings", "movie ratings", "movielens", "movies", "books", "collaborative filtering"), deep=50, taste=True),
    Task("next-item", "a model predicts the next item of a session, a basket, a playlist", 20, "about 20 suggestions are shown or queued",
        (Pick("RR", "k", "there is one next item, and only its rank counts", "singles", ("one",)),
        Pick("nDCG", "k", "several items follow, and those ranked higher are heard or bought first", "relevant", ("not one",)),
        FITS,
        Pick("Success", "k", "it shows how often the next item is among the suggestions", "queries"),
        Pick("nDCG", "k", "it gives lower ranks some weight, unlike RR", "singles", ("one",))),
        ("playlist", "next item", "session", "session-based", "sequential", "basket", "next basket", "continuation"), deep=100, taste=True),
    Task("clicks", "a model gives every impression a probability of a click: pointwise scores", 10, "most clicks fall there",
        (Pick("GAUC", "", "it compares scores within each list only, and busy lists count for more", "both", ("some_both",)),
        Pick("AUC", "", "the same, with every list counting equally", "both", ("some_both",)),
        Pick("Accuracy", "", "it counts unjudged documents as not clicked, as no impression without a click is listed", "both", ("not some_both",)),
        Pick("nDCG", "k", "it looks at the top, while AUC weighs the bottom equally", "relevant")),
        ("click-through", "click through", "ctr", "click model", "clickthrough", "pointwise", "ads", "advertising")),
    Task("rag", "passages go into the context of a language model", 5, "the number of passages in the context (set it with --k)",
        (RECALL_K, CAPPED_K,
        Pick("Success", "k", "without a relevant passage the model can only guess", "queries"),
        Pick("P", "k", "irrelevant passages distract the model and cost tokens", "relevant", ("not one",)),
        Pick("nDCG", "k", "better passages should come first, in case the context is cut", "grades", ("graded",)),
        Pick("RR", "k", "models make most use of the first passages", "singles", ("one",)),
        SOON, PLACES),
        ("rag chatbot", "knowledge base", "llm", "retrieval for language models", "retrieval augmented generation", "context", "agents", "chatbot")),
    Task("benchmark", "systems are compared in public, by numbers that others can compare with theirs", 10, "the cutoff of most leaderboards",
        (FIRST, GRADES, PLACES,
        Pick("nDCG", "k", "many leaderboards (BEIR, MTEB) report it for any data", "queries", ("one",)),
        EVERY, RECALL, CAPPED, SHARE),
        ("leaderboard", "shared task", "trec", "beir", "mteb", "paper")),
)  # fmt: skip


def _fold_name(name: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in name.casefold()).split())


VAGUE = frozenset(
    {"search", "retrieval", "research", "review", "context", "paper", "session", "discovery", "candidate"}
)  # words of many tasks
BY_NAME = {_fold_name(name): task for task in TASKS for name in (task.name, *task.also)}


def task_called(name: Any) -> Task:
    """Return the task with this name or alias. Raises InputError with the nearest for an unknown name."""
    there = ", ".join(task.name for task in TASKS)
    if not isinstance(name, str):
        raise InputError(f"task={name!r}: a task is a name, like 'web': {there}")
    folded = _fold_name(name)
    if folded in BY_NAME:
        return BY_NAME[folded]
    # a longer description, of which the names in it say one task: "a chatbot for our wiki"
    inside = [known for known in BY_NAME if f" {known} " in f" {folded} "]
    inside = [known for known in inside if not any(known != other and f" {known} " in f" {other} " for other in inside)]
    by_task: dict[str, str] = {}
    for known in [known for known in inside if known not in VAGUE] or inside:
        by_task.setdefault(BY_NAME[known].name, known)
    if len(by_task) == 1:
        return BY_NAME[next(iter(by_task.values()))]
    if by_task:
        each = " or ".join(f"{task} ({known})" for task, known in by_task.items())
        raise InputError(f"no task is called {name!r}: it may be {each}: name one")
    names = [name for task in TASKS for name in (task.name, *task.also)]
    raise InputError(f"no task is called {name!r}{words.hint(name.casefold(), names, ':')} there are {there}")


TASK_SIGNALS = (
    TaskSignal("exploratory", 7, ("aspects",), "documents have grades by subtopic"),
    TaskSignal("web", 4, ("graded", "both", "not one", "not stars"), "several grades, and documents judged as not relevant"),
    TaskSignal("web", 3, ("stars", "not users", "not shared"), "labels on a scale of five"),
    TaskSignal("web", 1, ("graded", "not both", "not one", "not users", "not stars"), "several grades"),
    TaskSignal("web", 1, ("negative",), "negative grades, as spam has in web collections"),
    TaskSignal("benchmark", 2, ("both", "many"), "many relevant documents per query, and documents judged as not relevant"),
    TaskSignal("benchmark", 1, ("not users",), "any collection can be a benchmark"),
    TaskSignal("benchmark", 1, ("long",), "runs of a thousand documents"),
    TaskSignal("question-answering", 4, ("one", "thousands", "not users"), "a thousand queries or more, nearly all with one relevant document"),
    TaskSignal("known-item", 4, ("one", "not thousands", "not users"), "nearly every query has exactly one relevant document"),
    TaskSignal("known-item", 3, ("one", "thousands", "not users"), "nearly every query has exactly one relevant document"),
    TaskSignal("feed", 4, ("users", "not one"), "the queries are users, with several items each"),
    TaskSignal("feed", 2, ("users", "one"), "the queries are users"),
    TaskSignal("feed", 2, ("stars",), "grades that look like ratings"),
    TaskSignal("feed", 2, ("stars", "shared", "not users"), "the same documents are rated for query after query, as items are by users"),
    TaskSignal("next-item", 4, ("users", "one"), "the queries are users or sessions, nearly all with one item"),
    TaskSignal("next-item", 2, ("users", "not one", "not stars"), "the queries are users or sessions"),
    TaskSignal("clicks", 5, ("users", "both", "not graded"), "users with items of both kinds"),
    TaskSignal("clicks", 2, ("all_judged", "both", "not graded"), "everything returned is judged as clicked or not"),
    TaskSignal("re-ranking", 5, ("all_judged", "both", "graded"), "everything returned is judged: fixed candidates are reordered"),
    TaskSignal("re-ranking", 2, ("all_judged", "both", "not graded"), "everything returned is judged: fixed candidates are reordered"),
    TaskSignal("recall", 3, ("hundreds", "not users"), "a hundred relevant documents or more for the median query"),
    TaskSignal("recall", 2, ("many", "not graded", "not users"), "many relevant documents per query, all equally good"),
    TaskSignal("recall", 1, ("many", "not users"), "many relevant documents per query"),
    TaskSignal("entity", 5, ("entities",), "the documents look like entities"),
    TaskSignal("rag", 3, ("short", "not users"), "lists of ten documents or fewer"),
    TaskSignal("candidates", 2, ("long", "not both", "not users"), "deep lists, with judgments of relevant documents only"),
)  # fmt: skip


def guess_task(data: Situation) -> tuple[list[Guess], str]:
    """The two tasks that fit best, and how sure that is: "clear", "likely" or "a guess"."""
    guesses = []
    for task in TASKS:
        signs = [sign for sign in TASK_SIGNALS if sign.task == task.name and data.holds(*sign.when)]
        guesses.append(Guess(task.name, sum(s.points for s in signs), tuple(s.reason for s in signs)))
    guesses.sort(key=lambda guess: -guess.points)  # of equals the first in the list of tasks
    ahead = guesses[0].points - guesses[1].points
    return guesses[:2], "clear" if ahead >= CLEAR else "likely" if ahead >= LIKELY else "a guess"


def _precision(data: Situation) -> str:
    ceiling = data.precision_ceiling(data.k)
    if ceiling >= LOW * data.answerable:
        return ""
    return f"an ideal ranking scores only {words.amount(ceiling)}: queries have too few relevant documents ({relevant_in_words(data)})"


def _recall(data: Situation) -> str:
    ceiling = data.recall_ceiling(data.k)
    return (
        f"an ideal ranking scores only {words.number(ceiling, digits=2)}: queries have more than {data.k} relevant documents: "
        "divide by the smaller of both"
    )


def _dcg(data: Situation) -> str:
    ideals = data.ideal_gains(data.k)
    if not ideals or max(ideals) < APART * min(ideals):
        return ""
    return f"not normalised: the best value of a query ranges from {words.interval(min(ideals), max(ideals), digits=1)}, so rich queries dominate the mean"


def _err(data: Situation) -> str:
    top, grade, use = data.top, words.amount(data.top), f"use max_grade={plain(data.top)}"
    if top > 4:
        return f"it assumes that 4 is the top grade and refuses your {grade}: {use}"
    now, then = (words.number((2**top - 1) / 2**end, digits=2) for end in (4, top))
    return (
        f"it assumes that 4 is the top grade, but yours is {grade}: the best document would satisfy a reader with probability "
        f"{now} instead of {then}. {use}"
    )


def _exponential(data: Situation) -> str:
    counts = {grade: count for grade, count in data.grades.items() if grade > 0}
    if len(counts) <= WEIGHTY_GRADES or data.top > STEEP:
        return ""
    gains = {grade: count * (2**grade - 1) for grade, count in counts.items()}
    share = gains[data.top] / math.fsum(gains.values())
    return (
        f"with {len(counts)} grades above 0 the top one holds {words.share(share)} of all gain but only "
        f"{words.share(counts[data.top] / sum(counts.values()))} of the documents"
    )


def _uncut(data: Situation) -> str:
    ends = sorted({run.deepest for run in data.runs})
    if len(ends) > 1:
        return (
            f"runs go to different depths, {words.count(ends[0])} to {words.count(ends[-1])}: without a cutoff the longer one has an "
            "advantage: cut all at one rank"
        )
    name = data.metric("AP", str(ends[0]))
    return f"all lists are cut at {words.count(ends[0])}, so without a cutoff it is {name} by another name: name the cutoff"


def _pooled_auc(data: Situation) -> str:
    shares = [r / (r + n) for r, n in zip(data.relevant.tolist(), data.not_relevant.tolist(), strict=True) if r + n]
    who = "users" if data.users else "lists"
    return (
        f"it compares scores across {who}, and {who} differ: between {words.share(min(shares))} and {words.share(max(shares))} of the documents "
        "judged for each are relevant. GAUC stays within each"
    )


ONE_IS_ENOUGH = ("rag", "web", "question-answering")  # where RR is reported, and fitting: one good answer is wanted
PITFALLS = (
    Pitfall("RR({level})", lambda data: f"it stops at the first relevant document and ignores grades, but {relevant_in_words(data)}", ("graded", "not one", "not aspects"), apart=("known-item", "candidates", *ONE_IS_ENOUGH)),
    Pitfall("RR({level})", lambda data: f"it stops at the first of many: {relevant_in_words(data)}", ("not graded", "many", "not aspects"), apart=("known-item", "candidates", *ONE_IS_ENOUGH)),
    Pitfall("RR({level})@{k}", lambda _: "documents are passed on or not, and their order does not matter", tasks=("candidates",), when=("not one",)),
    Pitfall("nDCG@10", lambda _: "it is about the order of the top, which the next stage changes anyway", tasks=("candidates",)),
    Pitfall("AP", lambda data: f"it treats grades {words.amount(data.positive[0])} and {words.amount(data.top)} alike ({grades_in_words(data)})", ("graded", "not stars", "not aspects"), apart=("recall", "candidates", "rag", "clicks")),
    Pitfall("P({level})@{k}", _precision, ("not aspects",), apart=("clicks",)),
    Pitfall("R({level})@{k}", _recall, ("capped", "not aspects"), apart=("clicks",)),
    Pitfall("nDCG at different k", lambda data: f"the ideal ranking is also cut at k, so nDCG@{data.k} and nDCG@{2 * data.k} are not comparable: compare runs at one k", ("not aspects",), beside="nDCG"),
    Pitfall("DCG@{k}", _dcg, ("not aspects",), apart=("clicks",)),
    Pitfall("ERR@{k}", _err, ("odd_top", "not aspects", "not stars"), apart=("recall", "candidates", "feed", "next-item", "clicks")),
    Pitfall("nDCG(gain='exponential')@{k}", _exponential, ("graded", "not aspects")),
    Pitfall("nDCG(ideal='retrieved_topk')@{k}", lambda _: "an ideal made of retrieved documents hides missed documents (some tools for language models and machine learning compute it)", ("not aspects",), ("rag", "re-ranking")),
    Pitfall("AP", _uncut, ("cut", "not aspects"), apart=("clicks", "candidates")),
    Pitfall("AUC({level}, pooled=True)", _pooled_auc, ("some_both", "not aspects"), ("clicks",)),
    Pitfall("AUC({level}, pooled=True)", _pooled_auc, ("some_both", "users", "not aspects"), apart=("clicks",)),
    Pitfall("AUC", lambda data: f"it needs documents judged as not relevant: {words.count(data.both_kinds)} of {words.count(data.queries)} queries have both kinds", ("not some_both", "not aspects"), ("clicks", "feed")),
    Pitfall("Bpref", lambda _: "no document is judged as not relevant, so every relevant document found scores as if it were ranked first", ("not some_both", "not aspects"), apart=("clicks", "feed", "next-item", "rag")),
    Pitfall("Judged@{k}", lambda _: "only relevant documents are listed, so it counts the same as P", ("not some_both", "not aspects"), ("benchmark", "web", "question-answering")),
    Pitfall("alpha_nDCG@{k}", lambda _: "the judgments name no subtopics, so it cannot see whether results differ", ("not aspects",), ("exploratory",)),
    Pitfall("nDCG@{k}", lambda data: f"like P, R, AP and RR it takes one grade per document, and {words.count(data.several)} have several: --duplicates best keeps the highest" if data.several else "like P, R, AP and RR it does not see that results are all of one subtopic", ("aspects",)),
)  # fmt: skip


def misfits_of(data: Situation, task: str, recommended: Sequence[str]) -> Iterator[Misfit]:
    """The metrics not to use and why, each once and never one that is recommended."""
    seen, names = set(recommended), {name.partition("@")[0].partition("(")[0] for name in recommended}
    level = "" if data.level == 1 else f"level={plain(data.level)}"
    for pitfall in PITFALLS:
        concerned = (not pitfall.tasks or task in pitfall.tasks) and task not in pitfall.apart
        if not concerned or pitfall.beside not in {"", *names} or not data.holds(*pitfall.when):
            continue
        name = pitfall.metric.format(k=data.k, level=level).replace("(, ", "(").replace("()", "")
        if " " not in name or "(" in name:  # a metric in its own spelling
            name = str(parse(name))
        if name not in seen and (why := pitfall.why(data)):
            seen.add(name)
            yield Misfit(name, why)
