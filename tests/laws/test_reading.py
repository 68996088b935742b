"""Mutated files of every text format give the same rows, faults and lines on every way of reading them, or the same error."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from rankscope.errors import InputError
from rankscope.files import columns, objects, open_run, parts, raw, read_qrels, read_run, trec

TREC = "q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 1.5 t\nq1 Q0 d3 3 1e-3 t\nq2 Q0 d1 1 7 t\nq2 Q0 d4 2 -0.25 t\nq10 Q0 d2 1 3 t\n"
CSV = "query_id,doc_id,note,score,rank\nq1,d1,a b,2.5,1\nq1,d2,,1.5,2\nq1,d3,x,1e-3,3\nq2,d1,y,7,1\nq2,d4,z,-0.25,2\nq10,d2,,3,1\n"
JSON = "".join(
    f'{{"query_id": "{query}", "doc_id": {doc}, "score": {score}, "note": "a"}}\n'
    for query, doc, score in [("q1", '"d1"', "2.5"), ("q1", "7", "1.5"), ("q1", '"d3"', "1e-3"), ("q2", '"2405.1"', '"7"'), ("q2", '"\\u00e9"', "-0.25")]
)  # fmt: skip
FILES: dict[str, tuple[str, str]] = {
    "a TREC run": ("a.run", TREC),
    "a TREC run of two tags": ("a.run", TREC.replace("3 t", "3 u")),
    "a TREC run with comments and blank lines": ("a.run", "# by hand\n" + TREC.replace("q2", "\nq2", 1)),
    "a TREC run of tabs": ("a.run", TREC.replace(" ", "\t")),
    "a TREC run of seven columns": ("a.run", TREC.replace(" t\n", " t 7\n")),
    "TREC qrels": ("a.qrels", "q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 2\nq2 0 d1 1\nq2 0 d4 -1\nq10 0 d2 0\n"),
    "CSV": ("a.csv", CSV),
    "CSV with quotes": ("a.csv", CSV.replace("d1", '"d,1"').replace("a b", '"a ""b""\nc"').replace("1.5", '"1.5"')),
    "CSV of two columns and a rank": ("a.csv", "rank,query_id,doc_id\n1,q1,d1\n2,q1,d2\n1,q2,d1\n2,q2,d2\n"),
    "TSV": ("a.tsv", CSV.replace(",", "\t")),
    "TSV with quotes": ("a.tsv", CSV.replace(",", "\t").replace("d1", '"d\t1"').replace("a b", '"a b"')),
    "CSV of Windows": ("a.csv", CSV.replace("\n", "\r\n")),
    "CSV qrels": ("q.csv", "query_id,doc_id,grade,subtopic\nq1,d1,1,a\nq1,d2,0,b\nq2,d1,2,\nq2,d3,-1,a\n"),
    "JSON lines": ("a.jsonl", JSON),
    "JSON lines of qrels": ("q.jsonl", JSON.replace("score", "grade")),
    "JSON lines with tags": ("a.jsonl", JSON.replace('"note"', '"tag"')),
}  # fmt: skip
BYTES = [
    b" ", b"\t", b"\n", b"\r", b"\r\n", b"\x0b", b"\x0c", b"\x00", b"\x1f", b'"', b'""', b",", b";", b"'", b"\\", b"#", b"\xff", b"\xc3\xa9", b"\xc2\xa0",
    b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"_", b"-", b"+", b".", b"e", b"0", b"7", b"{", b"}", b":", b"[", b"]",
]  # fmt: skip
CELLS = [
    b"", b" ", b"0", b"-0", b"007", b"1_000", b"+1", b"1.", b".5", b"1e400", b"nan", b"NaN", b"-inf", b"Infinity", b"0x1", b"1,5", b"true", b"null",
    b'"x"', b'"x', b'x"', b'"x"y"', b'"1"6"6"', b'"a,b"', b'"a\nb"', b"12345678901234567890123", b"3.0", b"99999999999", b"\xd9\xa1", b"a b", b"a 1",
    b'"\\ud800"', b'"\\ud83d\\ude00"', b'"\\u0000"', b"[1]", b'{"score": 1}', b"1.5 ", b"\xc2\xa01", b'"q1"', b"#", b"2.5", b'"2.5"', b'"1_0"', b"false",
]  # fmt: skip
LINES = [
    b"",
    b" ",
    b"\t",
    b"\r",
    b"# note",
    b",,,,",
    b",",
    b'"',
    b"{}",
    b"[]",
    b"null",
    b'{"score": 1, "score": 2}',
    b"\x0c",
    b"\xc2\xa0",
]


def mutated(draws: random.Random, data: bytes) -> bytes:
    """The file with one to three changes: of bytes, of lines, or of cells."""
    for _ in range(draws.choice((1, 1, 1, 2, 3))):
        data = draws.choice((change_bytes, change_lines, change_cells, change_cells))(draws, data)
    return data


def change_bytes(draws: random.Random, data: bytes) -> bytes:
    at = draws.randrange(len(data) + 1)
    return data[:at] + draws.choice((b"", draws.choice(BYTES))) + data[at + draws.choice((0, 0, 1, 2)) :]


def change_lines(draws: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    at, other = draws.randrange(len(lines)), draws.randrange(len(lines))
    what = draws.randrange(6)
    if what == 0:
        lines[at : at + 1] = []
    elif what == 1:
        lines.insert(at, lines[other])
    elif what == 2:
        lines.insert(at, draws.choice(LINES))
    elif what == 3:
        lines[at : at + 2] = [b"".join(lines[at : at + 2])]
    elif what == 4:
        lines[at] = draws.choice((lines[at] + b"\r", lines[at] + b" ", b" " + lines[at], lines[at][:5]))
    else:
        return data.replace(b"\n", draws.choice((b"\r\n", b"\r\r\n", b"\n\n", b"\r", b" \n")))
    return b"\n".join(lines)


def change_cells(draws: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    at = draws.randrange(len(lines))
    signs = [sign for sign in (b",", b"\t", b" ", b":") if sign in lines[at]]
    if not signs:
        return data
    sign = draws.choice(signs)
    cells = lines[at].split(sign)
    place = draws.randrange(len(cells))
    what = draws.randrange(5)
    if what == 0:
        cells.insert(place, draws.choice((b"", draws.choice(CELLS))))
    elif what == 1:
        del cells[place]
    elif what == 2:
        cells[place] = b'"' + cells[place] + b'"'
    else:
        cells[place] = draws.choice(CELLS)
    lines[at] = sign.join(cells)
    return b"\n".join(lines)


def never(*_: Any, **__: Any) -> Any:
    """What a way is told that is not to be taken."""
    return None


WAYS: dict[str, list[tuple[Any, str, Any]]] = {
    "as it is": [],
    "no fast way": [(trec, "is_regular", never), (columns.Columns, "is_regular", never)],
    "row by row": [(trec.Lines, "regular", never), (columns.Columns, "plain", never), (objects, "plain", never)],
    "in parts": [(raw, "SMALL", 0), (parts, "PART", 40)],
    "in parts, row by row": [(raw, "SMALL", 0), (parts, "PART", 60), (columns.Columns, "plain", never), (objects, "plain", never)],
}  # fmt: skip


def outcome(path: Path) -> str:
    """All that a reader gives: rows with their lines, faults, notes; or the error."""
    try:
        table = (read_qrels if path.name[0] == "q" or path.suffix == ".qrels" else read_run)(path)
        lines = [table.source.at(row) for row in range(len(table.frame))]
        return repr((table.frame.rows(), table.frame.schema, table.source.faults, table.source.notes, lines))
    except InputError as error:
        return f"InputError: {error}"


def outcome_of_parts(path: Path) -> str | None:
    """The rows of a run as its parts give them; None where it takes the whole file to read it."""
    try:
        run = open_run(path)
        if isinstance(run, parts.RunParts):
            return repr(
                [row for read in run.reads() for row in read()[0].frame.select("query_id", "doc_id", "score").rows()]
            )
    except InputError:
        pass
    return None


def check(form: str, seeds: range, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, text = FILES[form]
    for seed in seeds:
        data = mutated(random.Random(f"{form} {seed}"), text.encode())
        path = folder / name
        path.write_bytes(data)
        found = {}
        for way, patches in WAYS.items():
            with monkeypatch.context() as patch:
                for owner, attribute, value in patches:
                    patch.setattr(owner, attribute, value)
                found[way] = outcome(path)
                in_parts = (
                    outcome_of_parts(path) if way == "in parts" and name[0] == "a" and "qrels" not in name else None
                )
        for way, said in found.items():
            assert said == found["as it is"], f"seed {seed}, {way}: {data!r}"
        if in_parts is not None:
            assert in_parts == repr(read_run(path).frame.select("query_id", "doc_id", "score").rows()), (
                f"seed {seed}: {data!r}"
            )
            assert not read_run(path).source.faults, f"seed {seed}: {data!r}"


@pytest.mark.parametrize("form", FILES)
def test_every_way_of_reading_gives_the_same(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(form, range(60), tmp_path, monkeypatch)


def test_mutations_reach_good_and_bad_files(tmp_path: Path) -> None:
    """The law is empty where nearly all mutated files are refused."""
    for form, (name, text) in FILES.items():
        kinds = set()
        for seed in range(60):
            path = tmp_path / name
            path.write_bytes(mutated(random.Random(f"{form} {seed}"), text.encode()))
            said = outcome(path)
            kinds.add("refused" if said.startswith("InputError") else "faults" if "Fault(" in said else "read")
        assert kinds >= {"faults", "read"}, form
