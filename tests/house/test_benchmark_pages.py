"""docs/benchmarks.md, docs/scale.md and their charts say what the stored measurements say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks import pages
from benchmarks.__main__ import GROUPS
from benchmarks.results import SCHEMA, STORE

ROOT = Path(__file__).resolve().parents[2]
STORED = json.loads(STORE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("path", "text"), [pytest.param(*page, id=page[0].name) for page in pages.pages(STORED).items()]
)
def test_the_page_is_fresh(path: Path, text: str) -> None:
    assert path.read_text(encoding="utf-8") == text, "python -m benchmarks.pages writes it"


def test_the_charts_are_fresh() -> None:
    """By the numbers they were drawn from: letters are drawn a little differently by every version."""
    for path, chart in pages.charts(STORED).items():
        assert f'data-drawn-from="{pages.mark(chart)}"' in path.read_text(encoding="utf-8"), (
            "python -m benchmarks.pages"
        )


def test_there_are_no_other_charts() -> None:
    there = set((ROOT / "docs" / "images").glob("benchmarks-*.svg"))
    assert there == set(pages.charts(STORED))


def test_what_is_stored_was_measured_by_groups_that_there_are() -> None:
    assert STORED["schema"] == SCHEMA
    assert set(STORED["groups"]) <= set(GROUPS)
    assert set(pages.TITLES) == set(GROUPS)


def test_every_trial_counts_as_many_rounds_for_each_job() -> None:
    for group in STORED["groups"].values():
        for trial in group["trials"]:
            counted = {len(numbers) for job in trial["jobs"].values() for numbers in job.values()}
            assert len(counted) == 1, trial["name"]
            assert min(counted) >= group["rounds"], trial["name"]


def test_no_path_of_the_machine_that_measured_is_stored() -> None:
    text = STORE.read_text(encoding="utf-8")
    assert [part for part in ("/tmp/", "/home/", "/root/", str(ROOT)) if part in text] == []
