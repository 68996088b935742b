"""One page with everything: the verdict, its evidence, and every query."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any, cast

from rankscope import words
from rankscope.blocks import Block, Chart, Heading, Page, Paragraph, Table, Verdict
from rankscope.declared import whole_number
from rankscope.errors import DataError, InputError
from rankscope.experiments.plan import read_plan
from rankscope.files import read_qrels, read_run
from rankscope.files.texts import texts_of
from rankscope.impressions import Log
from rankscope.panels.families import BEST
from rankscope.reporting import check_folder, check_page_file
from rankscope.reporting.agreement import OnlineAgreement, agreement
from rankscope.reporting.explorer.rankings import documents_of
from rankscope.reporting.page import page_of, page_of_both, page_of_log, page_of_result
from rankscope.reporting.subject import MANY, Subject
from rankscope.scoring.inputs import read_inputs
from rankscope.scoring.logs import log_of
from rankscope.scoring.measurements import OPTIONS as COMPARING
from rankscope.scoring.measurements import USUAL, check_comparison, lead_first
from rankscope.scoring.policies import POLICIES, Policies, refuse_unknown
from rankscope.scoring.scores import Scores
from rankscope.show.result import Result, fragment
from rankscope.show.text import as_markdown
from rankscope.store import write_file
from rankscope.verbs.compare.compare import compare
from rankscope.verbs.compare.result import Comparison
from rankscope.verbs.demo.demo import RUNS, UNJUDGED, folder
from rankscope.verbs.evaluate.evaluate import evaluate
from rankscope.verbs.experiment.experiment import experiment
from rankscope.verbs.experiment.result import Experiment
from rankscope.words import option_named

PAGE = (  # options of the page itself
    "queries_text", "docs_text", "shown", "notes", "title", "about", "log", "online", "clicks", "plan", "split", "guardrails", "covariates", "prior",
)  # fmt: skip
ALONE = ("interval", "clusters")  # options of a comparison that one run has, too
WRITE = 'report.save("report.html") writes the whole page'
MOST_ROWS = 30  # of a table that is read at a glance


@dataclass(frozen=True, eq=False)
class Report:
    """The result of ``report``: a ``page`` of sections, as one HTML file (``html``) or in parts.

    ``save("report.html")`` writes the page, ``export("folder")`` every table as CSV and JSON and every figure as SVG,
    PNG and PDF, with and without its title.
    ``notes`` say what was read and left out. A notebook shows the beginning of it: the verdict, one table, one chart.
    """

    page: Page
    notes: Sequence[str] = ()

    @property
    def exit_code(self) -> int:
        """0, or 3 for an experiment with an invalid split."""
        return self.page.exit_code

    @cached_property
    def html(self) -> str:
        """The page as one self-contained HTML document: the same bytes for the same input."""
        from rankscope.show.html.page import render

        return render(self.page)

    def save(self, path: str | Path) -> Path:
        """Write the page to a file with the ending .html. Raises InputError if that is impossible."""
        check_page_file(path)
        write_file(path, [self.html])
        return Path(path)

    def export(self, folder: str | Path) -> list[Path]:
        """Write every table and figure of the page into a folder, which is made if need be; files of the same name are replaced.

        Each file is there in full or not at all. Raises InputError where one cannot be written.
        """
        from rankscope.show.export import files_of

        check_folder(folder)
        out = []
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder}: cannot be written into: {error.strerror or error}") from None
        for name, content in files_of(self.page):
            out.append(Path(folder) / name)
            write_file(out[-1], [content])
        return out

    def __str__(self) -> str:
        return "\n".join(verdict.text for verdict in self.page.verdicts)

    def _repr_html_(self) -> str | None:
        text = Paragraph(f"{WRITE}, with every query to look into.")
        return fragment([*self._top, *self._verdict, *self._at_a_glance, text])

    def _repr_markdown_(self) -> str:
        texts = [Paragraph(text) for verdict in self._verdict for text in (verdict.text, *verdict.more)]
        tables = [block for block in self._at_a_glance if isinstance(block, Table)]
        return as_markdown([*self._top, *texts, *tables, Paragraph(f"{WRITE}.")])

    @property
    def _top(self) -> list[Block]:
        return [Heading(self.page.title), *([Paragraph(self.page.about, quiet=True)] if self.page.about else [])]

    @property
    def _at_a_glance(self) -> list[Any]:
        """Return one table and one chart: those of the first screen, if any."""
        blocks = [block for section in self.page.sections for block in section.blocks]
        tables = [block for block in blocks if isinstance(block, Table)]
        if self.page.answer is not None:
            tables = [replace(self.page.answer.board, note="")]
        charts = sorted(
            (block for block in blocks if isinstance(block, Chart)), key=lambda chart: chart.name != "forest"
        )
        return [*(table for table in tables[:1] if len(table.rows) <= MOST_ROWS), *charts[:1]]

    @property
    def _verdict(self) -> list[Verdict]:
        """The answer in a sentence, with its statistics."""
        answer, verdicts = self.page.answer, self.page.verdicts[:1]
        if answer is None:
            return list(verdicts)
        return [Verdict(f"{answer.text}.", answer.tone, more=tuple(verdict.text for verdict in verdicts))]

    __repr__ = __str__


# fmt: off
def report(  # noqa: PLR0913 - what is compared, and what the page shows of it
    qrels: Any, runs: Any = None, metrics: Any = None, *,
    log: Any = None, online: Any = None, clicks: Any = None, plan: Any = None, split: Any = None, guardrails: Any = None, covariates: Any = None, prior: Any = None, queries_text: Any = None, docs_text: Any = None, title: str | None = None,
    about: str | None = None, shown: int | None = None, notes: Any = None, command: str | None = None,
    progress: Callable[[str], None] | None = None, **options: Any,
) -> Report:
    """Make one page of a result, of a run, of a comparison of several, or of a log: verdict, tables, charts, and every query to look into.

    ``rs.report(result)`` takes what any verb found: scores, a comparison, a gate, a diagnosis. Files are read again for the
    documents that scores and comparisons name. Otherwise ``qrels``, ``runs``, ``metrics`` and ``options`` are as for ``compare``
    (``evaluate``, for one run), and a table of scores may stand for them as there; with such options scores are compared.
    The page of a log has the verdict of its experiment and online metrics, of its interleaved lists, or of policies (a ``target``, and options of ``estimate``).

    A comparison and an experiment on the same change make one page, which says whether they point the same way: ``rs.report(comparison, experiment)``,
    what ``agreement`` gave, or rankings with the ``log`` of the experiment, whose metrics are ``online`` (the first decides). Of a log, alone or
    beside rankings, ``plan``, ``split``, ``guardrails``, ``covariates`` and ``prior`` are as for ``experiment``.
    ``clicks=True`` adds the position bias and the click models of a log (as do names of models, like ``["PBM", "DBN"]``).

    ``queries_text`` and ``docs_text`` are texts by id: a path (TSV, CSV, JSONL as of BEIR, TREC topics and
    documents), a dict or a data frame. ``title`` stands on top, ``about`` below it (what a reader should know of the data), ``shown`` is how
    many documents of each ranking are shown (by default as many as there is room for), ``notes`` is the file of notes and grades that an
    earlier page saved (or what is in it: ``{"schema": "rankscope/notes/1", ...}``), ``command`` is given as the way to make the page again.

    Needs the extra ``rankscope[report]`` when the page is written. Raises what ``compare`` and ``evaluate`` raise, InputError for
    texts that cannot be read and for a result whose run came from standard input, and DataError where a file has changed since. Of four
    runs on, the others are compared with the best one unless a ``baseline`` is named.

    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(8)}
    >>> low = {query: {"b": 2.0, "a": 1.0} for query in qrels}
    >>> high = {query: {"a": 2.0, "b": 1.0} for query in qrels} | {"q7": {"b": 1.0}}
    >>> page = rs.report(qrels, {"low": low, "high": high}, "RR").page
    >>> print(page.verdicts[0].text)
    high beats low on RR by 0.375 (95% interval 0.079 to 0.671, p = 0.020; better on 7 queries,
    worse on 1, unchanged on 0).
    >>> rs.report(rs.ties(qrels, {"low": low}), title="Ties of low").page.title
    'Ties of low'
    """
    if shown is not None:
        whole_number("shown", shown, 1, "how many documents of each ranking are shown, a whole number of at least 1")
    of_page = {"queries_text": queries_text, "docs_text": docs_text, "shown": shown, "notes": notes}
    marks = "" if notes is None else json.dumps(read_notes(notes), ensure_ascii=False)
    log_options = {"plan": plan, "split": split, "guardrails": guardrails, "covariates": covariates, "prior": prior}
    log_options = {"log": log, "online": online, "clicks": clicks or None, **{name: value for name, value in log_options.items() if value not in (None, [], ())}}
    of_log = {name: value for name, value in log_options.items() if value is not None}
    both = _agreement_of_results(qrels, runs)
    if both is None and (other := _other_page(qrels, runs, metrics, options, of_log, title, command)) is not None:
        if any(one is not None for one in of_page.values()):
            raise InputError(f"{', '.join(of_page)} are for the page of scores or a comparison: leave them out")
        page, other_notes = other
        return Report(replace(page, about=about or page.about), other_notes)
    if both is None:
        subject, both = _subject_and_agreement(qrels, runs, metrics, options, of_log, progress)
    else:
        _refuse_settled(None if isinstance(qrels, Comparison | Experiment) else runs, metrics, {**options, **of_log})
        subject = _read_again(both.comparison)
    subject = with_texts(replace(subject, depth=shown, marks=marks), queries_text, docs_text)
    page = _page(subject, both, title, command)
    read = [*(subject.result if both is None else both).notes, *(note for texts in subject.texts for note in texts.notes)]
    return Report(replace(page, about=f"{page.about}. {about}") if about else page, read)
# fmt: on


def _page(subject: Subject[Any], both: OnlineAgreement | None, title: str | None, command: str | None) -> Page:
    try:
        return page_of(subject, title, command) if both is None else page_of_both(subject, both, title, command)
    except UnicodeEncodeError as error:  # from dicts; no file of text holds such ids
        whole = error.object if len(error.object) <= 40 else "an id"
        raise InputError(f"{whole!r} holds half of a character: correct the id, or drop that half") from None


def _agreement_of_results(first: Any, second: Any) -> OnlineAgreement | None:
    """Return the offline and the online result, if the input is results; otherwise None."""
    if isinstance(first, OnlineAgreement):
        return first
    results = [*first] if isinstance(first, list | tuple) else [first, second]
    if sum(isinstance(one, Result) for one in results) < 2:
        return None
    offline = next((one for one in results if isinstance(one, Comparison)), None)
    online = next((one for one in results if isinstance(one, Experiment)), None)
    if len(results) > 2 or offline is None or online is None:
        there = words.listing(type(one).__name__ for one in results)
        raise InputError(f"{there}: a page of two results is of a comparison and an experiment on the same change")
    return agreement(offline, online)


def _subject_and_agreement(
    source: Any, runs: Any, metrics: Any, options: Mapping[str, Any], of_log: dict[str, Any],
    progress: Callable[[str], None] | None,
) -> tuple[Subject[Any], OnlineAgreement | None]:  # fmt: skip
    """Return the subject of a page, and its agreement with users if a log has an experiment."""
    beside = None
    if of_log:
        if "log" not in of_log:
            stray = option_named(next(iter(of_log)))
            raise InputError(f"{stray} is about a log of users: leave it out, or give the log as well")
        of_experiment = {name: value for name, value in of_log.items() if name not in {"log", "online"}}
        if "clicks" in of_log:
            raise InputError(
                f"{option_named('clicks')} is for the page of a log without runs: leave it out, or leave out the runs"
            )
        beside = experiment(of_log["log"], of_log.get("online"), alpha=options.get("alpha", 0.05), **of_experiment)
    settled = runs is None and metrics is None and not options
    if isinstance(source, Result) and (settled or not isinstance(source, Scores)):
        subject = _read_again(cast("Scores | Comparison", source))
    else:
        refuse_unknown(options, "report", (*PAGE, *COMPARING))
        like = None if beside is None else beside.baseline
        subject = _subject_of(source, runs, metrics, like, progress=progress, **options)
    if beside is None:
        return subject, None
    if subject.comparison is None:
        raise InputError("the log of an experiment needs a comparison: give the run of each variant")
    return subject, agreement(subject.comparison, beside)


def _other_page(
    source: Any, runs: Any, metrics: Any, options: Mapping[str, Any], of_log: Mapping[str, Any], title: str | None,
    command: str | None,
) -> tuple[Page, Sequence[str]] | None:  # fmt: skip
    """Return the page of a log or of a result other than scores or a comparison, and its notes; otherwise None."""
    if isinstance(source, Scores):
        return None
    if isinstance(source, Result):
        _refuse_settled(runs, metrics, options)
        if isinstance(source, Comparison):
            return None
        _refuse_settled(None, None, of_log)
        return page_of_result(source, title, command), list(source.notes)
    reading = {"columns": options.get("columns")}
    if "plan" in of_log and not isinstance(source, Log):
        reading = read_plan(of_log["plan"]).reading(reading)
    log = log_of(source, target=options.get("target"), **reading) if runs is None else None
    if log is None:
        return None
    if "log" in of_log or "online" in of_log:
        flag = "--log" if "log" in of_log else "--online"
        raise InputError(f"{log.label} is a log itself: name its metrics with -m, and leave out {flag}")
    return page_of_log(log, metrics, {**options, **of_log}, title, command), log.source.notes


def _subject_of(qrels: Any, runs: Any, metrics: Any, like: str | None, **options: Any) -> Subject[Any]:
    """Return the subject: a comparison, or scores of one run; ``like`` is the baseline of an experiment on the same change."""
    if runs is None:
        return Subject(compare(qrels, None, metrics, **options))
    check_comparison(metrics, options)
    reading = {name: options.pop(name) for name in ("columns", "grades") if name in options}
    grades, data = read_inputs(qrels, runs, Policies(**reading))
    if len(data) > 1:
        return _with_rankings(_compared(grades, data, metrics, options, like), grades, data)
    defaults = signature(compare).parameters
    for name, value in options.items():
        compares = name in COMPARING and name not in {*ALONE, "primary", "progress"}
        if compares and value not in (defaults[name].default, []):
            raise InputError(f"{name} is for a comparison, and there is one run: leave it out, or give another run")
    wanted = lead_first(USUAL if metrics is None else metrics, options.get("primary"))
    kept = {name: value for name, value in options.items() if name in {*ALONE, *POLICIES, "progress"}}
    return _with_rankings(evaluate(grades, data, wanted, **kept), grades, data)


def _compared(
    grades: Any, data: Sequence[Any], metrics: Any, options: Mapping[str, Any], like: str | None
) -> Comparison:
    """Compare several runs; many are compared with the best, unless a baseline is named."""
    if (len(data) < MANY and like is None) or options.get("baseline") is not None or options.get("all_pairs"):
        return compare(grades, data, metrics, **options)
    later = {name: options[name] for name in ("slices", "costs", "limits") if name in options}
    comparison = compare(grades, data, metrics, **{name: value for name, value in options.items() if name not in later})
    panel = comparison.panels[0]
    best = BEST if len(panel.systems) >= MANY and panel.sign else comparison.baseline
    chosen = str(like) if like in comparison.systems else best
    if chosen == comparison.baseline:
        return compare(grades, data, metrics, **options) if later else comparison
    kept = {name: value for name, value in options.items() if name not in {*POLICIES, "progress"}}
    against = {"all_pairs": True} if chosen == BEST in comparison.systems else {"baseline": chosen}
    return compare(comparison.scores, None, None, **{**kept, **against})


def _read_again(result: Scores | Comparison) -> Subject[Any]:
    """The subject of a result; files are read again for the documents that it names."""
    scores = result.scores if isinstance(result, Comparison) else result
    if scores is None or scores.data is None:
        return Subject(result)
    qrels, runs = scores.data
    if any(isinstance(source, str) and source == "-" for source in (qrels, *(run for _, run in runs))):
        raise InputError("standard input is read only once: give report a file, or the result of rs.read_run")
    grades, read = read_inputs(qrels, runs, scores.request.policies)
    subject = _with_rankings(result, grades, read)
    for source in scores.inputs:
        if source.same is not None:
            source.same()
    for scored in scores.runs:  # a file that is read again is the one that was scored, and a dict has the same rows
        run, health = subject.runs[scored.name], scored.health
        rows = sum(map(len, run.values())) if isinstance(run, dict) else len(run.frame)
        before = health.rows + health.duplicates + health.self_matches
        if rows != before:
            raise DataError(
                f"{scored.name}: {words.counted(rows, 'row')}, but {words.count(before)} were scored: the file has changed since; score it again"
            )
    return subject


def _with_rankings(result: Comparison | Scores, grades: Any, runs: Sequence[tuple[str | None, Any]]) -> Subject[Any]:
    scores = result.scores if isinstance(result, Comparison) else result
    assert scores is not None
    return Subject(result, grades, {scored.name: run for scored, (_, run) in zip(scores.runs, runs, strict=True)})


def with_texts(subject: Subject[Any], queries_text: Any = None, docs_text: Any = None) -> Subject[Any]:
    """The subject with the texts of its queries and of the documents that are to be shown."""
    if queries_text is not None:
        texts = texts_of(queries_text, subject.lead.units, "query")
        subject = replace(subject, queries_text=texts.by_id, texts=(texts,))
    if docs_text is not None:
        if subject.scores is None:
            raise InputError("scores contain no documents, so their texts cannot be shown: leave them out")
        texts = texts_of(docs_text, documents_of(subject, subject.depth))
        subject = replace(subject, docs_text=texts.by_id, texts=(*subject.texts, texts))
    return subject


def _refuse_settled(runs: Any, metrics: Any, options: Mapping[str, Any]) -> None:
    """Refuse options that the page of a result does not use."""
    inputs = {"runs": runs, "metrics": metrics}
    for name in [*(name for name, value in inputs.items() if value is not None), *options]:
        known = name in {*inputs, *COMPARING, *POLICIES}
        settled = " (the comparison is fixed)" if known else ""
        hint = words.hint(name, PAGE, most=len(PAGE))
        raise InputError(f"the report of a result has no option {name!r}{settled}{hint}")


def playground() -> Report:
    """A page on which rankings can be rearranged to see which metrics move: ``rs.playground().save("playground.html")``.

    >>> playground().page.title
    'Playground'
    """
    from rankscope.reporting import playground as own

    return Report(own.playground())


SCHEMA = "rankscope/notes/1"
WANTED = 'give the file written by "save notes" of a report'


def read_notes(source: Any) -> dict[str, Any]:
    """Read notes on queries, and notes and grades on documents, from the JSON that a page saved.

    ``queries`` are ``{"query_id", "note"}``, ``documents`` ``{"query_id", "doc_id", "grade", "note"}``; ``grade`` and ``note`` may be
    left out. Raises InputError for anything else.

    >>> read_notes({"schema": "rankscope/notes/1", "queries": [{"query_id": "q1", "note": "ambiguous"}]})
    {'schema': 'rankscope/notes/1', 'queries': [{'query_id': 'q1', 'note': 'ambiguous'}], 'documents': []}
    """
    name = "notes" if isinstance(source, Mapping) else str(source)
    whole = source if isinstance(source, Mapping) else _parsed(name, source)
    if not isinstance(whole, Mapping) or whole.get("schema") != SCHEMA:
        raise InputError(f'{name}: not the notes of a report ("schema" is not "{SCHEMA}"); {WANTED}')
    lists = [whole.get(key, []) for key in ("queries", "documents")]
    for key, entries in zip(("queries", "documents"), lists, strict=True):
        if not isinstance(entries, list):
            raise InputError(f'{name}: "{key}" is not a list; {WANTED}')
    queries = [_checked(name, one, ("query_id",), ("note",)) for one in lists[0]]
    documents = [_checked(name, one, ("query_id", "doc_id"), ("grade", "note")) for one in lists[1]]
    return {"schema": SCHEMA, "queries": queries, "documents": documents}


def _parsed(name: str, source: Any) -> Any:
    try:
        return json.loads(Path(source).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror or error}") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{name}: no JSON ({error}); {WANTED}") from error


def _checked(name: str, one: Any, ids: tuple[str, ...], more: tuple[str, ...]) -> dict[str, Any]:
    """An entry with the keys it may have, each as it must be."""
    if not isinstance(one, Mapping) or any(not isinstance(one.get(key), str) for key in ids):
        raise InputError(f"{name}: an entry without {words.listing(ids)}: {words.short(str(one))}")
    out = {key: one[key] for key in ids}
    for key in more:
        value = one.get(key)
        if value in (None, ""):
            continue
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not (isinstance(value, str) if key == "note" else number):
            right, entry = "text" if key == "note" else "a number", words.listing(out.values())
            raise InputError(f"{name}: {key} of {entry} is {words.short(str(value))}: it must be {right}")
        out[key] = value
    return out


def demo_report() -> Report:
    """Return the report on the three rankings of the demo, with the texts of queries and documents."""
    there = f"{folder()}{os.sep}"

    def under_file_name(table: Any) -> Any:
        """Return a table without its folder, which differs on every machine."""
        notes = tuple(note.replace(there, "demo/") for note in table.source.notes)
        label = table.source.label.replace(there, "demo/")
        return replace(table, source=replace(table.source, label=label, path=label, notes=notes))

    qrels = under_file_name(read_qrels(folder() / "qrels.txt"))
    runs = [(name, under_file_name(read_run(folder() / f"{name}.run.gz"))) for name in RUNS]
    queries, docs = (texts_of(folder() / name).by_id for name in ("queries.tsv", "docs.jsonl.gz"))
    return report(
        qrels, runs, queries_text=queries, docs_text=docs,
        title="Three ways to search Python's documentation", command="rankscope demo --report demo.html",
        about=f"Demo queries of rankscope. {UNJUDGED}",
    )  # fmt: skip
