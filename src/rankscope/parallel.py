"""Work on parts, on all cores: each part alone, the answers in the order of the parts."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import TypeVar

from rankscope.errors import InputError

VARIABLE = "RANKSCOPE_THREADS"

T = TypeVar("T")
R = TypeVar("R")


def thread_count() -> int:
    """How many threads to work on: what RANKSCOPE_THREADS says, or one a core that this process may use."""
    said = os.environ.get(VARIABLE, "").strip()
    if not said:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not said.isascii() or not said.isdigit() or not 1 <= int(said) <= 1024:
        raise InputError(f"{VARIABLE}={said!r}: how many threads to work on is a whole number from 1 to 1,024")
    return int(said)


def map_parts(work: Callable[[T], R], parts: Iterable[T]) -> Iterator[R]:
    """What ``work`` gives for each part, in the order of the parts.

    No more parts are taken ahead than there are threads, so that memory holds a part a thread. A single part is worked on at once,
    without a thread.

    >>> list(map_parts(len, ["one", "three"]))
    [3, 5]
    """
    parts = iter(parts)
    first = list(islice(parts, 2))
    threads = thread_count() if len(first) > 1 else 1
    if threads == 1:
        yield from map(work, chain(first, parts))
        return
    pool = ThreadPoolExecutor(threads)
    ahead: deque[Future[R]] = deque()
    try:
        for part in chain(first, parts):
            ahead.append(pool.submit(work, part))
            if len(ahead) > threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:  # also where nobody wants the rest
        pool.shutdown(cancel_futures=True)
