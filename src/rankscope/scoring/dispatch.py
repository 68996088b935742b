"""Score runs on this machine, or on the Spark cluster that holds them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from rankscope.errors import InputError
from rankscope.scoring.evaluation import Judge, evaluate_request
from rankscope.scoring.inputs import CleanInput, named_runs
from rankscope.scoring.request import Request
from rankscope.scoring.scores import Scores


def evaluate_local_or_spark(
    qrels: Any, runs: Any, request: Request, progress: Callable[[str], None] | None = None,
    judging: Callable[[CleanInput, Request], Judge] | None = None,
) -> Scores:  # fmt: skip
    """Score rankings as a request asks: Spark frames on Spark, all others here. ``judging`` is for local runs (see ``evaluate_request``)."""
    if "pyspark" not in sys.modules:  # whoever has a frame has loaded it
        return evaluate_request(qrels, runs, request, progress, judging)
    from rankscope.engines.spark import is_frame

    if is_frame(runs) or (isinstance(runs, list | tuple | dict) and any(is_frame(run) for _, run in named_runs(runs))):
        from rankscope.scoring.spark.evaluation import evaluate_frames

        if judging is not None:
            raise InputError("resume keeps work on files, and Spark has checkpoints of frames: leave it out")

        return evaluate_frames(qrels, runs, request, progress)
    if is_frame(qrels):
        raise InputError(
            "the qrels are a Spark frame and the runs are not: give the runs as Spark frames, or qrels.toArrow()"
        )
    return evaluate_request(qrels, runs, request, progress, judging)
