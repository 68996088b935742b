"""Whether judgments are few is found without having all of them computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rankscope.engines.spark import first_rows

pytestmark = pytest.mark.filterwarnings("ignore:::pyspark")  # not ours to mend


def written_by(folder: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Hands batches on; leaves a file for each partition that is computed."""

    def note(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        task: Any = TaskContext.get()
        (Path(folder) / str(task.partitionId())).touch()
        yield from batches

    return note


@pytest.mark.parametrize(
    ("limit", "partitions", "few"),
    [
        pytest.param(50, 1, False, id="the first partition has more"),
        pytest.param(700, 8, False, id="one row too many"),
        pytest.param(701, 8, True, id="as many as there may be"),
    ],
)
def test_rows_are_computed_until_there_are_too_many(
    limit: int, partitions: int, few: bool, spark: Any, tmp_path: Path
) -> None:
    frame = spark.range(0, 701, 1, 8).mapInArrow(written_by(str(tmp_path)), "id bigint")
    found = first_rows(frame, limit)
    assert (found is not None) == few
    assert found is None or sorted(found["id"]) == list(range(701))
    assert len(list(tmp_path.iterdir())) == partitions
