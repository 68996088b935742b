"""What is no whole set of parts of one evaluation is refused in one line, and never taken for a result."""

from __future__ import annotations

import errno
import gzip
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.cli.process import main
from rankscope.files import parts as cutting
from rankscope.files import raw
from rankscope.sharding import partial as partials

QUERIES = 12


def rows(last: str = "tag") -> str:
    lines = (f"q{q} Q0 d{d} {d + 1} {10 - d} tag\n" for q in range(QUERIES) for d in range(5))
    return "".join(lines).replace("tag\n", f"{last}\n")


def judgments(grade: int = 1) -> str:
    return "".join(f"q{q} 0 d{q % 5} {grade}\n" for q in range(QUERIES))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with judgments, a run and its three parts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(raw, "SMALL", 0)  # small files are else read at once
    Path("qrels").write_text(judgments(), encoding="utf-8")
    Path("my.run").write_text(rows(), encoding="utf-8")
    for number in (1, 2, 3):
        make(f"part{number}.parquet", f"{number}/3")
    return tmp_path


def make(path: str, partition: str, *more: str, qrels: str = "qrels", run: str = "my.run") -> None:
    assert main(["evaluate", qrels, run, "-m", "RR", "--partition", partition, "-o", path, "-q", *more]) == 0


def told(capsys: pytest.CaptureFixture[str], *line: str) -> str:
    """The one line that a command ends with; it has no result."""
    capsys.readouterr()
    assert main([*line]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.strip().splitlines()
    assert len(lines) == 1, said.err
    return lines[0]


ALL = ("part1.parquet", "part2.parquet", "part3.parquet")


def other_version(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, facts = partials.read_partial(path)
    partials.write_partial(frame, facts | {"rankscope": "0.0.9"}, path)


DIFFERENT: dict[str, tuple[tuple[str, ...], str]] = {
    "another metric": (("-m", "AP"), "the metrics are RR in part1.parquet, RR AP in part3.parquet"),
    "another policy": (("--ties", "docid"), "ties was trec in part1.parquet, docid in part3.parquet"),
    "another depth": (("--depth", "3"), "depth was None in part1.parquet, 3 in part3.parquet"),
    "other queries": (("--queries", "run"), "queries was judged in part1.parquet, run in part3.parquet"),
    "another seed": (("--seed", "5"), "seed"),
    "another level": (("--level", "0.9"), "level was 0.95 in part1.parquet, 0.9 in part3.parquet"),
    "another interval": (("--interval", "bca"), "interval was None in part1.parquet, bca"),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_parts_that_were_asked_for_otherwise_are_refused(
    place: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options, message = DIFFERENT[what]
    make("part3.parquet", "3/3", *options)
    assert message in told(capsys, "merge", *ALL)


def test_parts_of_other_judgments_are_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("qrels").write_text(judgments(2), encoding="utf-8")
    make("part2.parquet", "2/3")
    assert "the judgments in part1.parquet and in part2.parquet differ" in told(capsys, "merge", *ALL)


def test_the_same_judgments_from_elsewhere_are_the_same(place: Path) -> None:
    Path("qrels.gz").write_bytes(gzip.compress(judgments().encode()))
    make("part2.parquet", "2/3", qrels="qrels.gz")
    assert rs.merge([*ALL])["RR"] == rs.evaluate("qrels", "my.run", "RR")["RR"]


def test_parts_of_another_run_are_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.run").write_text(rows("longer"), encoding="utf-8")
    make("part3.parquet", "3/3", run="other.run")
    line = told(capsys, "merge", *ALL)
    assert "the run is my.run in part1.parquet, other.run in part3.parquet" in line
    Path("my.run").write_text(rows("longer"), encoding="utf-8")
    make("part3.parquet", "3/3")
    sizes = f"the run had {len(rows()):,} bytes in part1.parquet, {len(rows('longer')):,} in part3.parquet"
    assert sizes in told(capsys, "merge", *ALL)


def test_another_number_of_partitions_is_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make("part3.parquet", "3/4")
    assert "part1.parquet is part 1 of 3, part3.parquet part 3 of 4" in told(capsys, "merge", *ALL)


def test_another_version_is_refused(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other_version(Path("part2.parquet"), monkeypatch)
    assert f"part2.parquet: made by rankscope 0.0.9, and this is {rs.__version__}" in told(capsys, "merge", *ALL)


def test_a_missing_part_is_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = told(capsys, "merge", "part1.parquet", "part3.parquet")
    assert line.startswith("part 2 of 3 is missing: make it with rankscope evaluate --partition 2/3 -o part2.parquet")
    assert told(capsys, "merge", "part2.parquet").startswith("parts 1 and 3 of 3 are missing")


def test_a_part_given_twice_is_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy("part2.parquet", "again.parquet")
    line = told(capsys, "merge", *ALL, "again.parquet")
    assert line == "part 2 of 3 is given twice (part2.parquet, again.parquet): leave one out"


def test_half_a_part_is_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = Path("part2.parquet").read_bytes()
    for end in (8, len(data) // 3, len(data) - 9, len(data) - 1):
        Path("part2.parquet").write_bytes(data[:end])
        assert told(capsys, "merge", *ALL).startswith("part2.parquet: cut short or damaged: make this part again")
    Path("part2.parquet").write_bytes(b"")
    assert told(capsys, "merge", *ALL).startswith("part2.parquet: the file is empty")


def test_a_part_with_any_byte_damaged_is_refused(place: Path) -> None:
    """Whatever byte it is: what reads Parquet is not asked to read damage, as some makes it end the process."""
    data = Path("part2.parquet").read_bytes()
    for at in [*range(0, len(data), max(len(data) // 150, 1)), *range(len(data) - 200, len(data))]:
        Path("part2.parquet").write_bytes(data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1 :])
        with pytest.raises(rs.InputError, match=r"part2\.parquet"):
            rs.merge([*ALL])


def test_another_format_is_refused(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partials, "FORMAT", 99)
    make("part2.parquet", "2/3")
    monkeypatch.setattr(partials, "FORMAT", 2)
    line = told(capsys, "merge", *ALL)
    assert line.startswith("part2.parquet: a part as another version of rankscope writes it")


NO_PARTS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a run": (lambda path: path.write_text(rows(), encoding="utf-8"), "not a part of an evaluation"),
    "a table": (
        lambda path: pl.DataFrame({"query_id": ["q1"], "doc_id": ["d1"], "score": [1.0]}).write_parquet(path),
        "a Parquet file, but not a part of an evaluation",
    ),
    "nothing": (lambda path: None, "no such file"),
    "an empty folder": (lambda path: path.mkdir(), "no files in this folder"),
    "words beside a table": (
        lambda path: pl.DataFrame({"a": [1]}).write_parquet(path, metadata={"rankscope": "{]"}),
        "a Parquet file, but not a part of an evaluation",
    ),
}


@pytest.mark.parametrize("what", NO_PARTS)
def test_what_is_no_part_is_refused(place: Path, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    build, message = NO_PARTS[what]
    build(Path("odd.parquet"))
    line = told(capsys, "merge", *ALL, "odd.parquet")
    assert line.startswith("odd.parquet: ")
    assert message in line


def test_no_parts_at_all_are_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "merge").startswith("give parts: rankscope merge part*.parquet")
    with pytest.raises(rs.InputError, match="give parts"):
        rs.merge([])
    with pytest.raises(rs.InputError, match="parts are files that rankscope evaluate --partition writes, not int"):
        rs.merge([7])


TAKERS = {
    "evaluate": ("evaluate", "qrels", "part1.parquet"),
    "judgments": ("evaluate", "part1.parquet", "my.run"),
    "compare": ("compare", "qrels", "my.run", "part1.parquet"),
    "compare tables of scores": ("compare", "--scores", "part1.parquet"),
    "a single file": ("compare", "part1.parquet"),
    "gate": ("gate", "qrels", "part1.parquet", "my.run"),
    "report": ("report", "qrels", "part1.parquet", "-o", "page.html"),
    "merge into another partition": ("evaluate", "qrels", "part1.parquet", "--partition", "1/2", "-o", "new.parquet"),
}


@pytest.mark.parametrize("taker", TAKERS)
def test_a_part_is_never_taken_for_a_whole(place: Path, taker: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = told(capsys, *TAKERS[taker])
    if taker != "a single file":
        assert "rankscope merge makes the result of all its parts" in line


def test_a_query_in_two_partitions_is_told(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = rows().splitlines(keepends=True)
    Path("my.run").write_text("".join(lines[1:] + lines[:1]), encoding="utf-8")  # the last row is of the first query
    for number in (1, 2, 3):
        make(f"part{number}.parquet", f"{number}/3")
    line = told(capsys, "merge", *ALL)
    assert line.startswith("rows of 1 query (q0) are in several partitions of my.run: evaluate it as a whole")


def test_a_run_that_cannot_be_shared_out_is_told(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = rows().splitlines(keepends=True)
    Path("my.run").write_text("".join(lines[:-1]) + lines[-1].replace(" ", "   "), encoding="utf-8")
    make("part3.parquet", "3/3")  # odd white space is read part by part
    Path("my.run").write_text("".join(lines[:-1]) + "q11 Q0 d4 5 high tag\n", encoding="utf-8")
    line = told(capsys, "evaluate", "qrels", "my.run", "--partition", "3/3", "-o", "part3.parquet")
    assert line.startswith("my.run line 60: score 'high' is not a number")


@pytest.mark.parametrize("said", ["0/3", "4/3", "3", "a/b", "1/0", "1/3/5", "-1/3"])
def test_a_partition_is_one_of_some(place: Path, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = told(capsys, "evaluate", "qrels", "my.run", f"--partition={said}", "-o", "x.parquet")
    assert line.startswith(f"partition '{said}': write which one of how many, like 3/8")


COMMANDS = {
    "no file": ((), "--partition writes its part to a Parquet file: name it, like -o part3.parquet"),
    "no Parquet": (("-o", "x.csv"), "--partition writes its part to a Parquet file"),
    "values of queries": (("-o", "x.parquet", "--per-query"), "--per-query: a part is not a result"),
    "a format": (("-o", "x.parquet", "--format", "json"), "--format: a part is not a result"),
    "over the run": (("-o", "run.parquet"), "run.parquet is also an input"),
    "resumed": (("-o", "x.parquet", "--resume", "kept"), "leave out resume, or partition"),
}


@pytest.mark.parametrize("what", COMMANDS)
def test_what_does_not_go_with_a_partition_is_told(place: Path, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    pl.DataFrame({"query_id": ["q1"], "doc_id": ["d1"], "score": [1.0]}).write_parquet("run.parquet")
    options, message = COMMANDS[what]
    assert message in told(capsys, "evaluate", "qrels", "run.parquet", "--partition", "1/2", *options)


def test_several_runs_have_no_partition(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("b.run").write_text(rows("b"), encoding="utf-8")
    line = told(capsys, "evaluate", "qrels", "my.run", "b.run", "--partition", "1/2", "-o", "x.parquet")
    assert line == "partitions are made of a single run, and there are 2 runs: evaluate each apart"


def test_what_lies_only_in_memory_cannot_be_kept(place: Path) -> None:
    clusters = pl.DataFrame({"query": [f"q{q}" for q in range(QUERIES)], "cluster": ["u"] * QUERIES})
    with pytest.raises(rs.InputError, match="clusters of a partition are a file or"):
        rs.evaluate("qrels", "my.run", "RR", partition="1/2", clusters=clusters)


def test_clusters_are_those_of_the_parts(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clusters = "".join(f"q{q},u{q % 4}\n" for q in range(QUERIES))
    Path("users.csv").write_text(f"query,user\n{clusters}", encoding="utf-8")
    for number in (1, 2, 3):
        make(f"part{number}.parquet", f"{number}/3", "--clusters", "users.csv")
    whole = rs.evaluate("qrels", "my.run", "RR", clusters="users.csv").bounds_of("RR")
    assert rs.merge([*ALL]).bounds_of("RR") == whole
    Path("users.csv").write_text(f"query,user\n{clusters.replace('u3', 'u2')}", encoding="utf-8")
    assert told(capsys, "merge", *ALL).startswith("users.csv: the clusters have changed since the parts were made")
    make("part2.parquet", "2/3", "--clusters", "users.csv")
    assert "clusters_sha256 was" in told(capsys, "merge", *ALL)


def test_a_part_in_memory_is_no_result_either(place: Path) -> None:
    part = rs.evaluate("qrels", "my.run", "RR", partition="1/3")
    assert str(part).startswith("part 1 of 3 of my.run: ")
    takers: list[Callable[[], Any]] = [
        lambda: rs.evaluate("qrels", part),
        lambda: rs.evaluate(part, "my.run"),
        lambda: rs.compare("qrels", ["my.run", part]),
        lambda: rs.gate("qrels", part, "my.run"),
        lambda: rs.report(part),
        lambda: rs.report("qrels", part),
    ]
    for taker in takers:
        with pytest.raises(rs.InputError, match="rankscope merge makes the result of all its parts"):
            taker()


@pytest.mark.parametrize("step", ["fsync", "fdopen", "replace"])
def test_without_room_nothing_is_left(
    place: Path, step: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = sorted(os.listdir())
    data = Path("part1.parquet").read_bytes()
    home: Any = Path if step == "replace" else os
    monkeypatch.setattr(home, step, full)
    line = told(capsys, "evaluate", "qrels", "my.run", "-m", "AP", "--partition", "1/3", "-o", "part1.parquet")
    assert line == "part1.parquet: cannot be written: No space left on device"
    assert sorted(os.listdir()) == before
    assert Path("part1.parquet").read_bytes() == data
    line = told(capsys, "evaluate", "qrels", "my.run", "-m", "AP", "--resume", "kept")
    assert line == "kept/run1-00001.parquet: cannot be written: No space left on device"
    assert os.listdir("kept") == []


def test_kept_work_of_another_job_is_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    resume = ("evaluate", "qrels", "my.run", "-q", "--resume", "kept")
    assert main([*resume]) == 0
    line = told(capsys, *resume, "-m", "AP")
    assert line.startswith("kept keeps the work of another job (the metrics are nDCG@10 AP")
    assert line.endswith("in this job): name another folder, or empty it")
    assert "kept by rankscope evaluate --resume" in told(capsys, "merge", "kept/run1-00001.parquet")
    before = Path("my.run").stat()
    Path("my.run").write_text(rows().replace("d0 1 10", "d0 1 99"), encoding="utf-8")  # as long, but not the same
    os.utime("my.run", ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert "the file of the run was written between" in told(capsys, *resume)
    assert "no folder to keep work in" in told(capsys, "evaluate", "qrels", "my.run", "--resume", "qrels")


def test_damaged_kept_work_is_done_again(place: Path) -> None:
    whole = rs.evaluate("qrels", "my.run", "RR", resume="kept").per_query.rows()
    kept = Path("kept/run1-00001.parquet")
    data = kept.read_bytes()
    kept.write_bytes(data[: len(data) // 2])
    assert rs.evaluate("qrels", "my.run", "RR", resume="kept").per_query.rows() == whole
    assert len(kept.read_bytes()) == len(data)


def test_what_cannot_be_read_in_pieces_is_resumed_as_a_whole(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "PART", 100)
    monkeypatch.setattr("rankscope.sharding.resume.GROUP", 2)
    lines = rows().splitlines(keepends=True)
    for mixed in (lines[::2] + lines[1::2], [*lines[:-1], lines[-1].replace(" ", "   ")]):
        Path("my.run").write_text("".join(mixed), encoding="utf-8")
        whole = rs.evaluate("qrels", "my.run", "RR")
        resumed = rs.evaluate("qrels", "my.run", "RR", resume=f"kept{len(mixed[-1])}")
        assert (resumed.per_query.rows(), resumed.notes) == (whole.per_query.rows(), whole.notes)


def test_a_run_without_judged_queries_is_told_at_the_end(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("my.run").write_text(rows().replace("q", "x"), encoding="utf-8")
    for number in (1, 2, 3):
        make(f"part{number}.parquet", f"{number}/3")
    capsys.readouterr()
    assert main(["merge", *ALL]) == 3
    assert capsys.readouterr().err.startswith("no query of my.run is judged: the run has ids like 'x0', 'x1'")


def test_what_is_printed_is_what_evaluate_prints(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options in ((), ("--per-query",), ("--format", "json"), ("--distribution",), ("--format", "trec")):
        capsys.readouterr()
        assert main(["evaluate", "qrels", "my.run", "-m", "RR", *options]) == 0
        whole = capsys.readouterr()
        assert main(["merge", *reversed(ALL), *options]) == 0
        merged = capsys.readouterr()
        if "json" in options:
            one, two = json.loads(whole.out), json.loads(merged.out)
            assert one["inputs"][1].pop("sha256")
            assert two["inputs"][1].pop("sha256") is None  # the run is not read again
            assert one == two
        else:
            assert merged == whole


def test_a_run_of_other_documents_is_told_by_parts_too() -> None:
    qrels = {f"q{n}": {"a": 1} for n in range(6)}
    run = {query: {"x": 1.0} for query in qrels}
    merged = rs.merge([rs.evaluate(qrels, run, "RR", partition=f"{n}/3") for n in (1, 2, 3)])
    assert "RS111" in {caution.code for caution in merged.warnings}
    assert merged.warnings == rs.evaluate(qrels, run, "RR").warnings
