"""What is worked out from measurements, on measurements that are made up so that the answer is known."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from benchmarks import pages, scale_page
from benchmarks.results import Growth, families, merge, rows, table

MACHINE = {"processor": "A processor", "cores": 2, "memory_mb": 16_000, "system": "Linux 1", "load": 0.5}
GROUP = {"date": "2026-01-02", "machine": MACHINE, "versions": {"Python": "3.11"}, "recommenders": {}, "rounds": 3}


def job(*seconds: float, cpu: float | None = 1.0, memory: float | None = 100.0) -> dict[str, Any]:
    return {
        "seconds": [*seconds],
        "cpu": [None if cpu is None else cpu * second for second in seconds],
        "memory": [memory for _ in seconds],
    }


def trial(name: str, size: int, jobs: dict[str, Any], **others: Any) -> dict[str, Any]:
    first = next(iter(jobs), "rankscope")
    made = {"name": name, "title": name, "family": "", "size": size, "unit": "rows", "facts": {}, "floors": []}
    return {**made, "first": first, "jobs": jobs, "answers": {}, "differ": [], "left_out": {}, **others}


def store(**groups: list[dict[str, Any]]) -> dict[str, Any]:
    return merge({}, {name: {**GROUP, "trials": trials} for name, trials in groups.items()})


# --- a trial -----------------------------------------------------------------------------------------------------


def test_medians_and_ratios_of_a_trial() -> None:
    # the machine was ten times slower in the second round, for both
    ours, theirs = rows(trial("a", 1, {"rankscope": job(1.0, 10.0, 1.0), "other": job(4.0, 40.0, 2.0, cpu=0.5)}))
    assert (ours.seconds, theirs.seconds) == (1.0, 4.0)
    assert (ours.ratio, theirs.ratio) == (1.0, 4.0)  # of 4, 4 and 2
    assert theirs.under == 1 / 4
    assert theirs.cpu_ratio == 4.0 * 0.5
    assert theirs.cpu_under == 1 / (4.0 * 0.5)


def test_the_peak_is_the_highest_of_all_rounds() -> None:
    found = job(1.0, 1.0)
    found["memory"] = [120.0, 90.0]
    assert rows(trial("a", 1, {"rankscope": found}))[0].memory == 120.0


def test_what_the_system_does_not_tell_is_not_made_up() -> None:
    silent = job(1.0, cpu=None, memory=None)
    (row, _) = rows(trial("a", 1, {"rankscope": silent, "other": job(2.0)}))
    assert (row.cpu, row.memory, row.cpu_ratio) == (None, None, None)
    text = pages.benchmarks(store(files=[trial("a", 1, {"rankscope": silent, "other": job(2.0)})]))
    assert "|  | other | **2.00** | – | 2.00 | 2.00 | 100 |" in text


def test_without_the_first_job_there_are_no_ratios() -> None:
    left = trial("a", 1, {"other": job(1.0)}, first="rankscope", left_out={"rankscope": "it failed"})
    assert rows(left) == []
    assert "left out: rankscope (it failed)" in table(left)


def test_what_is_measured_again_takes_the_place_of_what_was() -> None:
    first, second = store(files=[trial("a", 1, {})], dicts=[trial("b", 1, {})]), store(files=[trial("c", 1, {})])
    merged = merge(first, second["groups"])
    assert [found["name"] for group in merged["groups"].values() for found in group["trials"]] == ["c", "b"]


# --- growth ------------------------------------------------------------------------------------------------------


def linear(
    once: float = 0.5,
    each: float = 2e-7,
    held: float = 80.0,
    more: float = 4e-4,
    floor: float = 1e-7,
    power: float = 1.0,
) -> list[dict[str, Any]]:
    """Rows that take ``each`` second and ``more`` megabytes, and a process that takes ``once`` and ``held``."""
    found = []
    for family, depth in (("scale/long", 1000), ("scale/short", 20)):
        for size in (100_000, 10_000, 1_000_000, 10_000_000):
            jobs = {
                "rankscope": job(once + each * size**power, cpu=1.5, memory=held + more * size),
                "Polars, scan only": job(floor * size, memory=50.0),
            }
            facts = {"bytes": 12 * size, "queries": size // depth}
            found.append(
                trial(f"{family}/{size}", size, jobs, family=family, facts=facts, floors=["Polars, scan only"])
            )
    return found


def grown(trials: list[dict[str, Any]]) -> dict[str, Growth]:
    return {growth.job: growth for _, jobs in families({"trials": trials}) for growth in jobs}


def test_a_family_grows_from_its_smallest_size_to_its_largest() -> None:
    found = grown(linear())["rankscope"]
    assert found.sizes == (10_000, 100_000, 1_000_000, 10_000_000)
    assert found.each() == pytest.approx(2e-7)
    assert found.at(10**9) == pytest.approx(0.5 + 2e-7 * 10**9)
    assert found.at(10**9, "memory") == pytest.approx(80 + 4e-4 * 10**9)
    assert grown(linear(once=0.0))["rankscope"].slope() == pytest.approx(1.0)


def test_a_job_that_was_timed_once_has_no_slope() -> None:
    trials = linear()
    trials[0]["jobs"]["slow"] = job(9.0)
    assert "slow" not in grown(trials)


# --- the page of scale -------------------------------------------------------------------------------------------


def test_a_billion_rows_by_arithmetic() -> None:
    text = scale_page.page(store(scale=linear()))
    # 0.5 s + 10⁹ × 200 ns; 10⁹ × 100 ns; 1.5 times that of CPU; 80 MB + 10⁹ × 400 bytes; 10⁹ × 12 bytes
    assert "| rankings of 1,000 | 0.20 | 3.3 minutes | 1.7 minutes | 5 minutes | 400 GB | 12 GB |" in text
    # (16,000 − 80) MB / 400 bytes
    assert "do not fit in the 16 GB of this machine, which would be full at about 40 million rows" in text
    # 300.75 s of CPU on 16, 64 and 256 cores
    assert "| rankings of 20 | 5 minutes | 19 seconds | 4.7 seconds | 1.2 seconds |" in text


def test_what_breaks_first_stands_first() -> None:
    text = scale_page.page(store(scale=linear()))
    listed = [line for line in text.splitlines() if line[:2] in {"1.", "2.", "3.", "4.", "5.", "6."}]
    assert listed[0].startswith("1. **40 million rows**: memory is full")
    # 16 GB / 80 bytes × 20 rows; 86,400 s / 200 ns
    assert listed[2].startswith("3. **4.0 billion rows**: the values of queries alone")
    assert listed[-1].startswith("6. **432 billion rows**: a run takes a day")


def test_memory_that_does_not_grow_is_no_limit() -> None:
    text = scale_page.page(store(scale=linear(more=0.0)))
    assert "memory does not grow with the rows" in text
    assert "memory is full" not in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "in proportion to the rows"),
        ({"once": 30.0}, "more slowly than the rows, as the start of a process still weighs"),
        ({"power": 1.2}, "faster than the rows"),
    ],
    ids=["a straight line", "a start that weighs", "ever steeper"],
)
def test_growth_in_words(changes: dict[str, float], words: str) -> None:
    text = scale_page.page(store(scale=linear(**{"once": 0.0, **changes})))
    (said,) = [line for line in text.splitlines() if line.startswith("- rankings of 20: seconds")]
    assert words in said


def spark(factor: float) -> list[dict[str, Any]]:
    jobs = {"rankscope without Spark": 1e-7, "rankscope on Spark": factor * 1e-7}
    return [
        trial(str(size), size, {name: job(2.0 + each * size) for name, each in jobs.items()}, family="spark/users")
        for size in (10**6, 10**7)
    ]


def test_a_cluster_takes_what_spark_was_measured_to_take() -> None:
    without, measured = (
        scale_page.page(found) for found in (store(scale=linear()), store(scale=linear(), spark=spark(4)))
    )
    assert "**rankscope on Spark was not measured here**" in without
    assert "- rankscope on Spark." in without
    assert "takes 4.00 times the CPU seconds" in measured
    assert "- rankscope on Spark." not in measured
    assert "| rankings of 20 | 20 minutes | 1.3 minutes |".replace("1.3 minutes", "75 seconds") in measured


def test_nothing_measured_is_said() -> None:
    assert "Nothing has been measured yet" in scale_page.page(store())


# --- the page of benchmarks --------------------------------------------------------------------------------------


def test_at_a_glance_the_largest_size_at_which_both_were_timed() -> None:
    small = trial("small", 10, {"rankscope": job(1.0), "slow": job(9.0), "fast": job(0.5)}, family="files/deep")
    large = trial("large", 100, {"rankscope": job(2.0), "fast": job(0.6)}, family="files/deep", floors=["fast"])
    text = pages.benchmarks(store(files=[large, small]))
    assert "| **9.00** | 9.00 | slow | small | 9.00 | 1.00 | 100 | 100 |" in text
    assert "- small, where rankscope takes 1.00 s: fast 2.00 times faster." in text
    assert "| **3.33** | 3.33 | fast | large | 0.60 | 2.00 | 100 | 100 |" in text  # 2.0 / 0.6, as it is the least


def test_what_was_left_out_and_what_differs_is_said() -> None:
    found = trial("A run", 1, {"rankscope": job(1.0)}, differ=["other"], left_out={"third": "it is not installed"})
    text = pages.benchmarks(store(dicts=[found]))
    assert "- Left out: third, it is not installed (1 of 1 tables)." in text
    assert "- other gives other numbers than rankscope: A run." in text


@pytest.mark.parametrize(
    ("load", "said"), [(2.5, False), (6.0, True), (None, False)], ids=["ours alone", "others", "untold"]
)
def test_other_work_on_the_machine_is_said(load: float | None, said: bool) -> None:
    stored = store(scale=linear())
    stored["groups"]["scale"]["machine"] = {**MACHINE, "load": load}
    for text in pages.pages(stored).values():
        assert ("other work was running" in text) is said


def test_a_chart_is_marked_with_its_numbers(need: Any) -> None:
    need("altair")
    before, after = store(scale=linear()), store(scale=linear(each=3e-7))
    (path, chart), *_ = pages.charts(before).items()
    changed = pages.charts(after)[path]
    assert pages.mark(chart) != pages.mark(changed)
    assert pages.mark(chart) == pages.mark(pages.charts(copy.deepcopy(before))[path])
    assert f'data-drawn-from="{pages.mark(chart)}"' in pages.pictures(before)[path]
