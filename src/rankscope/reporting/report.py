"""One page that tells it all: the verdict, what it rests on, and every query to look into."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any

from rankscope.blocks import Page
from rankscope.errors import DataError, InputError
from rankscope.reporting.page import page_of
from rankscope.reporting.places import check_folder, check_page
from rankscope.reporting.subject import Subject
from rankscope.reporting.texts import with_texts
from rankscope.scoring.inputs import named_runs, read_any
from rankscope.scoring.measurements import OPTIONS as COMPARING
from rankscope.scoring.measurements import USUAL, lead_first
from rankscope.scoring.policies import POLICIES, refuse_unknown
from rankscope.scoring.scores import Scores
from rankscope.verbs.compare.compare import compare
from rankscope.verbs.compare.result import Comparison
from rankscope.verbs.evaluate.evaluate import evaluate

PAGE = ("queries_text", "docs_text", "title", "about", "shown")  # options of the page itself
ALONE = ("interval", "clusters")  # options of a comparison that one run has, too


@dataclass(frozen=True, eq=False)
class Words:
    """What a page is to say beside its numbers, as it was said."""

    queries_text: Any = None
    docs_text: Any = None
    title: str | None = None
    about: str | None = None
    shown: int | None = None
    command: str | None = None


@dataclass(frozen=True, eq=False)
class Report:
    """What ``report`` made: a ``page`` of sections, as one HTML file (``html``) or in parts.

    ``save("report.html")`` writes the page, ``export("folder")`` every table as CSV and JSON and every figure as SVG and PNG.
    ``notes`` tell what was read and left out. A notebook shows the beginning of it: the verdict, the scoreboard, the differences.
    """

    page: Page
    notes: Sequence[str] = ()

    @cached_property
    def html(self) -> str:
        """The page as one HTML document that needs nothing else: the same bytes for the same input."""
        from rankscope.show.html.page import render

        return render(self.page)

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, whose name ends in .html. Raises InputError where that cannot be done."""
        check_page(path)
        try:
            with Path(path).open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
                stream.write(self.html)
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
        return Path(path)

    def export(self, folder: str | Path) -> list[Path]:
        """Write every table and figure of the page into a folder, which is made if need be; files of the same name are replaced."""
        from rankscope.show.export import files_of

        check_folder(folder)
        out = []
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            for name, content in files_of(self.page):
                out.append(Path(folder) / name)
                out[-1].write_bytes(content)
        except OSError as error:
            raise InputError(f"{folder}: cannot be written into: {error.strerror or error}") from error
        return out

    def __str__(self) -> str:
        return "\n".join(verdict.text for verdict in self.page.verdicts)

    def _repr_html_(self) -> str | None:
        from rankscope.reporting.figures import beginning
        from rankscope.show.result import fragment

        return fragment(beginning(self.page))

    def _repr_markdown_(self) -> str:
        from rankscope.reporting.figures import beginning_in_words
        from rankscope.show.text import as_markdown

        return as_markdown(beginning_in_words(self.page))

    __repr__ = __str__


def report(  # noqa: PLR0913 - what is compared, and what the page shows of it
    qrels: Any,
    runs: Any = None,
    metrics: Any = None,
    *,
    queries_text: Any = None,
    docs_text: Any = None,
    title: str | None = None,
    about: str | None = None,
    shown: int | None = None,
    command: str | None = None,
    progress: Callable[[str], None] | None = None,
    **options: Any,
) -> Report:
    """Make one page of a run or a comparison of several: verdict, tables, charts, and every query to look into.

    ``qrels``, ``runs``, ``metrics`` and ``options`` are as for ``compare`` (``evaluate``, for one run), and scores alone may stand
    for them as there. ``queries_text`` and ``docs_text`` are texts by id: a path (TSV, CSV, JSONL as of BEIR, TREC topics and
    documents), a dict or a data frame. ``title`` stands on top, ``about`` below it (what a reader should know of the data), ``shown`` is how
    many documents of each ranking are shown (as many as have room, unless said), ``command`` is told as the way to make the page again.

    Needs the extra ``rankscope[report]`` when the page is written. Raises what ``compare`` and ``evaluate`` raise, and InputError for
    texts that cannot be read.

    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(8)}
    >>> low = {query: {"b": 2.0, "a": 1.0} for query in qrels}
    >>> high = {query: {"a": 2.0, "b": 1.0} for query in qrels} | {"q7": {"b": 1.0}}
    >>> page = rs.report(qrels, {"low": low, "high": high}, "RR").page
    >>> print(page.verdicts[0].text)
    high beats low on RR by 0.375 (95% interval 0.079 to 0.671, p = 0.020, 8
    queries: 7 better, 1 worse, 0 same).
    """
    refuse_unknown(options, "report", (*PAGE, *COMPARING))
    words = Words(queries_text, docs_text, title, about, _whole(shown), command)
    if runs is None:
        found: Any = compare(qrels, None, metrics, progress=progress, **options)
        return _made(Subject(None, found), words)
    grades = read_any("qrels", qrels)
    given = [(name, read_any("run", run, name)) for name, run in named_runs(runs)]
    if len(given) > 1:
        found = compare(grades, given, metrics, progress=progress, **options)
    else:
        _refuse_comparing(options)
        asked = lead_first(USUAL if metrics is None else metrics, options.get("primary"))
        found = evaluate(grades, given, asked, progress=progress, **_alone(options))
    return _made(_subject(found, grades, given), words)


