"""The reproduce box says all that a number rests on, and the same on every making."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.verbs.reporting.made_subjects import scored, subject, world

import rankscope as rs
from rankscope.blocks import Code, Facts, Paragraph, Section, Table
from rankscope.verbs.reporting import reproduce
from rankscope.verbs.reporting.subject import Subject


def facts(section: Section) -> dict[str, str]:
    return {term: said for block in section.blocks if isinstance(block, Facts) for term, said in block.items}


def inputs(section: Section) -> Table:
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    return table


def test_command_versions_and_conventions() -> None:
    qrels, runs = world()
    found = subject(
        qrels,
        runs,
        ["nDCG@10", "AP"],
        depth=20,
        test="permutation(rounds=999)",
        seed=7,
        correction="bh",
        alpha=0.01,
    )
    section = reproduce.section(found, "rankscope report qrels.txt low.run high.run")
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
    section = reproduce.section(Subject(rs.evaluate(qrels, run, "RR"), None, qrels, {"tag": run}), None)
    digest = hashlib.sha256(Path("my.run").read_bytes()).hexdigest()
    assert inputs(section).rows[1] == ("tag", "my.run", "TREC run", 3, digest)
    assert inputs(section).rows[0][:4] == ("qrels", "qrels.txt", "TREC qrels", 2)
    assert str(tmp_path) not in repr(section)
    assert not any(
        isinstance(block, Code) and "rankscope report" in block.lines[0] for block in section.blocks
    )


def test_what_is_in_memory_has_none() -> None:
    qrels, runs = world()
    rows = inputs(reproduce.section(scored(qrels, runs, "AP"), None)).rows
    assert [row[0] for row in rows] == ["qrels", "low", "high"]
    assert {row[4] for row in rows} == {"in memory"}


def test_the_paragraph_for_a_paper() -> None:
    qrels, runs = world()
    said = reproduce.methods(subject(qrels, runs, ["nDCG@10", "AP"], primary="AP"))
    assert said.startswith(
        f"2 runs were scored on 8 queries with rankscope {rs.__version__}, by AP (trec_eval map, map_cut); nDCG@10 (Järvelin"
    )
    assert "Every run was compared with low by a paired t test, two-sided (Student" in said
    assert (
        "by holm (Holm, A simple sequentially rejective multiple test procedure, 1979), at alpha = 0.05"
        in said
    )
    assert "AP was declared as the primary metric." in said
    alone = reproduce.methods(scored(qrels, {"low": runs["low"]}, "AP"))
    assert alone.startswith("1 run was scored on")
    assert "compared" not in alone


def test_entries_have_keys_of_their_own() -> None:
    qrels, runs = world()
    lines = list(reproduce.bibliography(subject(qrels, runs, ["nDCG@10", "ERR@10", "RBP"])))
    keys = [line for line in lines if line.startswith("@")]
    assert len(set(keys)) == len(keys)
    assert all(key.isascii() for key in keys)
    assert {
        "@misc{jarvelin2002,",
        "@misc{chapelle2009,",
        "@misc{holm1979,",
        "@misc{student1908,",
        "@misc{student1908b,",
    } <= set(keys)
    text = "\n".join(lines)
    assert text.count("{") == text.count("}")
    assert "clusters:" not in text


def test_scores_alone() -> None:
    found = rs.compare({"a": {"1": 0.5, "2": 0.1}, "b": {"1": 0.25, "2": 0.9}}, metrics="score")
    section = reproduce.section(Subject(None, found), None)
    assert "equal scores" not in facts(section)
    paragraphs = [block.text for block in section.blocks if isinstance(block, Paragraph)]
    assert paragraphs[0].startswith("Scores of 2 runs on 2 queries were compared")


@pytest.mark.parametrize(
    "policies",
    [{"ties": "expected"}, {"dialect": "lightgbm"}, {"no_relevant": 1, "mean": "micro"}, {"queries": ["q0"]}],
)
def test_every_convention_has_words(policies: dict[str, object]) -> None:
    qrels, runs = world()
    qrels = {q: {d: max(g, 0.0) for d, g in docs.items()} for q, docs in qrels.items()}
    section = reproduce.section(scored(qrels, runs, ["nDCG@10"], **policies), None)
    assert all(facts(section).values())


def test_the_same_on_every_making(shared_data: Callable[[str], Path]) -> None:
    qrels = rs.read_qrels(shared_data("trec_covid/qrels.txt"))
    run = rs.read_run(shared_data("trec_covid/round1/runs/sab20.1.merged.gz"))
    made = [
        reproduce.section(Subject(rs.evaluate(qrels, run, "AP"), None, qrels, {"r": run}), "x")
        for _ in range(2)
    ]
    assert repr(made[0]) == repr(made[1])
