"""What the fuzzer found stays cured, and the reference says of it what was said by hand."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from fuzzing.checks import read_file
from tests.reference import readers
from tests.reference.cases import CASES, Case

KINDS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".json": "json"}
cases = pytest.mark.parametrize("case", [pytest.param(case, id=case.words) for case in CASES])


@cases
def test_the_reference(case: Case) -> None:
    kind = KINDS.get(Path(case.name.removesuffix(".gz")).suffix, "trec")
    data = gzip.decompress(case.data) if case.name.endswith(".gz") else case.data
    if case.due is None:
        with pytest.raises((readers.Refused, readers.Unsaid)) as caught:
            readers.read(data, kind, case.what)
        if isinstance(caught.value, readers.Refused) and caught.value.line is not None:
            assert caught.value.line == case.line
        return
    assert [tuple(row[:3]) for row in readers.read(data, kind, case.what).rows] == case.due


@cases
def test_what_was_found(case: Case, tmp_path: Path) -> None:
    path = tmp_path / case.name
    path.write_bytes(case.data)
    found = read_file(str(path), case.what)
    assert "\n" not in found.refused
    if case.due is None:
        assert found.refused
        assert found.line is None or case.line in {None, found.line}
        return
    assert not found.refused
    at = [found.has.index(name) for name in ("query_id", "doc_id", "score" if case.what == "run" else "grade")]
    assert [tuple(row[place] for place in at) for row in found.rows or ()] == case.due
