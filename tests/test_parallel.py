"""Work on parts: in order, as many at a time as there are threads, and no more than is wanted."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from rankscope.errors import InputError
from rankscope.parallel import MEMORY, THREADS, check_whole, limits, map_parts, memory_bound, part_size, thread_count


@pytest.mark.parametrize("threads", ["1", "2", "7"])
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_answers_come_in_the_order_of_the_parts(monkeypatch: pytest.MonkeyPatch, threads: str, count: int) -> None:
    monkeypatch.setenv(THREADS, threads)
    assert list(map_parts(lambda part: part * part, range(count))) == [part * part for part in range(count)]


def test_parts_are_not_taken_far_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(THREADS, "3")
    taken = 0

    def parts() -> Iterator[int]:
        nonlocal taken
        for number in range(100):
            taken += 1
            yield number

    for done, _ in enumerate(map_parts(abs, parts()), start=1):
        assert taken <= done + 3


def test_a_fault_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(THREADS, "2")
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
    monkeypatch.setenv(THREADS, "4")
    assert list(map_parts(lambda _: threading.current_thread(), [0])) == [threading.main_thread()]


@pytest.mark.parametrize(
    "said", ["0", "-1", "two", "1.5", "1025", "²"], ids=["zero", "below", "a word", "a part", "too many", "a power"]
)
def test_a_number_of_threads_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv(THREADS, said)
    with pytest.raises(InputError, match="a whole number from 1 to 1,024"):
        thread_count()


def test_all_cores_are_used_unless_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(THREADS, raising=False)
    assert thread_count() >= 1
    monkeypatch.setenv(THREADS, " 5 ")
    assert thread_count() == 5


@pytest.mark.parametrize(
    ("said", "size"),
    [("2GB", 2 * 10**9), ("512 MiB", 512 * 2**20), ("1.5gb", 1_500_000_000), ("400000000", 400_000_000)],
)
def test_memory_is_read_in_usual_units(monkeypatch: pytest.MonkeyPatch, said: str, size: int) -> None:
    monkeypatch.setenv(MEMORY, said)
    assert memory_bound() == size


@pytest.mark.parametrize(
    "said", ["much", "2 elephants", "-1GB", "10MB"], ids=["a word", "another unit", "below", "too little"]
)
def test_a_bound_of_memory_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv(MEMORY, said)
    with pytest.raises(InputError, match=r"write it like|too little"):
        memory_bound()


def test_parts_shrink_where_memory_is_bound() -> None:
    assert part_size(8 << 20) == 8 << 20
    with limits(threads=7, memory="300MB"):
        assert (64 << 10) <= part_size(8 << 20) < 4 << 20
        assert 8 * 6 * part_size(8 << 20) + (200 << 20) <= 300_000_000
    with limits(threads=1, memory="10GB"):
        assert part_size(8 << 20) == 8 << 20


def test_limits_hold_within_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(THREADS, "3")
    with limits(threads=5, memory="1GB"):
        assert (thread_count(), memory_bound()) == (5, 10**9)
    assert (thread_count(), memory_bound()) == (3, None)
    with pytest.raises(InputError, match="whole number"), limits(threads="many"):
        pass


def test_a_file_that_must_be_read_whole_must_fit() -> None:
    check_whole("run", 10**6)
    with pytest.raises(InputError, match=r"takes about 2,000,000\.0 GB, more than there is \([\d.,]+ GB are free\)"):
        check_whole("run", 10**15)
    with limits(memory="1GB"):
        check_whole("run", 10**8)
        with pytest.raises(InputError, match=r"run: the rows of a query are apart, .* about 6\.2 GB, more than .*1GB"):
            check_whole("run", 10**9)


def test_parts_are_worked_on_within_the_limits_of_the_block() -> None:
    with limits(threads=3):
        assert list(map_parts(lambda _: thread_count(), range(4))) == [3] * 4
