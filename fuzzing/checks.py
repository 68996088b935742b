"""What one input of the fuzzer must keep: the reference reads the same, ways to read one file agree, numbers are those of the formulas."""

from __future__ import annotations

import gzip
import math
import re
import resource
import time
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
from tests.reference import formulas, readers
from tests.reference.readers import Refused, Rows, Unsaid

import rankscope as rs
from fuzzing import logs
from fuzzing.inputs import PACK, Input
from rankscope.files import open_run
from rankscope.files import raw as raw_files
from rankscope.files.matrices import scores_of
from rankscope.files.side_tables import attributes_of, costs_of
from rankscope.files.texts import texts_of
from rankscope.scoring.settings import settings_of
from rankscope.scoring.weights import weights_of

NUMBERS = {*readers.NAMES["score"], *readers.NAMES["rank"], *readers.NAMES["grade"]}
AGAIN, SCORED = 8, 16
LARGEST_GRADE = 1e60
SLOW = 1.0  # seconds of a processor
VERBS_OF_LOGS = 10  # calls for each log
LARGE = 256 << 10  # kB by which one input may make the process grow
READ: dict[str, Callable[[str], Any]] = {
    "run": rs.read_run,
    "qrels": rs.read_qrels,
    "scores": scores_of,
    "texts": texts_of,
    "attributes": attributes_of,
    "costs": costs_of,
    "weights": weights_of,
    "settings": settings_of,
    "log": logs.look,
}


@dataclass(frozen=True)
class Finding:
    """What does not hold of an input: the kind of breach, what rankscope says and what is due."""

    kind: str
    given: Input
    said: str
    due: str

    @property
    def signature(self) -> str:
        """What findings of one cause have in common: numbers, names and quotes are left out."""
        said, due = (re.sub(r"'[^']*'|\"[^\"]*\"|[\d.,]+|\(.*", "", text)[:60] for text in (self.said, self.due))
        return f"{self.kind} | {self.given.form} | {said} | {due}"


@dataclass(frozen=True)
class Outcome:
    """Of one input: a table (``rows`` are good ones where ``refused``), or the line that refuses it."""

    rows: list[tuple[Any, ...]] | None
    refused: str = ""
    line: int | None = None
    has: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()


def outcome_of(read: Callable[[], Any]) -> Outcome:
    """What reading gives: what is no error of rankscope's own goes through."""
    try:
        table = read()
    except rs.RankscopeError as error:
        return Outcome(None, str(error))
    if not hasattr(table, "frame"):  # of a file that is neither a run nor qrels
        return Outcome([])
    faults = table.source.faults
    empty = tuple(query for query in table.queries if query in set(table.more_queries))
    refused, line = (str(rs.InputError(faults[0].message)), faults[0].line) if faults else ("", None)
    return Outcome(table.frame.rows(), refused, line, tuple(table.frame.columns), empty)


def read_file(path: str, what: str) -> Outcome:
    """What reading a file gives."""
    return outcome_of(lambda: READ[what](path))


# --- what is due ------------------------------------------------------------------------------------


def due_of(given: Input) -> Rows | Refused | Unsaid:
    """What the reference makes of an input."""
    if given.kind in {"other", "log"}:
        return Unsaid("no reference of the table")
    try:
        if given.table is not None:
            return _of_table(given, given.table)
        return readers.read(_unpacked(given), given.kind, given.what)
    except (Refused, Unsaid) as found:
        return found


def _of_table(given: Input, table: pl.DataFrame) -> Rows:
    if given.steps:
        raise Unsaid("damaged Parquet has no checksum")
    if any(table[name].dtype == pl.Categorical for name in table.columns if name.lower() in NUMBERS):
        raise Unsaid("categories as numbers")
    if any(column.dtype in {pl.Binary, pl.List} and column.null_count() == len(column) for column in table):
        raise Unsaid("bytes or lists of which there is none")
    return readers.of_columns({name: column.to_list() for name, column in table.to_dict().items()}, given.what)


