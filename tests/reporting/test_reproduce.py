"""The reproduce box says all that a number rests on, and the same on every making."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.reporting.made_subjects import scored, subject, world

import rankscope as rs
from rankscope.blocks import Code, Facts, Paragraph, Section, Table
from rankscope.files.texts import texts_of
from rankscope.reporting.sections.reproduce import notes_read, reproduce
from rankscope.reporting.subject import Subject


def facts(section: Section) -> dict[str, str]:
    return {term: said for block in section.blocks if isinstance(block, Facts) for term, said in block.items}


def inputs(section: Section) -> Table:
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    return table


def test_command_versions_and_conventions() -> None:
    qrels, runs = world()
    found = subject(
        qrels, runs, ["nDCG@10", "AP"], depth=20, test="permutation(rounds=999)", seed=7, correction="bh", alpha=0.01
    )
    section = reproduce(found, "rankscope report qrels.txt low.run high.run")
    assert section.name == "reproduce"
    assert section.blocks[0] == Code(("rankscope report qrels.txt low.run high.run",))
    told = facts(section)
    assert told["rankscope"] == rs.__version__
    assert {"Python", "numpy", "polars", "scipy"} <= told.keys()
    assert told["equal scores"] == "score, then document id, both descending"
    assert told["depth"] == "the first 20 documents of each ranking"
    assert told["baseline"] == "low"
    assert told["test"].startswith("permutation(rounds=999")
    assert (told["alpha"], told["seed"]) == ("0.01", "7")
    assert told["correction"] == "bh, within each metric"
    assert "linear gain" in told["nDCG@10"]


def test_files_have_their_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("q1 0 a 1\nq2 0 a 1\n")
    Path("my.run").write_text("q1 Q0 a 1 2.0 tag\nq2 Q0 b 1 1.0 tag\nq2 Q0 a 2 0.5 tag\n")
    qrels, run = rs.read_qrels("qrels.txt"), rs.read_run("my.run")
    section = reproduce(Subject(rs.evaluate(qrels, run, "RR"), qrels, {"tag": run}), None)
    digest = hashlib.sha256(Path("my.run").read_bytes()).hexdigest()
    assert inputs(section).rows[1] == ("tag", "my.run", "TREC run", 3, digest)
    assert inputs(section).rows[0][:4] == ("qrels", "qrels.txt", "TREC qrels", 2)
    assert str(tmp_path) not in repr(section)
    assert not any(isinstance(block, Code) and "rankscope report" in block.lines[0] for block in section.blocks)


def test_what_is_in_memory_has_none() -> None:
    qrels, runs = world()
    rows = inputs(reproduce(scored(qrels, runs, "AP"), None)).rows
    assert [row[0] for row in rows] == ["qrels", "low", "high"]
    assert {row[4] for row in rows} == {"in memory"}


def test_scores_alone() -> None:
    found = rs.compare({"a": {"1": 0.5, "2": 0.1}, "b": {"1": 0.25, "2": 0.9}}, metrics="score")
    section = reproduce(Subject(found), None)
    assert "equal scores" not in facts(section)
    paragraphs = [block.text for block in section.blocks if isinstance(block, Paragraph)]
    assert any(text.startswith("Scores of 2 runs on 2 queries were compared") for text in paragraphs)


def test_conventions_are_those_of_the_metric_itself_and_of_what_was_asked() -> None:
    qrels, runs = world()
    told = facts(
        reproduce(
            subject(
                qrels,
                runs,
                ["nDCG(gain='exponential')@10", "P@5"],
                weights=dict.fromkeys(qrels, 1.0) | {"q0": 2.0},
                nothing_found="skip_list",
                clusters={query: int(query[1:]) // 2 for query in qrels},
            ),
            None,
        )
    )
    assert told["nDCG(gain='exponential')@10"].startswith("here: gain 2^grade - 1. Usually: linear gain")
    assert told["P@5"].startswith("divides by k")
    assert told["means"] == "of the queries' values, weighted if there are weights"
    assert told["weights"] == "given in memory"
    assert told["queries with nothing relevant found"] == "left out if nothing relevant is in the whole list"
    assert told["clusters"].startswith("queries come in 4 clusters")
    assert told["interval of means"] == "95%, t; wilson for scores of 0 and 1"


def test_clusters_and_the_interval_of_one_run_are_named() -> None:
    qrels, runs = world()
    clusters = {query: query for query in qrels}
    told = facts(reproduce(scored(qrels, {"low": runs["low"]}, "AP", interval="t", clusters=clusters), None))
    assert (told["clusters"], told["interval of means"]) == ("given in memory", "95%, t")


def test_what_was_read_is_told() -> None:
    qrels, runs = world()
    found = replace(scored(qrels, runs, "AP"), texts=(texts_of({"q0": "words"}, list(qrels), "query"),))
    said = [block.text for block in reproduce(found, None).blocks if isinstance(block, Paragraph)]
    assert notes_read(found)
    assert set(notes_read(found)) <= set(said)


@pytest.mark.parametrize(
    "policies",
    [{"ties": "expected"}, {"dialect": "lightgbm"}, {"no_relevant": 1, "mean": "micro"}, {"queries": ["q0"]}],
)
def test_every_convention_has_words(policies: dict[str, object]) -> None:
    qrels, runs = world()
    qrels = {q: {d: max(g, 0.0) for d, g in docs.items()} for q, docs in qrels.items()}
    section = reproduce(scored(qrels, runs, ["nDCG@10"], **policies), None)
    assert all(facts(section).values())


def test_the_same_on_every_making(shared_data: Callable[[str], Path]) -> None:
    qrels = rs.read_qrels(shared_data("trec_covid/qrels.txt"))
    run = rs.read_run(shared_data("trec_covid/round1/runs/sab20.1.merged.gz"))
    made = [reproduce(Subject(rs.evaluate(qrels, run, "AP"), qrels, {"r": run}), "x") for _ in range(2)]
    assert repr(made[0]) == repr(made[1])
