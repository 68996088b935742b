"""Which task the data are of, where nobody said: signs, each one entry, that speak for tasks."""

from __future__ import annotations

from dataclasses import dataclass

from rankscope.verbs.advise.case import Case
from rankscope.verbs.advise.tasks import TASKS

CLEAR, LIKELY = 3, 1  # how many points the first task is ahead of the second


@dataclass(frozen=True)
class Sign:
    """Something in the data that speaks for a task, with so many points."""

    task: str
    points: int
    when: tuple[str, ...]
    words: str


@dataclass(frozen=True)
class Guess:
    """A task that fits the data: its points, and the signs that speak for it."""

    task: str
    points: int
    signs: tuple[str, ...]


SIGNS = (
    Sign("exploratory", 7, ("aspects",), "documents have grades by subtopic"),
    Sign("web", 4, ("graded", "both", "not one", "not stars"), "several grades, and documents judged as not relevant"),
    Sign("web", 3, ("stars", "not users"), "labels on a scale of five"),
    Sign("web", 1, ("graded", "not both", "not one", "not users", "not stars"), "several grades"),
    Sign("web", 1, ("negative",), "negative grades, as spam has in web collections"),
    Sign("benchmark", 2, ("both", "many"), "many relevant documents a query, and documents judged as not relevant"),
    Sign("benchmark", 1, ("not users",), "any collection can be a benchmark"),
    Sign("benchmark", 1, ("long",), "runs of a thousand documents"),
    Sign("question-answering", 4, ("one", "thousands", "not users"), "a thousand queries or more, nearly all with one relevant document"),
    Sign("known-item", 4, ("one", "not thousands", "not users"), "nearly every query has exactly one relevant document"),
    Sign("known-item", 3, ("one", "thousands", "not users"), "nearly every query has exactly one relevant document"),
    Sign("feed", 4, ("users", "not one"), "the queries are users, with several items each"),
    Sign("feed", 2, ("users", "one"), "the queries are users"),
    Sign("feed", 2, ("stars",), "grades that look like ratings"),
    Sign("next-item", 4, ("users", "one"), "the queries are users or sessions, nearly all with one item"),
    Sign("next-item", 2, ("users", "not one", "not stars"), "the queries are users or sessions"),
    Sign("clicks", 5, ("users", "both", "not graded"), "users with items of both kinds"),
    Sign("clicks", 2, ("all_judged", "both", "not graded"), "everything returned is judged, as one thing or the other"),
    Sign("re-ranking", 5, ("all_judged", "both", "graded"), "everything returned is judged: given candidates are put in order"),
    Sign("re-ranking", 2, ("all_judged", "both", "not graded"), "everything returned is judged: given candidates are put in order"),
    Sign("recall", 3, ("hundreds", "not users"), "a hundred relevant documents or more for the median query"),
    Sign("recall", 2, ("many", "not graded", "not users"), "many relevant documents a query, none better than the other"),
    Sign("recall", 1, ("many", "not users"), "many relevant documents a query"),
    Sign("entity", 5, ("entities",), "the documents look like entities"),
    Sign("rag", 3, ("short", "not users"), "lists of ten documents or fewer"),
    Sign("candidates", 2, ("long", "not both", "not users"), "deep lists, judged for what is relevant only"),
)  # fmt: skip


def guessed(case: Case) -> tuple[list[Guess], str]:
    """The two tasks that fit best, and how sure that is: "clear", "likely" or "a guess"."""
    found = []
    for task in TASKS:
        signs = [sign for sign in SIGNS if sign.task == task.name and case.holds(sign.when)]
        found.append(Guess(task.name, sum(s.points for s in signs), tuple(s.words for s in signs)))
    found.sort(key=lambda guess: -guess.points)  # of equals the first in the list of tasks
    ahead = found[0].points - found[1].points
    return found[:2], "clear" if ahead >= CLEAR else "likely" if ahead >= LIKELY else "a guess"


def because(guess: Guess) -> str:
    """Why a task fits, in one clause."""
    return ", ".join(guess.signs[:2]) or "nothing speaks against it"