def _unpacked(given: Input) -> bytes:
    if given.damaged is None:
        return given.data
    if given.packed == "zst":
        raise Unsaid("damaged zstandard")
    if not given.damaged.startswith(b"\x1f\x8b"):
        raise Unsaid("no longer an archive")
    try:
        return gzip.decompress(given.damaged)
    except (OSError, EOFError, zlib.error):
        raise Refused("a damaged archive") from None


# --- the checks -------------------------------------------------------------------------------------


def check(given: Input, folder: Path, number: int = 0, done: Counter[str] | None = None) -> tuple[str, list[Finding]]:
    """Read an input and compare: the outcome in words, and what does not hold.

    Every eighth input is read in other ways, too, and every sixteenth evaluated; ``done`` counts both.
    """
    path = folder / given.name
    path.write_bytes(given.file)
    started, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    due, again = due_of(given), Counter() if done is None else done
    spent = time.process_time()
    try:
        found = read_file(str(path), given.what)
        outcome, findings = _compared(given, found, due)
        if given.kind == "log" and not given.steps:
            again["logs"] += 1
            findings += [Finding(*breach) for breach in _of_log(given, path, number)]
        if number % AGAIN == 0 and not findings and given.kind not in {"other", "log"}:
            again["again"] += 1
            findings += other_ways(given, path, found)
        if number % SCORED == 0 and not findings and isinstance(due, Rows):
            again["scored"] += 1
            findings += evaluated(given, path, due, number)
    except Exception as error:  # noqa: BLE001  what is not ours is what is looked for
        outcome, findings = "crash", [crash(given, error, due)]
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        outcome, findings = "crash", [crash(given, error, due)]
    if time.process_time() - spent > SLOW * (VERBS_OF_LOGS if given.kind == "log" else 1):
        findings.append(Finding("slow", given, f"{time.process_time() - started:.1f} s", f"under {SLOW:g} s"))
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before > LARGE:
        findings.append(Finding("memory", given, "grew by hundreds of megabytes", "about as much as the file"))
    return outcome, findings


def _of_log(given: Input, path: Path, number: int) -> list[tuple[str, Input, str, str]]:
    """The online metrics of a log as it was made, against the reference."""
    return [(kind, given, said, due) for kind, said, due in logs.breaches(path, given.data, Random(number))]


def crash(given: Input, error: BaseException, due: object) -> Finding:
    """A finding of an error that is none of rankscope's."""
    text = str(error).splitlines()[0] if str(error) else ""
    return Finding("crash", given, f"{type(error).__name__}: {text}"[:200], in_words(due))


def in_words(due: object) -> str:
    """What is due, for people."""
    if isinstance(due, Refused):
        return f"refuse: {due.why}" + (f" (line {due.line})" if due.line else "")
    return (
        f"open: {due}"
        if isinstance(due, Unsaid)
        else f"read {[tuple(row[:3]) for row in due.rows]}"
        if isinstance(due, Rows)
        else str(due)
    )


def _compared(given: Input, found: Outcome, due: Rows | Refused | Unsaid) -> tuple[str, list[Finding]]:
    said = f"refuses: {found.refused}" if found.refused else f"reads {[row[:3] for row in found.rows or ()]}"

    def breach(kind: str) -> tuple[str, list[Finding]]:
        return kind, [Finding(kind, given, said, in_words(due))]

    if "\n" in found.refused or "\r" in found.refused or "\x1b" in found.refused:
        return breach("message of several lines")
    if given.kind in {"other", "log"}:
        return "refused" if found.refused else "read", []
    if isinstance(due, Unsaid):
        return "open", []
    if isinstance(due, Refused):
        if not found.refused:
            return breach("read, though it must be refused")
        if due.line is not None and found.line is not None and due.line != found.line:
            return breach("another line")
        return "refused by both", []
    if found.refused:
        return breach("refused, though it is sound")
    return ("read by both", []) if same_rows(found, due) else breach("another table")


