"""What a user waits for before anything happens."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from benchmarks.data import make
from benchmarks.measure import Command, Trial
from benchmarks.scope import Scope, evaluate


def trials(scope: Scope) -> Iterator[Trial]:
    """The command line with nothing to do, and with a file of a hundred lines."""
    yield Trial(
        "startup/help",
        "start of the command line",
        1,
        "call",
        {
            "rankscope --help": Command((sys.executable, "-m", "rankscope", "--help")),
            "python -c pass": Command((sys.executable, "-c", "pass")),
        },
        floors=("python -c pass",),
        times=3,
    )
    qrels, run = make("write_files", scope.folder, "tiny", queries=10, depth=10, judged=3)
    yield Trial(
        "startup/evaluate",
        "evaluate a file of 100 lines",
        100,
        "lines",
        {
            "rankscope evaluate": evaluate(qrels, run),
            "import numpy, polars": Command((sys.executable, "-c", "import numpy, polars")),
        },
        floors=("import numpy, polars",),
        times=3,
    )
