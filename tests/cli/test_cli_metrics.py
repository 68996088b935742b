"""``rankscope metrics``, ``demo`` and ``completion``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.made.files import some

from rankscope.metrics import families
from rankscope.testing import worked_out
from rankscope.verbs.demo.demo import folder as demo_folder

ALL = [cls.__name__ for group in families().values() for cls in group]


def test_every_metric_is_listed_once(run: Any) -> None:
    out = run("metrics").out
    firsts = [line.split()[0] for line in out.splitlines() if line.strip()]
    assert all(firsts.count(name) == 1 for name in ALL)
    assert max(map(len, out.splitlines())) <= 80


def test_traits_have_a_row_each(run: Any) -> None:
    out = run("metrics", "--table").out
    firsts = [line.split()[0] for line in out.splitlines() if line[1:2].strip()]
    assert [name for name in firsts if name in ALL] == [
        *ALL,
        *ALL,
    ]  # what each is like, then formulas and what each is not for
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("name", ALL)
def test_each_is_told_in_full(run: Any, name: Any) -> None:
    said = run("metrics", name)
    assert said.code == 0
    assert said.out.startswith(f" {name}: ")
    for part in ("formula", "traits", "Worked example", "source", "next:"):
        assert part in said.out


def test_err_in_full(run: Any) -> None:
    out = run("metrics", "ERR").out
    assert "= 7/8 + (1/8) * (3/8) / 3" in out
    assert "= 0.8906" in out
    assert "max_grade=4" in out
    assert "max_rel" in out


@pytest.mark.parametrize(
    ("said", "name"), [("ndcg_cut_10", "nDCG"), ("map", "AP"), ("nDCG@10", "nDCG"), ("err", "ERR"), ("P", "P")]
)
def test_other_names_are_known(run: Any, said: Any, name: Any) -> None:
    assert run("metrics", said).out.startswith(f" {name}: ")


def test_sets_are_listed(run: Any) -> None:
    lines = [line.split() for line in run("metrics", "official").out.splitlines()]
    assert ["map", "AP"] in lines
    assert ["P_10", "P@10"] in lines
    assert ["ndcg_cut_10", "nDCG@10"] in [line.split() for line in run("metrics", "all_trec").out.splitlines()]
    told = json.loads(run("metrics", "official", "--format", "json").out)
    assert {"AP", "NumQ"} <= {entry["name"] for entry in told["metrics"]} < set(ALL)


def test_abbreviations_keep_their_letters(run: Any) -> None:
    assert run("metrics", "GAUC").out.startswith(" GAUC: AUC of")
    assert run("metrics", "Judged").out.startswith(" Judged: the share")


def test_unknown_names_are_refused_with_the_nearest(run: Any) -> None:
    said = run("metrics", "nDGC")
    assert (said.code, said.out) == (2, "")
    assert "did you mean nDCG?" in said.err


def test_the_catalogue_as_json(run: Any) -> None:
    told = json.loads(run("metrics", "--format", "json").out)
    assert list(told) == ["schema", "rankscope", "metrics", "online_metrics"]
    assert told["schema"] == "rankscope/metrics/1"
    assert [entry["name"] for entry in told["metrics"]] == ALL
    for entry in told["metrics"]:
        for example in entry["examples"]:
            assert example["value"] == pytest.approx(worked_out(example["arithmetic"]), abs=1e-12)
    one = json.loads(run("metrics", "ERR", "--format", "json").out)
    assert [p["name"] for p in one["metrics"][0]["parameters"]] == ["cutoff", "max_grade", "judged_only", "stops"]


def test_the_catalogue_in_a_file(run: Any) -> None:
    assert run("metrics", "-o", "m.json").code == 0
    assert json.loads(Path("m.json").read_text())["metrics"]
    assert run("metrics", "-o", "m.csv").code == 2


def test_some_metrics_and_families_are_compared(run: Any) -> None:
    out = run("metrics", "--table", "AUC", "gain").out
    firsts = [line.split()[0] for line in out.splitlines() if line[1:2].strip()]
    assert [name for name in firsts if name in ALL] == ["AUC", "CG", "DCG", "IdealDCG", "nDCG"] * 2
    for part in ("formula", "not for", "distinguishing grades", "order: no if only the documents"):
        assert part in out
    both = run("metrics", "ERR", "RR").out
    assert both.index(" ERR: ") < both.index(" RR: ")
    assert both.count("not for") == 2
    assert run("metrics", "pairs").out.startswith(" Metrics over pairs of a better and a worse document")
    assert "metrics --table pairs" in run("metrics", "pairs").out
    assert "did you mean nDCG?" in run("metrics", "AP", "nDGC").err
    assert run("metrics", "AP", "RR", "--plot").code == 2


def test_the_demo_writes_all_that_was_asked_for(run: Any) -> None:
    said = run("demo", "--copy", "d", "--report", "page.html")
    assert (said.code, Path("page.html").read_text()[:15]) == (0, "<!doctype html>")
    assert Path("d", "qrels.txt").exists()
    assert "wrote page.html" in said.err
    quiet = run("demo", "-q", "--copy", "e", "--report", "again.html")
    assert quiet.err == ""
    assert Path("again.html").exists()
    numbers = run("demo", "-q").out
    assert "nDCG@10" in numbers
    assert "Reading the result" not in numbers


def test_demo(run: Any) -> None:
    said = run("demo")
    assert said.code == 0
    where = f"   {demo_folder()}"
    assert where in said.out.splitlines()
    assert max(len(line) for line in said.out.splitlines() if line != where) <= 80
    for part in ("No person judged", "hybrid", "rankscope evaluate qrels.txt my.run -m nDCG@10", "demo --copy"):
        assert part in said.out


def test_demo_files_can_be_copied_and_scored(run: Any) -> None:
    said = run("demo", "--copy", "there")
    assert said.code == 0
    assert sorted(path.name for path in some(Path("there").glob("*.run.gz"))) == [
        "bm25.run.gz",
        "dense.run.gz",
        "hybrid.run.gz",
    ]
    assert run(*said.out.split()[1:]).code == 0
    again = run("demo", "--copy", "there")
    assert again.code == 2
    assert "is there already" in again.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(run: Any, shell: Any) -> None:
    said = run("completion", shell)
    assert said.code == 0
    assert f"_RANKSCOPE_COMPLETE={shell}_complete" in said.out


def test_help_at_each_level_has_an_example(run: Any) -> None:
    for command in ([], ["evaluate"], ["metrics"], ["demo"], ["completion"]):
        said = run(*command, "--help")
        assert said.code == 0
        assert "Examples:\n    rankscope " in said.out
        assert max(map(len, said.out.splitlines())) <= 80


def test_alone_it_prints_help(run: Any) -> None:
    said = run()
    assert (said.code, said.err) == (0, "")
    assert said.out == run("--help").out


def test_mistyped_commands(run: Any) -> None:
    said = run("evalute", "qrels.txt")
    assert (said.code, said.out) == (2, "")
    assert "did you mean evaluate?" in said.err
    for far in ("zzz", "wwwwwwww"):
        assert "there are evaluate, compare" in run(far).err
    assert "did you mean evaluate?" in run("eval").err


def test_version(run: Any) -> None:
    assert run("--version").out.startswith("rankscope 0.")
