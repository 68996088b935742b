"""Everything public is explained, and the page of metrics says what the catalogue says."""

import inspect
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module, util
from operator import attrgetter
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

import rankscope
from rankscope.declared import parameters
from rankscope.metrics import CATALOGUE, Metric

ROOT = Path(__file__).resolve().parents[2]
CLASSES = [cls for cls in dict.fromkeys(CATALOGUE.values()) if cls.__module__.startswith("rankscope.")]
every_class = pytest.mark.parametrize("cls", CLASSES, ids=[cls.__name__ for cls in CLASSES])


def modules() -> Iterator[ModuleType]:
    """Every module that can be imported with what is installed here."""
    yield rankscope
    for found in pkgutil.walk_packages(rankscope.__path__, "rankscope."):
        if found.name.rpartition(".")[2].startswith("_"):
            continue
        try:
            yield import_module(found.name)
        except ModuleNotFoundError as error:
            # a room for an optional package, such as pyspark
            if str(error.name).startswith("rankscope"):
                raise


def public() -> Iterator[tuple[str, Any]]:
    """Every public function, class, method and property, with its dotted name."""
    for module in modules():
        for name, thing in vars(module).items():
            if name.startswith("_") or getattr(thing, "__module__", None) != module.__name__:
                continue
            if isinstance(thing, type):
                yield f"{module.__name__}.{name}", thing
                for inner, member in vars(thing).items():
                    if not inner.startswith("_") and isinstance(
                        member, FunctionType | property | classmethod | staticmethod
                    ):
                        yield f"{module.__name__}.{name}.{inner}", getattr(thing, inner)
            elif (
                isinstance(thing, FunctionType) and "<locals>" not in thing.__qualname__
            ):  # made by one that is explained
                yield f"{module.__name__}.{name}", thing


def test_dir_names_what_is_public_and_nothing_else() -> None:
    names = dir(rankscope)
    assert {"evaluate", "Scores", "nDCG", "parse", "__version__"} <= set(names)
    assert not {"TYPE_CHECKING", "annotations", "import_module", "Any", "metrics", "verbs"} & set(names)
    assert all(hasattr(rankscope, name) for name in names)


def test_everything_public_has_a_docstring() -> None:
    bare = []
    for name, thing in public():
        said = inspect.getdoc(thing) or ""
        made = isinstance(thing, type) and said.startswith(f"{thing.__name__}(")  # a dataclass writes itself one
        if not said or made:
            bare.append(name)
    assert not bare


def test_every_public_parameter_is_typed() -> None:
    bare = []
    for name, thing in public():
        function: Any = thing.fget if isinstance(thing, property) else thing
        if isinstance(function, type | attrgetter):  # a property may be an attribute of an attribute
            continue
        signature = inspect.signature(function)
        bare += [
            f"{name}({p.name})"
            for p in signature.parameters.values()
            if p.name not in {"self", "cls"} and p.annotation is p.empty
        ]
        if signature.return_annotation is signature.empty:
            bare.append(f"{name} ->")
    assert not bare


@every_class
def test_a_metric_says_what_it_is(cls: type[Metric]) -> None:
    first = (cls.__dict__.get("__doc__") or "").partition("\n")[0]
    assert re.fullmatch(r"[A-Z0-9].{20,120}\.", first), "the docstring begins with one sentence"
    for name in ("formula", "source", "best_for", "convention"):
        assert getattr(cls, name), f"{cls.__name__} declares no {name}"
    assert "formula" in cls.__dict__, f"{cls.__name__} has the formula of another"
    assert cls.__dict__.get("examples"), f"{cls.__name__} has no worked example of its own"


@every_class
def test_every_parameter_is_explained(cls: type[Metric]) -> None:
    for name, (_, param) in parameters(cls).items():
        assert param.about, f"{cls.__name__}: {name} has no Param(...) that says what it means"


def test_aliases_are_nobody_elses() -> None:
    folded: dict[str, str] = {}
    for name, cls in CATALOGUE.items():
        assert folded.setdefault(name.casefold(), cls.__name__) == cls.__name__, f"{name} reads as two metrics"


def test_the_page_of_metrics_is_fresh() -> None:
    spec = util.spec_from_file_location("write_metrics_page", ROOT / "tools" / "write_metrics_page.py")
    assert spec is not None
    assert spec.loader is not None
    tool = util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page(), "docs/metrics.md is out of date: make docs"