def same_rows(found: Outcome, due: Rows) -> bool:
    """Whether a table holds what is due, ranks and iterations included where they are."""
    rows = found.rows or []
    at = {name: place for place, name in enumerate(found.has)}
    value = at.get("score", at.get("grade", 2))
    mine: list[tuple[Any, ...]] = [(row[at["query_id"]], row[at["doc_id"]], row[value]) for row in rows]
    wanted: list[tuple[Any, ...]] = [(row.query, row.doc, row.value) for row in due.rows]
    if due.ranked is not None and "score" in at:
        if due.ranked != ("rank" in at):
            return False
        if due.ranked:
            mine = [(*cells, row[at["rank"]]) for cells, row in zip(mine, rows, strict=True)]
            wanted = [(*cells, row.rank) for cells, row in zip(wanted, due.rows, strict=True)]
    if any(row.iteration is not None for row in due.rows):
        if "iteration" not in at:
            return False
        mine = [(*cells, row[at["iteration"]]) for cells, row in zip(mine, rows, strict=True)]
        wanted = [(*cells, row.iteration) for cells, row in zip(wanted, due.rows, strict=True)]
    if not due.in_order:
        mine, wanted = sorted(mine), sorted(wanted)
    return same(mine, wanted) and sorted(found.empty) == sorted(due.queries_without_rows)


def same(mine: Sequence[tuple[Any, ...]], wanted: Sequence[tuple[Any, ...]]) -> bool:
    """Whether rows are the same, NaN being the same as NaN."""
    plain = [["nan" if isinstance(cell, float) and math.isnan(cell) else cell for cell in row] for row in mine]
    return plain == [
        ["nan" if isinstance(cell, float) and math.isnan(cell) else cell for cell in row] for row in wanted
    ]


# --- other ways to read the same --------------------------------------------------------------------

BAD_LINES = {
    "trec": b"x\n",
    "csv": b"x,x,x,x,x,x,x,x,x\n",
    "semicolon": b"x;x;x;x;x;x;x;x;x\n",
    "tsv": b"x\tx\tx\tx\tx\tx\tx\tx\tx\n",
    "jsonl": b'{"x\n',
}


def variants(given: Input) -> dict[str, tuple[str, bytes]]:
    """The same rows in other bytes, which other ways of reading take: a name and the bytes for each in words."""
    if given.damaged is not None or not given.data or given.kind == "other":
        return {}
    name = given.name.removesuffix(f".{given.packed}")
    data = given.data
    out = {"packed or not": (name, data) if given.packed else (f"{name}.gz", PACK["gz"](data))}
    if given.kind == "json" or b"\x00" in data:
        return out
    if b"\r" in data.rstrip() and b"\n" not in data.rstrip():
        return out  # of an old Mac, as long as there is no line feed
    ended = data if data.endswith(b"\n") else data + b"\n"
    out["a byte order mark before it"] = (name, b"\xef\xbb\xbf" + data.removeprefix(b"\xef\xbb\xbf"))
    if data.count(b'"') % 2 == 0:
        out["a blank line after it"] = (name, ended + b"\n")
    if given.kind == "trec":
        out["a comment after it"] = (name, ended + b"# a note\n")
    return out


def other_ways(given: Input, path: Path, found: Outcome) -> list[Finding]:
    """What other ways to read the same rows tell that this one does not."""
    ways: dict[str, Callable[[], Outcome]] = {}
    for words, (name, data) in variants(given).items():
        other = path.with_name(f"other-{name}")
        ways[words] = lambda other=other, data=data: (other.write_bytes(data), read_file(str(other), given.what))[1]  # type: ignore[misc]
    if given.what == "run" and (given.kind == "trec" or given.table is not None):
        ways["in parts"] = lambda: in_parts(path)
    if given.kind in BAD_LINES and given.damaged is None and found.rows and b'"' not in given.data:
        ways["a bad line after it"] = lambda: with_bad_line(given, path)
    out = []
    for words, way in ways.items():
        other_found = way()
        if words == "a bad line after it":
            agree = not other_found.rows or found.rows is None or _nearly(found, other_found)
        else:
            agree = bool(found.refused) == bool(other_found.refused) and _nearly(found, other_found)
        if not agree:
            said, due = (
                f"refuses: {f.refused}" if f.refused else f"reads {[row[:3] for row in f.rows or ()]}"
                for f in (other_found, found)
            )
            out.append(
                Finding(
                    f"another table with {words}" if words != "in parts" else "another table in parts", given, said, due
                )
            )
    return out


