"""What is a Spark frame, and what is said where executors lack the package; needs no Spark."""

from __future__ import annotations

import subprocess
import sys

import polars as pl
import pytest

from rankscope.engines.spark import fail, is_frame
from rankscope.errors import InputError


def test_only_frames_of_spark_are_frames_of_spark() -> None:
    assert not any(map(is_frame, [pl.DataFrame(), {}, "run.txt", None, []]))

    class DataFrame:
        __module__ = "pyspark.sql.classic.dataframe"

    assert is_frame(DataFrame())


def test_asking_loads_neither_spark_nor_polars() -> None:
    code = (
        "import sys, rankscope as rs; rs.evaluate({'q': {'a': 1}}, {'q': {'a': 1.0}}, 'AP'); from rankscope.engines.spark import is_frame; "
        "is_frame(1); sys.exit(bool({'pyspark', 'pyarrow', 'pandas'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_executor_without_the_package_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    with pytest.raises(
        InputError, match=r"the executors have no rankscope: .*PYSPARK_PYTHON.*install rankscope there .*venv-pack"
    ):
        fail(RuntimeError("PythonException: ...\nModuleNotFoundError: No module named 'rankscope.scoring'\n"))
    with pytest.raises(ZeroDivisionError):
        fail(ZeroDivisionError("x"))
