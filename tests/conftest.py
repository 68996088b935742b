"""What any test may ask for: real data beside the repository, and packages that are not needed to use rankscope.

Both are skipped with a reason where absent, and fail where the environment says that they must be here.
"""

from __future__ import annotations

import gc
import importlib
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from tests.made.samples import SLOW

from rankscope.declared import Declared

# the same worlds in every run, so that a change is judged by what it changes
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")
if hasattr(providers, "_get_local_constants"):
    # it would choose examples by the constants of all modules that are loaded, which differ from worker to worker
    providers._get_local_constants = lambda: providers._local_constants

# ranx compiles itself: what it compiled is kept, beside other caches of the tests
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).resolve().parents[1] / ".pytest_cache" / "numba"))


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


CLUSTER = "tests/scoring/spark/test_cluster.py"
LONG = (CLUSTER, "tests/house/test_conformance_page.py", "tests/worked/test_better_rankings.py")
WITH_RANX = {f"tests/parity/test_{name}.py" for name in ("ranx", "ir_measures", "dialects")}
# comparisons with other tools, a browser and Spark: slow wherever they are installed
FOREIGN = ("tests/parity/", "tests/browser/", "tests/scoring/spark/")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out slow tests, unless everything is tested or a case is named on the command line."""
    if SLOW or any("::" in argument for argument in config.args):
        return
    slow = [item for item in items if item.get_closest_marker("slow") or item.nodeid.startswith(FOREIGN)]
    if slow:
        left_out = set(slow)
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=slow)


def pytest_collection_finish() -> None:
    """Takes what was collected out of sight of the garbage collector: a look at it takes 0.4 s, and statsmodels asks for one in every call."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Files go to workers as ``--dist loadfile`` says, but those that share what is slow to start to one.

    A second Spark session costs a Java machine, and ranx compiles itself once per process.
    """
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

    class Together(LoadFileScheduling):  # type: ignore[misc]  # of a package without types
        def _split_scope(self, nodeid: str) -> str:
            file = str(super()._split_scope(nodeid))
            if file.startswith("tests/scoring/spark/") and file != CLUSTER:
                return "tests/scoring/spark"
            return "tests/parity with ranx" if file in WITH_RANX else file

        def _assign_work_unit(self, node: Any) -> None:
            long = next((file for file in LONG if file in self.workqueue), None)
            if long is not None:  # files with few tests come last, and one worker would wait for these
                self.workqueue.move_to_end(long, last=False)
            super()._assign_work_unit(node)

    return Together(config, log)


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
        "torch", "torchmetrics", "statsmodels", "optuna", "sentence_transformers", "bm25s", "obp", "clax",
    },
    "RANKSCOPE_REQUIRE_FRAMES": {"pandas", "duckdb", "pyarrow"},
    "RANKSCOPE_REQUIRE_SPARK": {"pyspark", "pandas", "pyarrow", "grpc", "grpc_status", "zstandard", "google"},
    "RANKSCOPE_REQUIRE_POSTGRES": {"psycopg"},
    "RANKSCOPE_REQUIRE_BROWSER": {"altair", "jinja2", "vl_convert", "playwright"},
}  # fmt: skip

PEERS = REQUIRED_BY["RANKSCOPE_REQUIRE_PARITY"]


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
        if package in PEERS and not SLOW:
            pytest.skip(f"RANKSCOPE_ALL=1 compares with {package}")
        try:
            return import_foreign(name)
        except ImportError as error:
            if required:
                pytest.fail(f"{required[0]}=1, but {package} cannot be imported: {error}")
            pytest.skip(f"{package} is not installed: {error}")

    return load
