"""What any test may ask for: real data beside the repository, and packages that are not needed to use rankscope.

Both are skipped with a reason where absent, and fail where the environment says that they must be here.
"""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

from rankscope.declared import Declared

# the same worlds in every run, so that a change is judged by what it changes
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")


def in_words(text: str, otherwise: str) -> str:
    """A text where it can be part of a name, and otherwise the name of the parameter."""
    plain = text.isascii() and text.isprintable() and "\\" not in text and not text.startswith(("/", "~", "<"))
    return text if plain and len(text) <= 60 else otherwise


def pytest_make_parametrize_id(val: Any, argname: str) -> str | None:
    """Names a case in words: what is data is called what its parameter is called, and pytest numbers what is called the same.

    Names must be the same in every process, or workers disagree on what there is to test.
    """
    if isinstance(val, bytes):
        return argname
    if isinstance(val, str):
        return in_words(val, argname)
    if isinstance(val, int | float) and len(str(val)) > 8:
        return f"{val:.4g}" if isinstance(val, float) else argname
    if isinstance(val, dict):
        scalar = str | int | float | None
        parts = (f"{key}={of}" if isinstance(of, scalar) else str(key) for key, of in val.items())
        return in_words(" ".join(parts), argname) or "nothing"
    if str(getattr(val, "__name__", "")).startswith("<"):  # a lambda, a generator
        return argname
    return None


def forget_declared() -> None:
    """Leaves in the catalogues of all kinds what the package declares."""
    kinds = [Declared]
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        for name, cls in list(vars(kind).get("catalogue", {}).items()):
            if not cls.__module__.startswith("rankscope."):
                del kind.catalogue[name]


@pytest.fixture(autouse=True)
def catalogues() -> Iterator[None]:
    """Metrics, tests and rules as they are shipped: what a file or a test declares is in no other test's catalogue."""
    forget_declared()
    yield
    forget_declared()


REQUIRED_BY = {
    "RANKSCOPE_REQUIRE_PARITY": {
        "pytrec_eval", "sklearn", "ir_measures", "cwl", "ranx", "pyndeval", "lightgbm", "xgboost", "catboost",
        "torch", "torchmetrics", "statsmodels",
    },
    "RANKSCOPE_REQUIRE_FRAMES": {"pandas", "duckdb", "pyarrow"},
    "RANKSCOPE_REQUIRE_SPARK": {"pyspark", "pandas", "pyarrow", "grpc", "grpc_status", "zstandard", "google"},
    "RANKSCOPE_REQUIRE_BROWSER": {"altair", "jinja2", "vl_convert", "playwright"},
}  # fmt: skip


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Finds a file or folder of the real data: ``shared_data("trec_eval/qrels.test")``."""

    def find(path: str) -> Path:
        found = Path(__file__).resolve().parents[1].parent / "shared" / "data" / path
        if not found.exists():
            if os.environ.get("RANKSCOPE_REQUIRE_DATA") == "1":
                pytest.fail(f"RANKSCOPE_REQUIRE_DATA=1, but ../shared/data/{path} is not here")
            pytest.skip(f"the real data is not here (../shared/data/{path})")
        return found

    return find


def import_foreign(name: str) -> Any:
    """Imports another tool's module, whatever Python thinks of how it is written.

    It says so when it compiles the source, so once: where nothing compiled is kept, a warning that is an error would come each time.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        return importlib.import_module(name)


@pytest.fixture(scope="session")
def need() -> Callable[[str], ModuleType]:
    """Imports a package that some tests compare with: ``need("pytrec_eval")``."""

    def load(name: str) -> Any:
        package = name.partition(".")[0]
        required = [v for v, names in REQUIRED_BY.items() if package in names and os.environ.get(v) == "1"]
        try:
            return import_foreign(name)
        except ImportError as error:
            if required:
                pytest.fail(f"{required[0]}=1, but {package} cannot be imported: {error}")
            pytest.skip(f"{package} is not installed: {error}")

    return load
