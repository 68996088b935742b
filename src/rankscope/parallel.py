"""Work on parts, on all cores: each part alone, the answers in the order of the parts."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar

from rankscope import words
from rankscope.errors import InputError

THREADS, MEMORY = "RANKSCOPE_THREADS", "RANKSCOPE_MEMORY"
UNITS = {"": 1, "b": 1} | {f"{p}b": 10**e for p, e in zip("kmgt", (3, 6, 9, 12), strict=True)}
UNITS |= {f"{p}ib": 2**e for p, e in zip("kmgt", (10, 20, 30, 40), strict=True)}
LEAST = 64 << 10  # bytes of the smallest part
STANDING = 200 << 20  # what a process takes before it reads a run
FACTOR = 6  # how much more than its bytes a part takes while it is judged
LEAST_WHOLE = 2  # how much more a whole file takes at least
FREE = (  # where a system says how much memory is free or may be used, and in which unit
    ("/proc/meminfo", r"^MemAvailable:\s+(\d+) kB", 1 << 10),
    ("/sys/fs/cgroup/memory.max", r"^(\d+)$", 1),
)

T = TypeVar("T")
R = TypeVar("R")

_limits: ContextVar[Mapping[str, str]] = ContextVar("_limits", default=MappingProxyType({}))


@contextmanager
def limits(threads: Any = None, memory: str | None = None) -> Iterator[None]:
    """Set the threads and the memory for reading within the block. None leaves them to the environment."""
    settings = {name: str(value) for name, value in ((THREADS, threads), (MEMORY, memory)) if value is not None}
    token = _limits.set(settings)
    try:
        thread_count(), memory_bound()  # so that what cannot be meant is told before any work
        yield
    finally:
        _limits.reset(token)


def _setting(name: str) -> str:
    return _limits.get().get(name, os.environ.get(name, "")).strip()


def thread_count() -> int:
    """The number of threads: RANKSCOPE_THREADS, or one per core that this process may use."""
    setting = _setting(THREADS)
    if not setting:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not setting.isascii() or not setting.isdigit() or not 1 <= int(setting) <= 1024:
        raise InputError(f"{THREADS}={setting!r}: how many threads to work on is a whole number from 1 to 1,024")
    return int(setting)


def memory_bound() -> int | None:
    """The bound of memory in bytes, from RANKSCOPE_MEMORY (``2GB``), or None if it is not set."""
    setting = _setting(MEMORY)
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", setting.lower())
    if setting and (match is None or match[2] not in UNITS):
        raise InputError(f"{setting!r} is not a memory size: write it like 2GB or 512MB")
    if match is None:
        return None
    bound = int(float(match[1]) * UNITS[match[2]])
    if bound < STANDING + 2 * FACTOR * LEAST:
        raise InputError(
            f"{MEMORY}={setting!r}: too little, as processes need {words.count(STANDING >> 20)} MB before reading runs"
        )
    return bound


def part_size(size: int) -> int:
    """The number of bytes of a part: this number, or fewer under a bound of memory."""
    bound = memory_bound()
    return size if bound is None else max(LEAST, min(size, (bound - STANDING) // (FACTOR * (thread_count() + 1))))


def check_whole(label: str, size: int) -> None:
    """Refuse to read a file of this size as a whole if that would exceed the bound of memory or the free memory."""
    why = "the rows of a query are apart, or a line is wrong, so the file must be read as a whole, which"
    bound = memory_bound()
    if bound is not None and STANDING + FACTOR * size > bound:
        _refuse(label, why, STANDING + FACTOR * size, f"the bound of memory allows ({_setting(MEMORY)})")
    check_memory(label, LEAST_WHOLE * size, why)


def check_memory(label: str, size: int, why: str = "its content") -> None:
    """Refuse work that needs more bytes than are free. Small amounts are never checked."""
    if size > STANDING and (free := free_memory()) is not None and size > free:
        _refuse(label, why, size, f"there is ({words.number(free / 1e9, digits=1)} GB are free)")


def _refuse(label: str, why: str, needed: int, bound: str) -> NoReturn:
    raise InputError(f"{label}: {why} takes about {words.number(needed / 1e9, digits=1)} GB, more than {bound}")


def free_memory() -> int | None:
    """The number of bytes this process may still take by the system, its group and limits. None if the system has no number."""
    bounds = []
    for path, pattern, unit in FREE:
        with suppress(OSError, ValueError):
            if match := re.search(pattern, Path(path).read_text("ascii"), re.MULTILINE):
                bounds.append(int(match[1]) * unit)
    with suppress(ImportError, OSError, ValueError):
        import resource

        bound = resource.getrlimit(resource.RLIMIT_AS)[0]
        if bound != resource.RLIM_INFINITY:
            taken = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
            bounds.append(max(bound - taken, 0))
    return min(bounds, default=None)


def map_parts(work: Callable[[T], R], parts: Iterable[T]) -> Iterator[R]:
    """What ``work`` gives for each part, in the order of the parts.

    No more parts are taken ahead than there are threads, so that memory holds one part per thread. A single part is worked on at once,
    without a thread.
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
            ahead.append(pool.submit(copy_context().run, work, part))
            if len(ahead) > threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:  # even if the rest is not needed
        pool.shutdown(cancel_futures=True)
