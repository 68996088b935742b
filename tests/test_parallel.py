"""Work on parts: in order, as many at a time as there are threads, and no more than is wanted."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from rankscope.errors import InputError
from rankscope.parallel import VARIABLE, map_parts, thread_count


@pytest.mark.parametrize("threads", ["1", "2", "7"])
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_answers_come_in_the_order_of_the_parts(monkeypatch: pytest.MonkeyPatch, threads: str, count: int) -> None:
    monkeypatch.setenv(VARIABLE, threads)
    assert list(map_parts(lambda part: part * part, range(count))) == [part * part for part in range(count)]


def test_parts_are_not_taken_far_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "3")
    taken = 0

    def parts() -> Iterator[int]:
        nonlocal taken
        for number in range(100):
            taken += 1
            yield number

    for done, _ in enumerate(map_parts(abs, parts()), start=1):
        assert taken <= done + 3


def test_a_fault_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "2")
    done = []

    def work(part: int) -> int:
        if part == 3:
            raise InputError("part 3 is at fault")
        done.append(part)
        return part

    with pytest.raises(InputError, match="part 3"):
        list(map_parts(work, range(1000)))
    assert len(done) < 10
    assert threading.active_count() < 10


def test_one_part_needs_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "4")
    assert list(map_parts(lambda _: threading.current_thread(), [0])) == [threading.main_thread()]


@pytest.mark.parametrize(
    "said", ["0", "-1", "two", "1.5", "1025", "²"], ids=["zero", "below", "a word", "a part", "too many", "a power"]
)
def test_a_number_of_threads_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv(VARIABLE, said)
    with pytest.raises(InputError, match="a whole number from 1 to 1,024"):
        thread_count()


def test_all_cores_are_used_unless_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert thread_count() >= 1
    monkeypatch.setenv(VARIABLE, " 5 ")
    assert thread_count() == 5
