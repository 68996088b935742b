"""What not to use on these data, and why: rules, each one entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rankscope.errors import InputError
from rankscope.metrics import CATALOGUE, parse
from rankscope.verbs.advise.case import LOW, Case, grades, number, relevant

WEIGHTY = 0.5  # of all gain held by the top grade
APART = 1.5  # the largest ideal DCG over the smallest


@dataclass(frozen=True)
class Avoided:
    """A metric that misleads on these data, and why."""

    metric: str
    why: str


@dataclass(frozen=True)
class Rule:
    """What not to use, when, and why; ``{k}`` stands for the cutoff and ``{level}`` for the level. The rule is silent where ``why`` finds nothing to say.

    ``tasks`` are those that it is said for (all unless named), ``apart`` those that it is not; ``beside`` a metric that must be
    among those recommended.
    """

    metric: str
    why: Callable[[Case], str]
    when: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    beside: str = ""


def _precision(case: Case) -> str:
    ceiling = case.facts.precision_ceiling(case.k)
    if ceiling >= LOW * case.answerable:
        return ""
    return f"even a perfect ranking scores {ceiling:.4g} only: queries have too few relevant documents ({relevant(case)})"


def _recall(case: Case) -> str:
    ceiling = case.facts.recall_ceiling(case.k)
    return f"even a perfect ranking scores {ceiling:.2f} only: queries have more relevant documents than {case.k} places hold; divide by the smaller of both"


def _dcg(case: Case) -> str:
    found = case.facts.ideal_gains(case.k)
    if not found or max(found) < APART * min(found):
        return ""
    return f"not normalised: the best that a query allows goes from {min(found):.1f} to {max(found):.1f}, so a mean is about the rich queries"


def _err(case: Case) -> str:
    top = case.facts.top
    if top > 4:
        return f"it takes 4 for the top grade and refuses your {top:g}: say max_grade={top:g}"
    return (
        f"it takes 4 for the top grade where yours is {top:g}: the best document would satisfy a reader with a chance of "
        f"{(2**top - 1) / 16:.2f} instead of {(2**top - 1) / 2**top:.2f}; say max_grade={top:g}"
    )


def _exponential(case: Case) -> str:
    counts = {grade: count for grade, count in case.facts.grades.items() if grade > 0}
    if len(counts) <= 5 or case.facts.top > 1000:
        return ""
    gains = {grade: count * (2**grade - 1) for grade, count in counts.items()}
    share = gains[case.facts.top] / sum(gains.values())
    return (
        f"with {len(counts)} grades above 0 the top one holds {share:.0%} of all gain and {counts[case.facts.top] / sum(counts.values()):.0%} "
        "of the documents"
    )


def _uncut(case: Case) -> str:
    ends = sorted({run.deepest for run in case.facts.runs})
    if len(ends) > 1:
        return f"runs go to different depths, {number(ends[0])} to {number(ends[-1])}: without a cutoff the longer one has an advantage; cut all at one rank"
    return f"all lists are cut at {number(ends[0])}, so without a cutoff it is {case.metric('AP', str(ends[0]))} by another name: say the cutoff"


def _pooled(case: Case) -> str:
    shares = [
        r / (r + n)
        for r, n in zip(case.facts.relevant.tolist(), case.facts.rejected.tolist(), strict=True)
        if r + n
    ]
    who = "users" if case.users else "lists"
    return f"it compares scores across {who}, and {who} differ: between {min(shares):.0%} and {max(shares):.0%} of what is judged for each is relevant; GAUC stays within each"


def _ignores_grades(case: Case) -> str:
    return (
        f"it takes grade {case.facts.positive[0]:g} for as good as grade {case.facts.top:g} ({grades(case)})"
    )


RULES = (
    Rule("RR({level})", lambda c: f"it stops at the first relevant document and ignores grades, with {relevant(c)}", ("graded", "not one", "not aspects"), apart=("known-item", "candidates")),
    Rule("RR({level})", lambda c: f"it stops at the first of many: {relevant(c)}", ("not graded", "many", "not aspects"), apart=("known-item", "question-answering", "candidates")),
    Rule("RR({level})@{k}", lambda _: "the order within the documents handed on does not matter, whether they are there does", tasks=("candidates",), when=("not one",)),
    Rule("nDCG@10", lambda _: "it is about the order of the top, which the next stage makes anew", tasks=("candidates",)),
    Rule("AP", _ignores_grades, ("graded", "not stars", "not aspects"), apart=("recall", "candidates", "rag", "clicks")),
    Rule("P({level})@{k}", _precision, ("not aspects",), apart=("clicks",)),
    Rule("R({level})@{k}", _recall, ("capped", "not aspects"), apart=("clicks",)),
    Rule("nDCG at different k", lambda c: f"the ideal ranking is cut with it, so nDCG@{c.k} and nDCG@{2 * c.k} are no measure of the same: compare at one k", ("not aspects",), beside="nDCG"),
    Rule("DCG@{k}", _dcg, ("not aspects",), apart=("clicks",)),
    Rule("ERR@{k}", _err, ("odd_top", "not aspects", "not stars"), apart=("recall", "candidates", "feed", "next-item", "clicks")),
    Rule("nDCG(gain='exponential')@{k}", _exponential, ("graded", "not aspects")),
    Rule("nDCG(ideal='retrieved_topk')@{k}", lambda _: "an ideal made of what was retrieved hides what was missed (some tools for language models and machine learning compute it)", ("not aspects",), ("rag", "re-ranking")),
    Rule("AP", _uncut, ("cut", "not aspects"), apart=("clicks", "candidates")),
    Rule("AUC({level}, pooled=True)", _pooled, ("some_both", "not aspects"), ("clicks",)),
    Rule("AUC({level}, pooled=True)", _pooled, ("some_both", "users", "not aspects"), apart=("clicks",)),
    Rule("AUC", lambda c: f"it needs documents judged as not relevant: {c.facts.both} of {number(c.facts.queries)} queries have both kinds", ("not some_both", "not aspects"), ("clicks", "feed")),
    Rule("Bpref", lambda _: "nothing is judged as not relevant, so whatever relevant is found scores as if it stood first", ("not some_both", "not aspects"), apart=("clicks", "feed", "next-item", "rag")),
    Rule("Judged@{k}", lambda _: "only relevant documents are listed, so it counts what P counts", ("not some_both", "not aspects"), ("benchmark", "web", "question-answering")),
    Rule("alpha_nDCG@{k}", lambda _: "column 2 of the judgments holds no subtopics, so it cannot see whether results differ", ("not aspects",), ("exploratory",)),
    Rule("nDCG@{k}", lambda c: f"like P, R, AP and RR it takes one grade of a document, and {number(c.facts.several)} have several: --duplicates best keeps the highest", ("aspects",)),
)  # fmt: skip


def avoided(case: Case, task: str, recommended: set[str]) -> Iterator[Avoided]:
    """What not to use, each metric once and never one that is recommended."""
    seen, names = set(recommended), {name.partition("@")[0].partition("(")[0] for name in recommended}
    for rule in RULES:
        if (
            (rule.tasks and task not in rule.tasks)
            or task in rule.apart
            or rule.beside not in {"", *names}
            or not case.holds(rule.when)
        ):
            continue
        level = "" if case.facts.level == 1 else f"level={case.facts.level:g}"
        said = rule.metric.format(k=case.k, level=level).replace("(, ", "(").replace("()", "")
        name = spelled(said)
        if name not in seen and (why := rule.why(case)):
            seen.add(name)
            yield Avoided(name, why)


def spelled(said: str) -> str:
    """A metric in its own spelling; what is no metric stays as it is."""
    if said.partition(" ")[0] != said and said.partition("(")[0] not in CATALOGUE:
        return said
    try:
        return str(parse(said))
    except InputError:
        return said
