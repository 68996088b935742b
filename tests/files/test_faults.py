"""Any mixture of good and bad lines gives what a line-by-line reading gives."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from rankscope.errors import InputError
from rankscope.files import read_qrels, read_run

GOOD = "1 Q0 d1 1 2.5 t"
fields = st.sampled_from(["1", "Q0", "d", "2.5", "x", "t", "#", "nan", "", "\t", "\r"])
lines = st.one_of(
    st.just(GOOD),
    st.just(GOOD.replace(" ", "\t")),
    st.lists(fields, max_size=9).map(" ".join),
    st.lists(fields, min_size=5, max_size=7).map("\t".join),
)


def number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def naive(text: str) -> tuple[list[tuple[int, str, str, str]], list[int]]:
    rows, faulty = [], []
    for line, content in enumerate(text.split("\n"), 1):
        words = content.split()
        if not words or words[0].startswith("#"):
            continue
        more = range(len(words) - 5)
        fits = [len(words) == 6 or words[at + 3].isdigit() for at in more]
        fits = [fit and number(words[at + 4]) for at, fit in zip(more, fits, strict=True)]
        if fits[:1] == [True] and not any(fits[1:]):  # else a blank may stand within an id
            rows.append((line, words[0], words[2], str(float(words[4]))))
        else:
            faulty.append(line)
    return rows, faulty


@example(["   1"], "\n")
@example(["   Q0"], "\n")
@example(["    "], "\n")
@settings(deadline=None, max_examples=400)
@given(st.lists(lines, max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_lines(some: list[str], end: str) -> None:
    text = end.join([GOOD] * 9 + some)
    rows, faulty = naive(text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.run"
        path.write_bytes(text.encode())
        run = read_run(path)
        assert [fault.line for fault in run.source.faults] == faulty
        line_of = run.source.line_of
        assert line_of is not None
        found = [
            (line_of(n), r["query_id"], r["doc_id"], str(r["score"]))
            for n, r in enumerate(run.frame.iter_rows(named=True))
        ]
        assert found == rows


STARTS = [
    b"", b"query_id,doc_id,score\n", b"qid\tdocid\tgrade\n1\td\t1\n", b'{"qid": 1, "docid": 2, "score": 3}\n', b"{", b"PAR1",
    b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xef\xbb\xbf", b"1 Q0 d 1 2 t\n", b"1 d 1\n",
]  # fmt: skip
NAMES = ["a", "a.csv", "a.tsv", "a.jsonl", "a.json", "a.parquet", "a.gz"]
junk = (
    st.binary(max_size=60)
    | st.text(max_size=60).map(str.encode)
    | st.text(',"\n1d \t{}:x', max_size=60).map(str.encode)
)


@settings(deadline=None, max_examples=500)
@given(st.sampled_from(STARTS), junk, st.sampled_from(NAMES), st.sampled_from([read_run, read_qrels]))
def test_anything_gives_a_table_or_one_line(start: bytes, content: bytes, name: str, read: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(start + content)
        said = ""
        try:
            table = read(path)
        except InputError as error:
            said = str(error)
        else:
            assert table.frame["query_id"].null_count() == table.frame["doc_id"].null_count() == 0
            assert all("\n" not in fault.message for fault in table.source.faults)
            if table.source.line_of and len(table.frame):
                assert 0 < table.source.line_of(len(table.frame) - 1) <= (start + content).count(b"\n") + 1
        assert "\n" not in said
