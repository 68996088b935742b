"""Readers as plain as the documents that promise what is read: slow, a line at a time, sharing no code with what they check.

``read`` gives what stands in a file, as ``Rows``. It raises ``Refused`` where rankscope must refuse the file, and ``Unsaid`` where no document
settles what is right, so that nothing can be held against a reader but that it crashes.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

BOM = "\ufeff"
WHITESPACE = " \t\r\v\f"  # a line feed ends a line
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)", re.ASCII | re.IGNORECASE)
OTHERS = (
    b"PAR1",
    b"BZh",
    b"PK\x03\x04",
    b"SQLite format",
    b"ARROW1",
    b"\xff\xfe",
    b"\xfe\xff",
    b"\x80\x04",
    b"\x89HDF",
)
LINE_END = re.compile(r"\r*\n|\r+\Z")
SEPARATORS = {"csv": ",", "tsv": "\t", "semicolon": ";"}
NAMES = {
    "query_id": ("query_id", "qid", "query", "topic", "topic_id", "user_id", "user", "session_id", "customer_id"),
    "doc_id": (
        "doc_id", "docno", "corpus_id", "document_id", "chunk_id", "passage_id", "item_id", "product_id", "article_id",
        "movie_id", "item",
    ),
    "score": ("score",),
    "rank": ("rank",),
    "grade": ("grade", "relevance", "rel", "label", "rating"),
    "iteration": ("iteration", "iter", "subtopic"),
    "tag": ("run", "tag"),
}  # fmt: skip
FLOAT_ID = re.compile(r"-?(\d+\.0+|\d(\.\d+)?[eE]\+\d+)", re.ASCII)  # a whole number, written as a float
ROLES = {"run": ("query_id", "doc_id", "score", "rank", "tag"), "qrels": ("query_id", "doc_id", "grade", "iteration")}


class Refused(Exception):
    """What rankscope must refuse; ``line`` is where the first fault stands, where it has to say so."""

    def __init__(self, why: str, line: int | None = None) -> None:
        super().__init__(why)
        self.why, self.line = why, line


class Unsaid(Exception):
    """What no document settles."""


class Row(NamedTuple):
    """A document of a query; ``value`` is its score or grade."""

    query: str
    doc: str
    value: float
    rank: int | None = None
    iteration: str | None = None


@dataclass
class Rows:
    """What stands in a file. ``ranked`` is None where it is left open whether the ranks are kept."""

    rows: list[Row]
    ranked: bool | None = False
    queries_without_rows: list[str] = field(default_factory=list)
    in_order: bool = True


def read(data: bytes, kind: str, what: str) -> Rows:
    """Read a file of a known kind (trec, csv, tsv, semicolon, jsonl, json) as a run or as qrels."""
    if not data:
        raise Refused("an empty file")
    if data.startswith(OTHERS):
        raise Unsaid("begins like another kind of file")
    if b"\x00" in data:
        raise Unsaid("zero bytes")  # refused in text, or told to be another format
    try:
        text = data.decode("utf-8").removeprefix(BOM)
    except UnicodeDecodeError:
        raise Refused("not UTF-8") from None
    if kind == "json":
        return _json(text, what)
    if kind == "jsonl":
        return _jsonl(text, what)
    return _trec(text, what) if kind == "trec" else _columns(text, kind, what)


def number_of(text: str) -> float | None:
    return float(text) if NUMBER.fullmatch(text) else None


def _sum_up(rows: list[Row], faults: list[int], ranked: bool | None, nothing: str = "no rows") -> Rows:
    if faults:
        raise Refused("faulty rows", min(faults))
    if not rows:
        raise Refused(nothing)
    return Rows(rows, ranked)


# --- TREC files ---------------------------------------------------------------------------------------


def _trec(text: str, what: str) -> Rows:
    lines = [(number, line.strip(WHITESPACE)) for number, line in enumerate(text.split("\n"), 1)]
    content = [(number, Fields.of(line)) for number, line in lines if line and line[0] != "#"]
    _looks_like_trec(text, [line for _, line in lines if line])
    if not content:
        raise Refused("no rows")
    return _trec_rows(content, what)


class Fields(list[str]):
    """The fields of a line; ``parted`` tells whether a carriage return stands within it, so that it may be two lines."""

    parted = False

    @classmethod
    def of(cls, line: str) -> Fields:
        fields = cls(re.split(f"[{WHITESPACE}]+", line))
        fields.parted = "\r" in line
        return fields


def _looks_like_trec(text: str, lines: list[str]) -> None:
    """Leave open what may be taken for another format, or for lines of an old Mac."""
    if "\n" not in text and "\r" in text.strip():
        raise Refused("lines end in a lone carriage return")
    first = lines[0] if lines else ""
    if first[:1] in {"{", "["}:
        raise Unsaid("begins like JSON")
    known = {name for names in NAMES.values() for name in names}
    for separator in SEPARATORS.values():
        if len({cell.strip().lower() for cell in first.split(separator)} & known) >= 2:
            raise Unsaid("begins with a header")


def _trec_rows(content: list[tuple[int, Fields]], what: str) -> Rows:
    widths = Counter(len(fields) for _, fields in content)
    (width, count), *others = widths.most_common()
    if others and others[0][1] == count:
        raise Unsaid("as many lines have one number of columns as another")
    typical = next(fields for _, fields in content if len(fields) == width)
    if width < 3:
        raise Refused("too few columns")
    if what == "run":
        if width == 3 and number_of(typical[2]) is not None:
            return _ms_marco(content)
        return _lines_of_six(content, width)
    if width >= 6:
        if number_of(typical[4]) is not None:
            raise Refused("a run")
        raise Unsaid("most lines have more columns than qrels have")
    if width == 5:
        return _five(content)
    if width == 3:
        if number_of(typical[2]) is None:
            raise Refused("three columns, the third is no number")
        return _headerless(content, (0, 1, 2, None), 3, width)
    return _headerless(content, (0, 2, 3, 1), 4, width)


def _lines_of_six(content: list[tuple[int, Fields]], width: int) -> Rows:
    rows, faults, ranks = [], [], []
    for number, fields in content:
        score = number_of(fields[4]) if len(fields) >= 6 else None
        if score is None or _may_hold_a_blank(fields, {3: True, 4: False}, 6, width):
            faults.append(number)
            continue
        ranks.append(fields[3])
        rows.append(Row(fields[0], fields[2], score, _whole(fields[3])))
    return _sum_up(rows, faults, _ranked(ranks))


def _may_hold_a_blank(fields: Fields, numbers: Mapping[int, bool], due: int, usual: int) -> bool:
    """Whether a line with too many columns is no row with something behind it, or could begin further to the right as well.

    ``numbers`` are the places where numbers are due, whole ones where True.
    """
    if len(fields) > due and fields.parted:
        return True
    if len(fields) > due < usual:
        raise Unsaid("most lines have a further column")

    def fits(shift: int) -> bool:
        cells = [(fields[place + shift], whole) for place, whole in numbers.items()]
        return all(
            re.fullmatch(r"[+-]*\d+", cell, re.ASCII) if whole else number_of(cell) is not None for cell, whole in cells
        )

    return len(fields) > due and (not fits(0) or any(fits(shift) for shift in range(1, len(fields) - due + 1)))


def _whole(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?\d{1,9}", text, re.ASCII) else None


def _ranked(ranks: Sequence[str]) -> bool | None:
    """Whether ranks are kept: where each is a whole number; how else one may be written is left open."""
    if all(_whole(rank) is not None for rank in ranks):
        return True
    if any(number_of(rank.strip()) is None for rank in ranks):
        return False
    return None


def _ms_marco(content: list[tuple[int, Fields]]) -> Rows:
    last: Counter[str] = Counter()
    rows, faults = [], []
    for number, fields in content:
        if len(fields) < 3 or number_of(fields[2]) is None or _may_hold_a_blank(fields, {2: False}, 3, 3):
            faults.append(number)
            continue
        if len(fields) > 3:
            raise Unsaid("a further column in an MS MARCO run")
        query, doc, rank = fields
        found = _whole(rank)
        if found is None:
            raise Unsaid("a rank that is not written as a whole number")
        if found != last[query] + 1:
            raise Refused("ranks do not count 1, 2, 3")
        last[query] = found
        rows.append(Row(query, doc, -float(found), found))
    return _sum_up(rows, faults, True)


def _headerless(
    content: list[tuple[int, Fields]], places: tuple[int, int, int, int | None], width: int, usual: int
) -> Rows:
    query, doc, grade, iteration = places
    rows, faults = [], []
    for number, fields in content:
        value = number_of(fields[grade]) if len(fields) >= width else None
        if value is None or math.isnan(value):
            faults.append(number)
            continue
        if _may_hold_a_blank(fields, {grade: False}, width, usual):
            faults.append(number)
            continue
        rows.append(Row(fields[query], fields[doc], value, None, None if iteration is None else fields[iteration]))
    return _sum_up(rows, faults, False)


def _five(content: list[tuple[int, Fields]]) -> Rows:
    """Preferences and prels where nothing else fits; what could be several things is left open."""
    rows = [fields for _, fields in content if len(fields) == 5]
    numbers = [[number_of(cell) is not None for cell in fields] for fields in rows]
    if len(rows) < len(content):
        raise Unsaid("five columns in most lines only")
    if all(is_number[4] for is_number in numbers) and not any(is_number[2] or is_number[3] for is_number in numbers):
        found = [Row(query, doc, float(grade), None, judge) for query, judge, _, doc, grade in rows]
        if any(math.isnan(row.value) for row in found):
            raise Unsaid("a preference that is no number")
        return _sum_up(found, [], False)
    if _is_prels(rows):
        return _sum_up([Row(query, doc, float(grade)) for query, doc, grade, _, _ in rows], [], False)
    raise Unsaid("five columns")


def _is_prels(rows: Sequence[Sequence[str]]) -> bool:
    """Whether column 2 names documents, each once, column 3 has fewer values, and column 5 a probability in every line."""
    for fields in rows:
        grade, chance = number_of(fields[2]), number_of(fields[4])
        if grade is None or math.isnan(grade) or chance is None or not 0 <= chance <= 1:
            return False
    documents, grades = ({(fields[0], fields[place]) for fields in rows} for place in (1, 2))
    return len(documents) == len(rows) > len(grades)


# --- tables with a header -----------------------------------------------------------------------------


def _columns(text: str, kind: str, what: str) -> Rows:
    separator = SEPARATORS[kind]
    if text.lstrip()[:1] in {"{", "["}:
        raise Unsaid("begins like JSON")
    quoted = kind != "tsv" or _quoted_cells(text)
    found = [(number, cells) for number, cells in records(text, separator, quoted) if cells is not None]
    if not found:
        raise Refused("no rows")
    header = found[0][1]
    if any("\n" in name for name in header):
        raise Unsaid("a name in the header that runs over lines")
    roles = roles_of(header, what, lambda: _other_format(text, header))
    rows, faults, ranks, tags = [], [], [], []
    floats = _float_roles(roles, [cells for _, cells in found[1:] if len(cells) == len(header)])
    for number, cells in found[1:]:
        if len(cells) == len(header) and not any(cell.strip() for cell in cells):
            raise Unsaid("a row of empty cells")
        if len(cells) != len(header):
            faults.append(number)
            continue
        cell = {role: cells[place] for role, place in roles.items()}
        if any(sign in cell.get(role, "") for sign in "\r\n" for role in ("query_id", "doc_id", "iteration")):
            faults.append(number)
            continue
        cell |= {role: str(int(float(cell[role]))) for role in floats if cell[role]}
        row = _row_of(cell, what)
        if row is None:
            faults.append(number)
            continue
        rows.append(row)
        ranks.append(cell.get("rank", "").strip(" "))
        tags += [cell["tag"]] if cell.get("tag") else []
    if len(set(tags)) > 1:
        raise Refused("rows of several runs")
    return _sum_up(rows, faults, _ranked(ranks) if "rank" in roles else False)


def _float_roles(roles: Mapping[str, int], rows: Sequence[Sequence[str]]) -> list[str]:
    """The roles of ids that were written as floats, in every row that has one; those that floats cannot tell apart are refused."""
    out = []
    for role in {"query_id", "doc_id", "iteration"} & set(roles):
        ids = [cells[roles[role]] for cells in rows if cells[roles[role]]]
        if ids and any(FLOAT_ID.fullmatch(one.strip()) for one in ids) and any(one != one.strip() for one in ids):
            raise Unsaid("blanks around ids that may be floats")
        if ids and all(map(FLOAT_ID.fullmatch, ids)):
            if any(abs(float(one)) >= 2**53 for one in ids):
                raise Refused("floats that may be several whole numbers")
            out.append(role)
    return out


def _quoted_cells(text: str) -> bool:
    """Whether quotes of TSV are quotes: those around a whole cell are."""
    cells = [cell for line in text.split("\n") for cell in line.removesuffix("\r").split("\t") if '"' in cell]
    if not all(re.fullmatch('"[^"]*"', cell) for cell in cells):
        raise Unsaid("quotes in TSV that are not around a whole cell")
    return bool(cells)


def records(text: str, separator: str, quoted: bool) -> Iterator[tuple[int, list[str] | None]]:
    """The records of RFC 4180, each with the line on which it begins; None for a blank line.

    A quote opens a cell only at its beginning, is written twice within, and is followed by a separator or the end of the line.
    """
    line, start, begin, at, first = 1, 1, 0, 0, True
    cells: list[str] = []
    while at < len(text):
        cell, at, lines = _cell(text, at, separator, quoted)
        line += lines
        cells.append(cell)
        if text[at : at + 1] == separator:
            at += 1
            if at < len(text):
                continue
            cells.append("")
        blank = not text[begin:at].strip(f" \t\r{separator}")
        if blank and begin < at and start == line and first:
            raise Unsaid("a row of blanks before the header")
        first = first and blank
        end = LINE_END.match(text, at)
        at = end.end() if end else at
        yield start, None if blank else cells
        begin = at
        line += 1
        start, cells = line, []


def _cell(text: str, at: int, separator: str, quoted: bool) -> tuple[str, int, int]:
    """The cell that begins here, where it ends, and how many lines it runs over."""
    if quoted and text[at : at + 1] == '"':
        pieces, place = [], at + 1
        while True:
            end = text.find('"', place)
            if end < 0:
                raise Refused("a quote is never closed")
            pieces.append(text[place:end])
            if text[end + 1 : end + 2] != '"':
                break
            pieces.append('"')
            place = end + 2
        cell, at = "".join(pieces), end + 1
        if at < len(text) and text[at] != separator and not LINE_END.match(text, at):
            raise Refused("a quote within a cell")
        return cell, at, cell.count("\n")
    found = re.compile(f"{re.escape(separator)}|\r*\n|\r+$(?!\n)").search(text, at)
    end = found.start() if found else len(text)
    cell = text[at:end]
    if "\r" in cell:
        raise Unsaid("a lone carriage return")  # a fault, in a line that has one
    if quoted and '"' in cell:
        raise Refused("a quote within a cell")
    return cell, end, 0


def plain(name: str) -> str:
    """A name without case and signs, as names of columns are compared."""
    return re.sub(r"[ _-]", "", name.strip().casefold())


def _has(names: Sequence[str], role: str) -> bool:
    return bool(set(map(plain, names)) & set(map(plain, NAMES[role])))


def roles_of(header: Sequence[str], what: str, otherwise: Callable[[], NoReturn]) -> dict[str, int]:
    """The place of the column that plays each role: the first of the known names, in their order."""
    names = [plain(name) for name in header]
    roles: dict[str, int] = {}
    for role in ROLES[what]:
        fits = [names.index(plain(name)) for name in NAMES[role] if plain(name) in names]
        if fits:
            roles[role] = fits[0]
        if role == "doc_id" and len([place for place in fits if names[place] != "item"]) > 1:
            raise Refused("two columns that could be the document")
    if what == "qrels" and "grade" not in roles and "score" in names:
        roles["grade"] = names.index("score")
    value = "grade" if what == "qrels" else "score" if "score" in roles else "rank"
    if what == "qrels" and "grade" not in roles and {"query_id", "doc_id"} <= set(roles):
        raise Unsaid("perhaps rows of what users took")
    if not {"query_id", "doc_id", value} <= set(roles):
        otherwise()
    if any(names.count(names[place]) > 1 for place in roles.values()):
        raise Unsaid("two columns of one name")
    return roles


def _other_format(text: str, header: Sequence[str]) -> NoReturn:
    """What has no header that is known is refused, unless it may be read as lines or as another table."""
    first = text.lstrip().split("\n", 1)[0]
    if first[:1] in {"{", "["} or sum(sign in first for sign in SEPARATORS.values()) > 1 or len(header) < 2:
        raise Unsaid("perhaps another format")
    if not any(len(line.split()) >= 3 for line in text.split("\n")):
        raise Refused("a column is missing")
    raise Unsaid("perhaps TREC lines")


def _row_of(cell: dict[str, str], what: str) -> Row | None:
    """A row of texts, or None where it lacks what it needs."""
    role = "grade" if what == "qrels" else "score" if "score" in cell else "rank"
    value = number_of(cell[role].strip(" "))
    for number in (cell[role], cell.get("rank", "")):
        if number.strip(" ") != number.strip() and number_of(number.strip()) is not None:
            raise Unsaid("other blanks around a number")
    if value is None or not cell["query_id"] or not cell["doc_id"] or (what == "qrels" and math.isnan(value)):
        return None
    rank = _whole(cell["rank"].strip(" ")) if "rank" in cell else None
    iteration = (cell["iteration"] or "0") if "iteration" in cell else None
    return Row(cell["query_id"], cell["doc_id"], -value if role == "rank" else value, rank, iteration)


def of_columns(columns: Mapping[str, Sequence[Any]], what: str) -> Rows:
    """What a table of typed columns holds: ids are texts or whole numbers, floats among them without a fraction."""
    if not columns or not len(next(iter(columns.values()))):
        raise Unsaid("an empty table")
    names = list(columns)
    if any(isinstance(cell, list | dict) for cells in columns.values() for cell in cells) and not _has(names, "doc_id"):
        raise Unsaid("perhaps a list of documents a row")
    roles = roles_of(names, what, lambda: _refuse("a column is missing"))
    given = {role: columns[names[place]] for role, place in roles.items()}
    for role, cells in given.items():
        if any(isinstance(cell, bool) for cell in cells) and role == "rank":
            raise Unsaid("true as a rank")
        if any(isinstance(cell, list | bytes) for cell in cells) and (
            role != "tag" and (role != "rank" or "score" not in given)
        ):
            raise Refused("a column that is neither texts nor numbers")
        if role in {"query_id", "doc_id", "iteration"}:
            given[role] = [None if isinstance(cell, float) and math.isnan(cell) else cell for cell in cells]
    if any(isinstance(tag, list | bytes) for tag in given.get("tag", ())):
        raise Refused("runs that have no name")
    tags = {str(tag) for tag in given.get("tag", ()) if tag is not None}
    if len(tags) > 1:
        raise Refused("rows of several runs")
    rows, faults = [], []
    for number, cells in enumerate(zip(*given.values(), strict=True), 1):
        row = _row_of_values(dict(zip(given, cells, strict=True)), what)
        rows += [] if row is None else [row]
        faults += [number] if row is None else []
    return _sum_up(rows, faults, _ranked_values(given["rank"]) if "rank" in given else False)


# --- JSON -----------------------------------------------------------------------------------------------


TWICE = object()  # a key that comes twice, which only matters where it is used


class _Object(list[tuple[str, Any]]):
    """An object of JSON as pairs, so that a key that comes twice is seen."""


def _parse(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_Object)
    except RecursionError:
        raise Unsaid("nested too deeply for this reader") from None
    except ValueError:
        raise Refused("not JSON") from None


def _refuse_half(text: str) -> str:
    """Half of a pair of surrogates is no character."""
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise Refused("half of a surrogate pair")
    return text


def _jsonl(text: str, what: str) -> Rows:
    lines = [(number, line.strip(" \t\r")) for number, line in enumerate(text.split("\n"), 1)]
    lines = [(number, line) for number, line in lines if line.strip(WHITESPACE)]
    if not lines:
        raise Refused("no rows")
    if lines[0][1][:1] != "{":
        raise Unsaid("does not begin like JSONL") if lines[0][1][:1] == "[" else Refused("not JSONL")
    objects: list[tuple[int, dict[str, Any] | None]] = [(number, _object(line)) for number, line in lines]
    keys = list(dict.fromkeys(key for _, found in objects for key in found or {}))
    if len(set(map(plain, keys))) < len(keys):
        raise Unsaid("two keys that differ in case alone")
    if any(isinstance(cell, list) for cell in (objects[0][1] or {}).values()) and not _has(keys, "doc_id"):
        raise Unsaid("perhaps a list of documents a line")
    roles = roles_of(keys, what, lambda: _refuse("a key is missing"))
    rows, faults, tags = [], [], []
    ranks: list[Any] = []
    for number, found in objects:
        if found is None:
            faults.append(number)
            continue
        cell = {role: found.get(keys[place]) for role, place in roles.items()}
        if isinstance(cell.get("rank"), bool):
            raise Unsaid("true as a rank")
        try:
            row = None if TWICE in cell.values() else _row_of_values(cell, what)
        except Refused as refused:
            row = None
            if "half" not in refused.why:
                raise
        if row is None:
            faults.append(number)
            continue
        rows.append(row)
        ranks.append(cell.get("rank"))
        tags += [str(cell["tag"])] if cell.get("tag") is not None else []
    if len(set(tags)) > 1:
        raise Refused("rows of several runs")
    return _sum_up(rows, faults, _ranked_values(ranks) if "rank" in roles else False)


def _refuse(why: str) -> NoReturn:
    raise Refused(why)


def _object(line: str) -> dict[str, Any] | None:
    """An object with every key once; None for what is no object."""
    try:
        value = _parse(line)
    except Refused:
        return None
    if not isinstance(value, _Object):
        return None
    found: dict[str, Any] = {}
    for key, cell in value:
        found[key] = TWICE if key in found else cell
    return found


def _ranked_values(ranks: Sequence[Any]) -> bool | None:
    if all(isinstance(rank, int) and not isinstance(rank, bool) and abs(rank) < 2**31 for rank in ranks):
        return True
    return False if any(rank is None or isinstance(rank, (bool, list)) for rank in ranks) else None


def id_of(value: Any) -> str | None:
    """An id as text: a string or a whole number; None where there is none."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return _refuse_half(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refused("an id that is neither text nor a whole number")
    if isinstance(value, int):
        if value == 0:
            raise Unsaid("whether -0 is 0")
        return str(value)
    if not value.is_integer():
        raise Refused("an id that is a fraction")
    if abs(value) >= 2**53:
        raise Unsaid("an id written as a large float")
    return str(int(value))


