"""A bar for long work, on stderr, where someone looks."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rankscope.cli.output import watched

LARGE = 50_000_000  # bytes that take long enough to be worth a bar


@contextmanager
def bar(paths: Sequence[str]) -> Iterator[Callable[[str], None] | None]:
    """Give the function to call after each run, or None where no bar is shown."""
    if not watched(sys.stderr) or os.environ.get("TERM") == "dumb" or not _long(paths):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("evaluating", total=len(paths))

        def advance(name: str) -> None:
            progress.update(task, advance=1, description=f"evaluated {name[:30]}")

        yield advance


def _long(paths: Sequence[str]) -> bool:
    sizes = [Path(path).stat().st_size for path in paths if Path(path).is_file()]
    return len(paths) > 2 or sum(sizes) > LARGE