def _nearly(a: Outcome, b: Outcome) -> bool:
    return a.rows is None or b.rows is None or (a.has == b.has and same(a.rows, b.rows))


def with_bad_line(given: Input, path: Path) -> Outcome:
    """The file with a line more that is no row, so that the careful way is taken: what is good stays as it was."""
    other = path.with_name(f"bad-{path.name}")
    data = given.data if given.data.endswith(b"\n") else given.data + b"\n"
    other.write_bytes(PACK[given.packed](data + BAD_LINES[given.kind]))
    return read_file(str(other), given.what)


def in_parts(path: Path) -> Outcome:
    """A run read part by part, as a large one is, a query a part."""
    small = raw_files.SMALL
    raw_files.SMALL = -1
    try:
        return outcome_of(lambda: _joined(open_run(str(path))))
    finally:
        raw_files.SMALL = small


def _joined(run: Any) -> Any:
    if not hasattr(run, "reads"):
        return run
    try:
        parts = [read() for read in run.reads(99)]
    except rs.RankscopeError:
        return run.whole()
    if not parts:
        return run.whole()
    head = run.without_rows([facts for _, facts in parts], 1)
    return replace(parts[0][0], frame=pl.concat([part.frame for part, _ in parts], how="diagonal"), source=head.source)


# --- numbers ----------------------------------------------------------------------------------------

Values = dict[tuple[str, str], float | None]
SCALED = {"ERR", "nDCG(gain='exponential')@5"}  # need grades on a scale
GAINS = {name for name in formulas.FORMULAS if name.startswith("nDCG")}
Documents = Mapping[str, Mapping[str, tuple[float, int | None]]]
Judgments = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Question:
    """Judgments and a run to be scored: as the file that is tried (``path``) and as dicts, under a policy for ties."""

    qrels: Judgments
    run: Documents
    ties: str

    @property
    def metrics(self) -> list[str]:
        """The metrics that take these grades."""
        highest = max((grade for graded in self.qrels.values() for grade in graded.values()), default=0)
        left_out = SCALED | GAINS if highest > 1e6 else SCALED if highest > formulas.HIGHEST else set()
        return [name for name in formulas.FORMULAS if name not in left_out]

    def due(self) -> Values | None:
        """What the formulas give, None where run and judgments share no query."""
        if not any(query in self.run for query in self.qrels):
            return None
        return formulas.values(self.qrels, self.run, self.ties, self.metrics)


def evaluated(given: Input, path: Path, due: Rows, number: int) -> list[Finding]:
    """Every metric of an input with made judgments or a made run, against the formulas, as a file and as dicts."""
    rng = Random(number)
    documents = [(row.query, row.doc) for row in due.rows]
    is_run = given.what == "run"
    run = _run_of(due) if is_run else _made_run(rng, documents)
    qrels = _made_grades(rng, documents) if is_run else _grades_of(due)
    ties = "rank" if is_run and _ranks_decide(due) and rng.random() < 0.3 else rng.choice(["trec", "docid", "input"])
    asked = Question(qrels, run, ties)
    if not qrels:
        return []
    scores = {query: {doc: score for doc, (score, _) in docs.items()} for query, docs in run.items()}
    as_file = values_of(qrels, str(path), asked) if is_run else values_of(str(path), scores, asked)
    if not _fit(due, given.what):
        if isinstance(as_file, str):
            return []
        return [
            Finding(
                "numbers, though none can be made",
                given,
                str(as_file)[:200],
                "refuse: NaN, infinite grades, or a document twice",
            )
        ]
    wanted = asked.due()
    several = any(row.iteration not in {None, due.rows[0].iteration} for row in due.rows)
    as_dicts = as_file if ties == "rank" or several else values_of(qrels, scores, asked)
    return _number_findings(given, as_file, as_dicts, wanted, ties)


