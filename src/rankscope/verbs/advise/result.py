"""The result of ``advise``: metrics that fit, metrics to avoid, the detectable difference, and the next commands."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal

from rankscope import words
from rankscope.blocks import EMPTY, Code, Heading, Paragraph
from rankscope.declared import plain
from rankscope.metrics import Metric
from rankscope.scoring.scores import Scores
from rankscope.show.result import Col, Result, Shown, View, input_record
from rankscope.verbs.advise.situation import HOLES, RESTS, Situation
from rankscope.verbs.advise.tasks import Guess, Misfit, Task
from rankscope.words import in_caller_syntax

ROOM = 72  # of a line of a command
SURE = {"clear": "fairly clear", "likely": "likely, not certain", "a guess": "a guess"}


@dataclass(frozen=True)
class Recommendation:
    """A metric that fits: why, the number in the data that this rests on, and whether it is the primary one."""

    kind: ClassVar[str] = "recommended"
    metric: Metric
    why: str
    rests_on: str
    primary: bool = False


@dataclass(frozen=True)
class Sensitivity:
    """The difference that these queries detect with 80% power at 5%. ``spread_from`` is "pairs" (median over ``pairs``), "scores" (of one run) or "assumed"."""

    queries: int
    difference: float
    deviation: float
    spread_from: Literal["pairs", "scores", "assumed"]
    pairs: int = 0


METRIC = Col("metric", head="metric", of=lambda one: str(one.metric))


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Result):
    """Metrics that fit judgments and a task, and metrics that do not.

    ``recommended`` holds the metrics that fit, the primary one first, and ``avoid`` what not to use. ``task`` is the one named, or
    the one that fits the data best; ``sure`` says how sure that is and ``likeliest`` holds the two that fit best. ``showable`` is
    the smallest difference that the queries detect, None where nothing is known of the spread. ``scores`` are those of the metrics
    on the runs given, None without runs. ``duplicates`` says what was done with repeated documents, ``columns`` and ``grades`` what was said of
    columns of other names and of grades that are words, ``qrels`` and ``runs`` how the
    inputs are written in a command: None and empty where they were read from no file.
    """

    schema: ClassVar[str] = "advise/1"
    views: ClassVar[tuple[View, ...]] = (
        View(
            "metrics",
            (Col("kind"), METRIC, Col("primary"), Col("why"), Col("rests_on")),
            lambda advice: [*advice.recommended, *advice.avoid],
        ),
        View(
            "recommended",
            (
                METRIC,
                Col("why", head="why", cell=lambda m: f"{m.why} ({m.rests_on})" if m.rests_on else m.why, wraps=True),
                Col("rests_on"),
                Col("primary"),
            ),
            lambda advice: advice.recommended,
        ),
        View("avoid", (METRIC, Col("why", head="why", wraps=True)), lambda advice: advice.avoid),
    )

    situation: Situation
    task: Task
    sure: str
    likeliest: Sequence[Guess]
    recommended: Sequence[Recommendation]
    avoid: Sequence[Misfit]
    showable: Sensitivity | None
    notes: Sequence[str] = ()
    scores: Scores | None = None
    duplicates: str = "error"
    columns: str = ""
    grades: str = ""
    qrels: str | None = None
    runs: Sequence[str] = ()
    own_cutoff: int | None = None

    @property
    def primary(self) -> Metric:
        """The metric to declare in advance."""
        return self.recommended[0].metric

    @property
    def metrics(self) -> list[str]:
        """The metrics that fit, as they are spelled, the primary one first."""
        return [str(one.metric) for one in self.recommended]

    @property
    def comparison_metrics(self) -> list[str]:
        """The recommended metrics that have a direction, for a comparison."""
        return [str(one.metric) for one in self.recommended if one.metric.better != "neither"]

    def __str__(self) -> str:
        return self.verdict

    __repr__ = __str__

    @property
    def verdict(self) -> str:
        """The answer: the primary metric, its task, and its reason."""
        first = self.recommended[0]
        return f"Declare {first.metric} in advance: for the task {self.task.name}, {first.why} ({first.rests_on})."

    @property
    def cutoff(self) -> str:
        """The reason for the cutoff."""
        k = self.situation.k
        ends = f", and the lists of your runs end at {k}" if self.situation.reach == k else ""
        reason = self.task.reason if self.own_cutoff is None else f"set by you, instead of {self.task.k} for this task"
        return f"Cutoff {k}: {reason}{ends}."

    @property
    def detection(self) -> str:
        """The difference that these queries can detect, in a sentence."""
        seen, primary = self.showable, self.primary
        if seen is None:
            return "How large a difference these queries can detect is not known: two runs that differ would show it."
        how = {
            "pairs": f"the median of {words.counted(seen.pairs, 'pair')} of your runs" if seen.pairs > 1 else "as your two runs differ",
            "scores": "if another run's scores correlate with these at 0.5 (measured if there are two runs)",
            "assumed": "if the differences of two runs have a standard deviation of 0.2 (measured if there are two runs)",
        }[seen.spread_from]  # fmt: skip
        low, high = primary.range
        queries_at_hand = words.counted(seen.queries, "query")
        if seen.difference >= high - low:
            return f"{queries_at_hand} cannot detect any difference in {primary} with 80% power: judge more ({how})."
        size = words.number(seen.difference, digits=3)
        return f"{queries_at_hand} can detect a difference of about {size} in {primary} with 80% power ({how})."

    def doubts(self) -> Iterator[str]:
        """Yield cautions: a guessed task, the level, unjudged documents, ties, queries without an answer."""
        yield from map(in_caller_syntax, self._doubts())

    def _doubts(self) -> Iterator[str]:
        if self.sure != "said":
            first, second = self.likeliest
            yield (
                f"No --task was given. The data look like {first.task} ({_because(first)}). This is {SURE[self.sure]}. "
                f"Next comes {second.task} ({_because(second)}). Name the task with --task."
            )
        yield from self._doubts_of_grades()
        data = self.situation
        if short := [run.run for run in data.runs if run.deepest < data.k]:
            verb = words.agree(len(short), "ends")
            yield f"{words.listing(short, most=3)} {verb} above rank {data.k}: the ranks below count as not relevant."
        tied = max(data.runs, key=lambda run: run.tied_in_top_10, default=None)
        if tied is not None and tied.tied_in_top_10 >= HOLES:
            yield (
                f"{words.share(tied.tied_in_top_10)} of the top 10 of {tied.run} shares its score with another document: rankscope ties shows "
                "how much that matters."
            )
        if missing := len(data.relevant) - len(data.with_relevant):
            yield (
                f"{words.count(missing)} of {words.counted(data.queries, 'query')} {words.agree(missing, 'has')} no relevant document: P, "
                "R, AP, RR and Success are 0 for them, for any ranking (--no-relevant skip leaves them out)."
            )

    def _doubts_of_grades(self) -> Iterator[str]:
        data = self.situation
        if data.holds("counts"):
            yield f"Grades go up to {words.amount(data.top)}, so they look like counts: 1 or more is relevant here, and more is not better."
        if data.level != 1:
            scale = "a scale of ratings" if data.holds("stars") else "a scale below 1"
            yield (
                f"The grades look like {scale}: {words.amount(data.level)} or more counts as relevant here. If that is wrong, use another level, "
                f"like P(level={plain(data.top)})@10."
            )
        elif data.holds("graded", "not aspects") and any(m.metric.relevance == "binary" for m in self.recommended):
            yield (
                "For P, R, AP, RR and Success a grade of 1 is relevant. If 1 only means related, count from 2 on, like "
                f"P(level=2)@{data.k}."
            )
        if data.negative:
            yield (
                f"{words.counted(data.negative, 'document has', 'documents have')} a negative grade: pooled but unjudged, so not relevant, "
                "without gain, and skipped by Bpref."
            )

    def sentences(self) -> Iterator[str]:
        """The answer, the cutoff, the difference that the queries can detect, and the cautions."""
        yield self.verdict
        yield self.cutoff
        yield self.detection
        yield from self.doubts()

    @property
    def _kept(self) -> list[tuple[str, str]]:
        chosen = {"duplicates": self.duplicates.replace("error", ""), "columns": self.columns, "grades": self.grades}
        return [(name, value) for name, value in chosen.items() if value]

    @property
    def next(self) -> list[str]:
        """The next commands. Calls if the input was not read from files."""
        primary, directed, runs = str(self.primary), self.comparison_metrics, self.runs
        if self.qrels is None or "" in runs:
            kept = "".join(f", {name}={value!r}" for name, value in self._kept)
            return [
                f"rs.evaluate(qrels, runs, {self.metrics!r}{kept})",
                f"rs.compare(qrels, runs, {directed!r}, primary={primary!r}{kept})",
            ]
        rest = [part for name, value in self._kept for part in (f"--{name}", value)]
        inputs = [self.qrels, *(runs or ["my.run"])]
        two = inputs if len(runs) > 1 else [*inputs, "other.run"]
        evaluate = ["evaluate", *inputs, *(part for name in self.metrics for part in ("-m", name)), *rest]
        options = ["--primary", primary, *(part for name in directed for part in ("-m", name)), *rest]
        return [f"rankscope {shlex.join(parts)}" for parts in (evaluate, ["compare", *two, *options])]

    @property
    def settings(self) -> str:
        """The same choice for pyproject.toml."""
        names = [json.dumps(name, ensure_ascii=False) for name in (str(self.primary), *self.comparison_metrics)]
        line = f"metrics = [{', '.join(names[1:])}]"
        lines = ["[tool.rankscope]", f"primary = {names[0]}"]
        lines += [line] if len(line) <= ROOM else ["metrics = [", *(f"    {name}," for name in names[1:]), "]"]
        lines += [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in self._kept]
        return "\n".join(lines) + "\n"

    def blocks(self, **_: Any) -> list[Shown]:
        """The answer, the cautions, the data, metrics that fit, metrics to avoid, and next steps. Each fact of the data is printed once."""
        facts = [RESTS[fact](self.situation) for fact in ("queries", "relevant", "grades", "depth")]
        first, *others = self.sentences()
        out: list[Shown] = [Paragraph(_without(facts, first)), *map(Paragraph, others)]
        out += [EMPTY, Paragraph("data: " + " · ".join(facts), quiet=True)]
        printed, fitting = set(facts), []
        for one in self.recommended:
            fitting.append(replace(one, rests_on="") if one.rests_on in printed else one)
            printed.add(one.rests_on)
        out += [EMPTY, Heading("what fits"), replace(self, recommended=fitting).table("recommended")]
        if self.avoid:
            avoid = [replace(one, why=_without(facts, one.why)) for one in self.avoid]
            out += [EMPTY, Heading("not recommended"), replace(self, avoid=avoid).table("avoid")]
        out += [EMPTY, Paragraph("next:")]
        out.append(Code(tuple(line for command in self.next for line in fold(command))))
        out.append(Paragraph("or as settings in pyproject.toml, for all commands and the pytest fixture:"))
        return [*out, Code(tuple(self.settings.splitlines()))]

    def json_document(self, **_: Any) -> dict[str, Any]:
        """All of the advice. Keys are added to it but never renamed."""
        whole = super().json_document()
        return {key: whole[key] for key in whole if key not in {"results", "warnings"}}

    def json_header(self) -> Mapping[str, Any]:
        """Return the header of the JSON: the data in numbers, the task, the detectable difference, and the next steps."""
        seen = self.showable
        return {
            "verdict": [self.verdict],
            "facts": _numbers(self.situation),
            "task": {
                "name": self.task.name, "about": self.task.about, "sure": self.sure, "k": self.situation.k, "deep": self.situation.deep,
                "cutoff": self.cutoff,
                "likeliest": [asdict(guess) for guess in self.likeliest],
            },
            "inputs": [input_record(source) for source in (self.scores.inputs if self.scores else ())],
            "showable": None if seen is None else {
                "metric": str(self.primary), **asdict(seen), "power": 0.8, "alpha": 0.05, "in_words": self.detection,
            },
            "doubts": list(self.doubts()),
            "next": self.next,
            "settings": self.settings,
        }  # fmt: skip


def _without(facts: Sequence[str], text: str) -> str:
    for fact in facts:
        text = text.replace(f" ({fact})", "")
    return text


def _because(guess: Guess) -> str:
    return ", ".join(guess.because[:2]) or "the data fit it"


def fold(command: str) -> list[str]:
    """A long command over several lines, which still works when it is pasted. An option stays with its value."""
    if not command.startswith("rankscope "):
        return [command]
    lines = [""]
    pieces = iter(map(shlex.quote, shlex.split(command)))
    for piece in pieces:
        word = f"{piece} {next(pieces)}" if piece.startswith("-") and piece != "-" else piece
        if lines[-1].strip() and len(lines[-1]) + 1 + len(word) > ROOM:
            lines[-1] += " \\"
            lines.append(f"  {word}")
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return lines


def _numbers(data: Situation) -> dict[str, Any]:
    return {
        "queries": data.queries, "queries_with_relevant": len(data.with_relevant),
        "queries_with_one_relevant": data.singles, "queries_with_both_kinds": data.both_kinds, "judgments": data.judgments,
        "grades": {plain(grade): count for grade, count in data.grades.items()}, "level": data.level,
        "ratings": data.holds("stars"), "negative": data.negative, "relevant_median": data.median,
        "relevant_fewest": int(data.with_relevant.min()), "relevant_most": int(data.with_relevant.max()),
        "several_grades": data.several, "subtopics_fewest": data.subtopics[0], "subtopics_most": data.subtopics[1],
        "queries_look_like_users": data.users, "documents_look_like_entities": data.entities,
        "precision_ceiling": data.precision_ceiling(data.k), "recall_ceiling": data.recall_ceiling(data.k),
        "runs": [asdict(run) for run in data.runs],
    }  # fmt: skip
