"""Tasks, each one entry: what is looked for, how far down people look, and the metrics that say whether they find it.

A pick is taken ``when`` all its conditions (properties of a ``Case``) hold; the first pick taken is the primary metric.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from rankscope.errors import InputError


@dataclass(frozen=True)
class Pick:
    """A metric that may fit: its name, where it is cut ("k", "deep", "uncut", a number), why, and the fact it rests on."""

    metric: str
    at: str
    why: str
    rests: str = "relevant"
    when: tuple[str, ...] = ()
    args: str = ""


@dataclass(frozen=True)
class Task:
    """A kind of task. ``k`` is how far down people look, and ``reason`` why; ``deep`` is the rank of a deeper look.

    With ``depth``, k is not what people see but how much is handed on. ``taste`` says that low grades are dislikes.
    """

    name: str
    about: str
    k: int
    reason: str
    picks: tuple[Pick, ...]
    also: tuple[str, ...] = ()
    deep: int = 100
    depth: bool = False
    taste: bool = False


# --- picks that several tasks share -----------------------------------------------------------------

GRADES = Pick(
    "nDCG",
    "k",
    "it lets better grades and higher places count for more, out of what the query allows",
    "grades",
    ("graded",),
)
PLACES = Pick(
    "nDCG",
    "k",
    "it lets higher places count for more, out of what the query allows",
    "relevant",
    ("not graded", "not one"),
)
FIRST = Pick("RR", "k", "there is one right document, and its rank decides", "singles", ("one",))
FIRST_OF_MANY = Pick(
    "RR",
    "k",
    "the first right document ends the search, and its rank decides",
    "relevant",
    ("not one", "not graded"),
)
FIRST_TOP = Pick(
    "RR",
    "k",
    "only a document of the top grade is what is looked for, and its rank decides",
    "tops",
    ("not one", "graded"),
    "level={top:g}",
)
AT_ONCE = Pick("Success", "1", "it says how often the first result is right", "queries")
FOUND = Pick("Success", "k", "it says how often the answer is among the results that people see", "queries")
RECALL = Pick(
    "R",
    "deep",
    "it says what is found at all: no later stage can rank what is missing",
    "relevant",
    ("not capped_deep",),
)
CAPPED = Pick(
    "R",
    "deep",
    "many queries have more relevant documents than places, so it divides by the smaller of both",
    "ceiling_deep",
    ("capped_deep",),
    "denominator='min_k_relevant'",
)
RECALL_K = Pick(
    "R", "k", "it says which share of the relevant documents is taken along", "relevant", ("not capped",)
)
CAPPED_K = Pick(
    "R",
    "k",
    "many queries have more relevant documents than places, so it divides by the smaller of both",
    "ceiling",
    ("capped",),
    "denominator='min_k_relevant'",
)
EVERY = Pick(
    "AP",
    "uncut",
    "it rewards every relevant document found, the higher the better",
    "relevant",
    ("not graded", "not one"),
)
SHARE = Pick(
    "P",
    "k",
    "it is easily told: the share of the results shown that is relevant",
    "relevant",
    ("not one", "many"),
)
STOPS = Pick(
    "ERR",
    "k",
    "it is for readers who stop at the first good document, on the scale of your grades",
    "grades",
    ("graded",),
)
FITS = Pick(
    "Rprec", "", "its cutoff fits each query: as many documents as are relevant", "relevant", ("not one",)
)

SHARED_LAST = (
    Pick("Bpref", "", "it is blind to documents that nobody judged", "unjudged", ("holes", "not aspects")),
    Pick("Judged", "k", "it says how far the other numbers can be trusted", "unjudged", ("runs", "some_both")),
)  # fmt: skip

WITH_ASPECTS = (
    Pick("alpha_nDCG", "k", "it lets a subtopic count for less each time it is met again", "aspects"),
    Pick("ERR_IA", "k", "it is for readers who mean one of the subtopics and stop when it is served", "aspects"),
    Pick("StRecall", "k", "it says which share of the subtopics the results touch", "aspects"),
)  # fmt: skip

# --- the tasks --------------------------------------------------------------------------------------

TASKS = (
    Task(
        "known-item", "one document is looked for that is known to exist: a home page, a file, a mail", 10,
        "people look for it on the first page",
        (FIRST, FIRST_OF_MANY, FIRST_TOP, AT_ONCE, FOUND),
        ("navigational", "homepage", "known item", "named page", "navigation"),
    ),
    Task(
        "question-answering", "a passage is looked for that answers a question", 10,
        "the answer is read from the first page",
        (FIRST, FIRST_OF_MANY, GRADES, FIRST_TOP, AT_ONCE, FOUND, RECALL, CAPPED),
        ("qa", "questions", "answers", "passages", "faq"),
    ),
    Task(
        "web", "results of a search engine are read from the top, a page at a time", 10,
        "ten results make a page; a phone shows three",
        (
            GRADES, PLACES, FIRST,
            Pick("nDCG", "3", "a phone shows about three results at once", "queries", ("not one",)),
            STOPS, SHARE, AT_ONCE,
        ),
        ("web search", "search", "ad hoc", "adhoc", "site search", "product search", "ecommerce", "shop"),
    ),
    Task(
        "exploratory", "a subject is explored, and its sides are all of interest", 20,
        "people read on for two pages",
        (GRADES, PLACES, FIRST, SHARE, RECALL, CAPPED),
        ("exploratory search", "diversity", "browsing", "research", "discovery"),
    ),
    Task(
        "recall", "everything relevant must be found: law, patents, systematic reviews", 1000,
        "as many documents as are reviewed",
        (
            RECALL_K, CAPPED_K,
            Pick("AP", "uncut", "it says how early in the review the relevant documents come, all of them", "relevant", ("not one",)),
            FITS,
            Pick("nDCG", "k", "grades say which documents matter most to the review", "grades", ("graded",)),
        ),
        ("recall-oriented", "legal", "patent", "patents", "prior art", "systematic review", "ediscovery", "e-discovery", "tar", "review"),
        depth=True,
    ),
    Task(
        "entity", "things are looked for: people, places, products of a catalogue", 10,
        "ten entities make a list",
        (
            GRADES, PLACES, FIRST, AT_ONCE,
            Pick("AP", "uncut", "a list of entities should be complete and clean", "relevant", ("not graded", "not one")),
            RECALL, CAPPED,
        ),
        ("entities", "entity search", "entity ranking", "entity linking", "people search", "expert search"),
    ),
    Task(
        "candidates", "a first stage hands documents on to a re-ranker", 100,
        "as many documents as the next stage takes; say it with --k",
        (
            RECALL_K, CAPPED_K,
            Pick("Success", "k", "without a relevant document no re-ranker can help the query", "queries", ("not one",)),
        ),
        ("candidate stage", "candidate", "first stage", "retrieval", "recall stage", "candidate generation", "ann"),
        depth=True,
    ),
    Task(
        "re-ranking", "the documents of a first stage are put in a better order", 10,
        "the top is what the re-ranker is for",
        (
            GRADES, PLACES, FIRST, STOPS, AT_ONCE,
            Pick("R", "deep", "no order of these candidates can find more: it must be the same for all re-rankers compared", "depth", ("runs",)),
        ),
        ("reranking", "rerank", "re-ranker", "reranker", "second stage", "ranking stage", "cross-encoder", "learning to rank", "ltr"),
    ),
    Task(
        "feed", "items are recommended that people scroll through", 20,
        "people scroll through some 20 items, sometimes 50",
        (
            Pick("nDCG", "k", "it lets what is liked count for more the higher it stands", "relevant"),
            RECALL_K, CAPPED_K,
            Pick("Success", "k", "it says how many people get at least one item they like", "queries"),
            Pick("R", "50", "it says what a longer scroll adds", "relevant", ("not capped",)),
            Pick("AP", "k", "it rewards clean tops, out of what fits into the list", "relevant", ("not one",), "denominator='min_k_relevant'"),
        ),
        ("recommendation", "recommendations", "recommendation feed", "recommender", "recsys", "top-n", "homepage feed"),
        deep=50, taste=True,
    ),
    Task(
        "next-item", "the next item is predicted: of a session, a basket, a playlist", 20,
        "some 20 suggestions are shown or queued",
        (
            Pick("RR", "k", "there is one next item, and its rank decides", "singles", ("one",)),
            Pick("nDCG", "k", "several items follow, and those higher up are heard or bought first", "relevant", ("not one",)),
            FITS,
            Pick("Success", "k", "it says how often the next item is among the suggestions", "queries"),
            Pick("nDCG", "k", "it lets lower places count for something, unlike RR", "singles", ("one",)),
        ),
        ("playlist", "next item", "session", "session-based", "sequential", "basket", "next basket", "continuation"),
        deep=100, taste=True,
    ),
    Task(
        "clicks", "a model gives every impression a chance to be clicked: pointwise scores", 10,
        "where clicks mostly fall",
        (
            Pick("GAUC", "", "it compares scores within each list only, and busy lists count for more", "both", ("some_both",)),
            Pick("AUC", "", "the same with every list counting alike", "both", ("some_both",)),
            Pick("Accuracy", "", "it counts what is not judged as not clicked, as no impression without a click is listed", "both", ("not some_both",)),
            Pick("nDCG", "k", "it looks at the top, where AUC gives the bottom as much weight", "relevant"),
        ),
        ("click-through", "click through", "ctr", "click model", "clickthrough", "pointwise", "ads", "advertising"),
    ),
    Task(
        "rag", "passages are put into the context of a language model", 5,
        "as many passages as the context holds; say it with --k",
        (
            RECALL_K, CAPPED_K,
            Pick("Success", "k", "without a relevant passage the model can only guess", "queries"),
            Pick("P", "k", "the rest of the context distracts and costs", "relevant", ("not one",)),
            Pick("nDCG", "k", "better passages should come first, in case the context is cut", "grades", ("graded",)),
            Pick("RR", "k", "models use best what stands first", "singles", ("one",)),
        ),
        ("llm", "retrieval for language models", "retrieval augmented generation", "context", "agents", "chatbot"),
        depth=True,
    ),
    Task(
        "benchmark", "systems are compared in public, with numbers that others can set beside theirs", 10,
        "what most leaderboards report",
        (
            FIRST, GRADES, PLACES,
            Pick("nDCG", "k", "many leaderboards (BEIR, MTEB) report it, whatever the data", "queries", ("one",)),
            EVERY, RECALL, CAPPED, SHARE,
        ),
        ("leaderboard", "shared task", "trec", "beir", "mteb", "paper"),
    ),
)  # fmt: skip

BY_NAME = {name.casefold().replace("_", "-"): task for task in TASKS for name in (task.name, *task.also)}


def task_called(name: Any) -> Task:
    """The task of this name, or of another name of it; InputError with the nearest where there is none.

    >>> task_called("Legal").name, task_called("first_stage").name
    ('recall', 'candidates')
    """
    if not isinstance(name, str):
        raise InputError(f"task={name!r}: a task is a name, like 'web': {', '.join(t.name for t in TASKS)}")
    folded = " ".join(name.casefold().replace("_", "-").split())
    for way in (folded, folded.replace("-", " "), folded.replace(" ", "-")):
        if way in BY_NAME:
            return BY_NAME[way]
    close = get_close_matches(folded, BY_NAME, n=1, cutoff=0.6)
    hint = f", did you mean {close[0]}?" if close else ":"
    raise InputError(f"no task is called {name!r}{hint} there are {', '.join(t.name for t in TASKS)}")