def _made_grades(rng: Random, documents: Sequence[tuple[str, str]]) -> dict[str, dict[str, float]]:
    grades: dict[str, dict[str, float]] = {query: {} for query, _ in documents if rng.random() < 0.8}
    for query, doc in [*documents, *((query, "not retrieved") for query in grades)]:
        if query in grades and rng.random() < 0.6:
            grades[query][doc] = rng.choice([0.0, 1.0, 2.0, 3.0, 0.5, -1.0])
    return {query: graded for query, graded in grades.items() if graded}


def _made_run(rng: Random, documents: Sequence[tuple[str, str]]) -> dict[str, dict[str, tuple[float, int | None]]]:
    run: dict[str, dict[str, tuple[float, int | None]]] = {query: {"other": (0.5, None)} for query, _ in documents}
    for query, doc in documents:
        if rng.random() < 0.7:
            run[query][doc] = (rng.choice([1.0, 2.0, 3.0, 0.5, -1.0]), None)
    return run


def _run_of(due: Rows) -> dict[str, dict[str, tuple[float, int | None]]]:
    run: dict[str, dict[str, tuple[float, int | None]]] = {query: {} for query in due.queries_without_rows}
    for row in due.rows:
        run.setdefault(row.query, {})[row.doc] = (row.value, row.rank)
    return run


def _grades_of(due: Rows) -> dict[str, dict[str, float]]:
    grades: dict[str, dict[str, float]] = {}
    for row in due.rows:
        grades.setdefault(row.query, {})[row.doc] = row.value
    return grades | {query: {} for query in due.queries_without_rows}


def _fit(due: Rows, what: str) -> bool:
    """Whether numbers can be made of these rows: each pair once, no NaN, no grade that is infinite or too large to compute with."""
    sound = (lambda value: not math.isnan(value)) if what == "run" else (lambda value: abs(value) <= LARGEST_GRADE)
    return len({(row.query, row.doc) for row in due.rows}) == len(due.rows) and all(
        sound(row.value) for row in due.rows
    )


def _ranks_decide(due: Rows) -> bool:
    ranks = [(row.query, row.rank) for row in due.rows]
    return due.ranked is True and len(set(ranks)) == len(ranks) and all(rank is not None for _, rank in ranks)


def values_of(qrels: Any, run: Any, asked: Question) -> Values | str:
    """The value of each query and metric, or the line that refuses them."""
    try:
        scores = rs.evaluate(qrels, run, asked.metrics, ties=asked.ties)  # type: ignore[call-overload]
    except rs.RankscopeError as error:
        return str(error)
    rows = scores.per_query.select("query_id", "metric", "value").iter_rows()
    return {(query, metric): None if value is None or math.isnan(value) else value for query, metric, value in rows}


def _number_findings(
    given: Input, as_file: Values | str, as_dicts: Values | str, wanted: Values | None, ties: str
) -> list[Finding]:
    if isinstance(as_file, str) or wanted is None:
        if isinstance(as_file, str) and wanted is None:
            return []
        return [Finding("numbers or none", given, str(as_file)[:200], str(wanted)[:200])]
    if as_file != as_dicts:
        return [Finding("a file and a dict differ", given, f"{as_file}"[:200], f"{as_dicts}"[:200])]
    for key in sorted(as_file.keys() | wanted.keys()):
        mine, due = as_file.get(key), wanted.get(key)
        close = mine is due if mine is None or due is None else math.isclose(mine, due, rel_tol=1e-12, abs_tol=1e-12)
        if not close:
            return [Finding(f"another value of {key[1]}", given, f"{key[0]}: {mine}", f"{due} (ties {ties})")]
    return []
