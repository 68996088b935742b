"""What runs are called: their tags, and where two have one the shortest part of the path that tells them apart."""

from __future__ import annotations

import itertools
from pathlib import Path
from random import Random

import pytest

import rankscope as rs
from rankscope.cli.runner import score_tables
from rankscope.scoring.inputs import distinct_names

QRELS = {"q1": {"d1": 1}}


def write_run(path: Path, tag: str = "same") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"q1 Q0 d1 1 2.5 {tag}\n")
    return path


def names_of(folder: Path, *files: str, tags: str = "") -> list[str]:
    """What runs in these files of a folder are called; their tags are letters, the same one unless given."""
    paths = [write_run(folder / file, tag) for file, tag in itertools.zip_longest(files, tags, fillvalue="same")]
    return [run.name for run in rs.evaluate(QRELS, [str(path) for path in paths], "RR").runs]


@pytest.mark.parametrize(
    ("files", "names"),
    [
        pytest.param(["ql.catb.txt", "ql.cata.txt"], ["ql.catb", "ql.cata"], id="known endings go, dots stay"),
        pytest.param(["msmarco.bm25.dev.run", "b.run"], ["msmarco.bm25.dev", "b"], id="several dots"),
        pytest.param(["a/run.txt", "b/run.txt"], ["a/run", "b/run"], id="the folder where files are called alike"),
        pytest.param(["x/a/s/run.txt", "x/b/s/run.txt"], ["a/s/run", "b/s/run"], id="no more folders than it takes"),
        pytest.param(
            ["a/run.txt", "b/run.txt", "c/dense.txt"], ["a/run", "b/run", "dense"], id="each as short as it can be"
        ),
        pytest.param(["run.txt", "run.trec"], ["run.txt", "run.trec"], id="the ending where nothing else differs"),
        pytest.param(["one.txt", "one.txt"], ["one#1", "one#2"], id="one file twice"),
    ],
)
def test_runs_of_one_tag_are_called_by_their_files(tmp_path: Path, files: list[str], names: list[str]) -> None:
    assert names_of(tmp_path, *files) == names


def test_a_tag_that_no_other_run_has_is_the_name(tmp_path: Path) -> None:
    assert names_of(tmp_path, "a.run", "b.run", "c.run", tags="xyy") == ["x", "b", "c"]
    # the second is not called by its file, as that is the tag of the first
    assert names_of(tmp_path, "other.run", "n/x.run", "c.run", tags="xyy") == ["x", "x.run", "c"]


def test_no_two_runs_share_a_name_and_none_is_called_by_an_absolute_path() -> None:
    rng = Random(8)
    for _ in range(300):
        paths = [
            "/" + "/".join(rng.choices("ab", k=rng.randint(1, 4))) + rng.choice(["", ".run", ".txt.gz", ".b"])
            for _ in range(5)
        ]
        labels = [
            (rng.choice(["t", "a", "b"]), rng.choice(["", path]), f"run{i}")
            for i, path in enumerate(dict.fromkeys(paths))
        ]
        names = distinct_names([(tag, path, "" if path else number) for tag, path, number in labels])
        assert len(set(names)) == len(labels)
        assert not any(name.startswith("/") for name in names)


def test_dicts_are_numbered() -> None:
    run = {"q1": {"d1": 1.0}}
    assert [one.name for one in rs.evaluate(QRELS, [run, run], "RR").runs] == ["run1", "run2"]


def test_tables_of_scores_are_called_as_runs_are() -> None:
    assert score_tables(["ql.catb.csv", "/s/a/x.csv", "/s/b/x.csv", "m=y.csv"]) == {
        "ql.catb": "ql.catb.csv", "a/x": "/s/a/x.csv", "b/x": "/s/b/x.csv", "m": "y.csv",
    }  # fmt: skip