def value_of(value: Any) -> float | None:
    """A number, or a text that is one; true and false are 1 and 0."""
    if isinstance(value, str):
        if value.strip(" ") != value.strip() and number_of(value.strip()) is not None:
            raise Unsaid("other blanks around a number")
        return number_of(value.strip(" "))
    if not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _row_of_values(cell: dict[str, Any], what: str) -> Row | None:
    role = "grade" if what == "qrels" else "score" if "score" in cell else "rank"
    query, doc, value = id_of(cell["query_id"]), id_of(cell["doc_id"]), value_of(cell[role])
    if query is None or doc is None or value is None or (what == "qrels" and math.isnan(value)):
        return None
    if isinstance(cell.get("rank"), str):
        _refuse_half(cell["rank"])
    rank = cell.get("rank") if isinstance(cell.get("rank"), int) else None
    iteration = None
    if "iteration" in cell:
        iteration = "0" if cell["iteration"] is None else str(cell["iteration"])
        if isinstance(cell["iteration"], bool | float | list):
            raise Unsaid("an iteration that is no id")
    return Row(query, doc, -value if role == "rank" else value, rank, iteration)


def _json(text: str, what: str) -> Rows:
    value = _parse(text)
    if not isinstance(value, _Object):
        raise Refused("no object")
    if not value:
        raise Refused("nothing in it")
    by_query: dict[str, Any] = {}
    for query, documents in value:
        if not isinstance(documents, list):
            raise Refused("neither an object nor a list of documents")
        if _refuse_half(query) not in by_query:
            by_query[query] = documents
        elif isinstance(documents, _Object) and isinstance(by_query[query], _Object):
            by_query[query] = _Object([*by_query[query], *documents])
        elif what == "qrels" and not isinstance(documents, _Object) and not isinstance(by_query[query], _Object):
            by_query[query] = [*by_query[query], *documents]
        else:
            raise Refused("a query twice, not as two objects")
    rows = [row for query, documents in by_query.items() for row in _documents(query, documents, what)]
    empty = [query for query, documents in by_query.items() if not documents]
    several = any(row.iteration is not None for row in rows)
    if several:
        rows = [row._replace(iteration="0" if row.iteration is None else row.iteration) for row in rows]
    lists = what == "run" and not any(isinstance(documents, _Object) for documents in by_query.values())
    return Rows(rows, lists, empty, in_order=not several)


def _documents(query: str, documents: Any, what: str) -> Iterator[Row]:
    if not isinstance(documents, _Object):
        for rank, doc in enumerate(documents, 1):
            if isinstance(doc, bool) or not isinstance(doc, str | int | float):
                raise Refused("a document that is neither text nor a number")
            text = id_of(doc) if isinstance(doc, float) else _refuse_half(str(doc))
            yield Row(query, text or "", -float(rank) if what == "run" else 1.0, rank)
        return
    for doc, value in documents:
        _refuse_half(doc)
        if isinstance(value, _Object) and what == "qrels":
            for aspect, grade in value:
                yield Row(query, doc, _number(grade, what), None, _refuse_half(aspect))
        else:
            yield Row(query, doc, _number(value, what))


def _number(value: Any, what: str) -> float:
    number = value_of(value)
    if number is None or (what == "qrels" and math.isnan(number)):
        raise Refused("a value that is no number")
    return number