def report_of(found: Comparison | Scores, **options: Any) -> Report:
    """The report of what ``compare`` or ``evaluate`` found; files are read again for the documents that they name.

    ``options`` are those of the page: ``queries_text``, ``docs_text``, ``title``, ``about`` and ``shown``. Raises InputError for
    others and where a run came from standard input, and DataError where a file has changed since.
    """
    _refuse_others(options)
    words = replace(Words(**options), shown=_whole(options.get("shown")))
    scores = found.scores if isinstance(found, Comparison) else found
    if scores is None or scores.data is None:
        assert isinstance(found, Comparison)
        return _made(Subject(scores, found), words)
    qrels, runs = scores.data
    if any(isinstance(source, str) and source == "-" for source in (qrels, *(run for _, run in runs))):
        raise InputError("standard input is read only once: give report a file, or what rs.read_run made of it")
    grades = read_any("qrels", qrels)
    given = [(name, read_any("run", run, name)) for name, run in runs]
    subject = _subject(found, grades, given)
    _refuse_changed(scores, subject)
    return _made(subject, words)


def _subject(found: Comparison | Scores, grades: Any, given: Sequence[tuple[str | None, Any]]) -> Subject:
    scores = found.scores if isinstance(found, Comparison) else found
    assert scores is not None
    runs = {scored.name: run for scored, (_, run) in zip(scores.runs, given, strict=True)}
    return Subject(scores, found if isinstance(found, Comparison) else None, grades, runs)


def _refuse_changed(scores: Scores, subject: Subject) -> None:
    """One line where a file that is read again is not the file that was scored, or a dict has other rows."""
    for source in scores.inputs:
        if source.same is not None:
            source.same()
    for scored in scores.runs:
        run = subject.runs[scored.name]
        rows = sum(map(len, run.values())) if isinstance(run, dict) else len(run.frame)
        dropped = scored.health.duplicates + scored.health.self_matches
        if rows != scored.health.rows + dropped:
            raise DataError(
                f"{scored.name}: {rows:,} rows where {scored.health.rows + dropped:,} were scored: the file has changed since; score it again"
            )


def _made(subject: Subject, words: Words) -> Report:
    """The page of a subject, with the texts of what it shows."""
    subject = with_texts(replace(subject, shown=words.shown), words.queries_text, words.docs_text)
    notes = [note for texts in subject.texts for note in texts.notes]
    whole = subject.comparison if subject.comparison is not None else subject.scores
    assert whole is not None
    page = _page(subject, words)
    if words.about:
        page = replace(page, about=f"{page.about}. {words.about}")
    return Report(page, [*whole.notes, *notes])


def _page(subject: Subject, words: Words) -> Page:
    try:
        return page_of(subject, words.title, words.command)
    except UnicodeEncodeError as error:  # from dicts; no file of text holds such ids
        whole = error.object if len(error.object) <= 40 else "an id"
        raise InputError(f"{whole!r} holds half of a character: mend the id, or drop that half") from None


def _refuse_others(options: Mapping[str, Any]) -> None:
    """One line for an option that the page of a result has no use for."""
    for name in options:
        if name in PAGE:
            continue
        close = get_close_matches(name, PAGE, n=1, cutoff=0.6)
        hint = f"did you mean {close[0]}?" if close else f"it takes {', '.join(PAGE)}"
        more = " (what is compared, and how, was said already)" if name in {*COMPARING, *POLICIES} else ""
        raise InputError(f"the report of a result has no option {name!r}{more}: {hint}")


def _whole(shown: Any) -> int | None:
    if shown is not None and (isinstance(shown, bool) or not hasattr(shown, "__index__") or shown < 1):
        raise InputError(f"shown={shown!r}: how many documents of each ranking are shown, a whole number of at least 1")
    return None if shown is None else int(shown)


def _alone(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that one run has use for."""
    return {name: value for name, value in options.items() if name in ALONE or name in POLICIES}


def _refuse_comparing(options: Mapping[str, Any]) -> None:
    """One line for an option that compares, where there is one run."""
    defaults = signature(compare).parameters
    for name, value in options.items():
        if name in COMPARING and name not in {*ALONE, "primary"} and value not in (defaults[name].default, []):
            raise InputError(f"{name} is for a comparison, and there is one run: leave it out, or give another run")
