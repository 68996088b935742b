"""The plan of the house, enforced: imports only fall, nothing imports in a circle, and what is public is explained.

Imports inside functions and under TYPE_CHECKING count like any other. The laws are functions of a package in ``imports.py``; each is
tried on our package here, and on small packages that break it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.house import imports
from tests.house.imports import Package
from tests.made.files import some

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src" / "rankscope"

# a module may import from its own room and from rooms on lower floors; each verb is a room of its own
FLOORS = {
    "words": 0,
    "errors": 1, "moments": 1, "sources": 1, "blocks": 1, "_version": 1,
    "declared": 2, "diagnostics": 2, "lists": 2, "tables": 2, "impressions": 2, "parallel": 2, "store": 2,
    "behaviour": 3,
    "metrics": 4, "inference": 4, "dialects": 4, "engines": 4, "files": 4, "show": 4,
    "logs": 4,
    "panels": 5, "click_models": 6, "estimators": 5, "interleavings": 5, "rankers": 5,
    "scoring": 6, "experiments": 6, "worlds": 6, "ledger": 6,
    "sharding": 7, "analysis": 7,
    "verbs": 8,
    "reporting": 9, "testing": 9,
    "cli": 10, "integrations": 10, "pytest_plugin": 10, "__init__": 10,
    "__main__": 11,
}  # fmt: skip

# third parties, and the rooms (or modules) that may import them; what is not here may be imported nowhere
ALLOWED = {
    "numpy": {"anywhere"},
    # a run and judgments are frames: who reads, makes or joins their rows, and where a result becomes a frame
    "polars": {
        "tables",
        "impressions",
        "files",
        "logs",
        "interleavings",  # a credit is made of expressions, as an online metric is
        "experiments/interleaved",
        "experiments/traffic",
        "verbs/interleave",
        "worlds",
        "engines",
        "show",
        "scoring",
        "sharding",
        "analysis",
        "verbs/check/rules",
        "verbs/unjudged",
        "reporting/explorer",
    },
    "pandas": {"tables"},  # where a result becomes a frame of it, without pyarrow
    "backports": {"files/raw"},
    "compression": {"files/raw"},  # of the standard library since 3.14
    "optuna": {"rankers"},
    "lightgbm": {"rankers"},
    "xgboost": {"rankers"},
    "sentence_transformers": {"rankers"},
    "scipy": {"inference", "estimators", "click_models", "interleavings", "behaviour/optimised"},
    "sklearn": {"estimators"},
    "pyspark": {"engines/spark"},
    "pyarrow": {"engines/spark", "engines/packing"},
    "sqlalchemy": {"ledger"},
    "click": {"cli"},
    "rich": {"cli", "show"},
    "jinja2": {"show"},
    "platformdirs": {"show"},
    "altair": {"show"},
    "vl_convert": {"show"},
    "markupsafe": {"show"},
    "pytest": {"pytest_plugin"},
}

# the only modules that import by a name held in a variable
REGISTRIES = {
    "rankscope",  # the face loads verbs, readers and metrics when they are first used
    "rankscope.cli.commands",  # a verb is loaded when its command is typed
    "rankscope.cli.table",  # which names the verbs
}
# imports the packages of an extra; who calls it names them by literals
LOADER = "rankscope.show.extra.import_extra"
# metrics and rules are called as users spell them: a metric may be called Judged, and so may what it looks at
SPELLED = ("rankscope.metrics", "rankscope.logs.metrics", "rankscope.diagnostics")


@pytest.fixture(scope="module")
def house() -> Package:
    """Our package."""
    return Package(SRC, frozenset({LOADER}))


def test_every_room_has_a_floor(house: Package) -> None:
    assert imports.without_a_floor(house, FLOORS) == []


def test_imports_only_fall(house: Package) -> None:
    assert imports.not_falling(house, FLOORS) == []


def test_no_circles(house: Package) -> None:
    assert imports.circles(house) == []


def test_only_registries_import_by_a_name_in_a_variable(house: Package) -> None:
    assert imports.by_variable(house, REGISTRIES | {LOADER.rpartition(".")[0]}) == []


def test_third_parties_stay_in_their_rooms(house: Package) -> None:
    assert imports.misplaced(house, ALLOWED) == []


def test_functions_are_short(house: Package) -> None:
    assert imports.long_functions(house) == []


def test_a_class_name_has_one_home(house: Package) -> None:
    assert imports.several_homes(house, SPELLED) == []


def test_what_is_public_is_explained(house: Package) -> None:
    assert imports.unexplained(house) == []


def test_parameters_have_types(house: Package) -> None:
    assert imports.untyped(house) == []


@pytest.mark.parametrize("path", some((SRC / "show/html").glob("[st]*/*.*")), ids=lambda path: path.name)
def test_parts_of_the_page_stay_small(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= 300, f"{path.name} has {lines} lines"


def test_the_map_names_the_rooms_that_exist() -> None:
    """A row of the map is a floor, the rooms on it and what they hold: ``| 5 | `scoring/` | ... |``."""
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \|", (ROOT / "AGENTS.md").read_text(encoding="utf-8"), re.MULTILINE)
    told = {place.strip("/"): int(floor) for floor, cell in rows for place in re.findall(r"`([\w/.]+)`", cell)}
    rooms = {place.split("/")[0].removesuffix(".py"): floor for place, floor in told.items()}
    there = {imports.room_of(module).partition("/")[0] for module in Package(SRC).trees} - {"__main__"}
    assert {room: FLOORS.get(room) for room in rooms} == rooms
    assert set(rooms) - there == set(), "rooms that there are not"
    assert there - set(rooms) == set(), "rooms that the map does not name"


def test_the_map_is_read_at_one_go() -> None:
    assert (ROOT / "AGENTS.md").read_text(encoding="utf-8").count("\n") <= 80


@pytest.mark.parametrize("page", ["AGENTS.md", "CONTRIBUTING.md", "docs/design.md"])
def test_pages_about_the_house_name_places_that_exist(page: str) -> None:
    places = re.findall(r"`([a-z_]+/[\w./]+)`", (ROOT / page).read_text(encoding="utf-8"))
    assert places
    assert [place for place in places if not any((folder / place).exists() for folder in (ROOT, SRC.parent, SRC))] == []


# --- each law sees its breach ------------------------------------------------------------------------------------

LIKE_OURS = {
    "__init__": 'from importlib import import_module\n\ndef __getattr__(name):\n    return import_module(f"house.{name}")',
    "_version": '__version__ = "1"',
    "errors": '"""Errors."""',
    "lists/__init__": "from house.lists.rectangle import Lists",
    "metrics/pooled": 'class Lists:\n    """A metric."""\n',
    "lists/rectangle": 'import numpy as np\nfrom ..errors import X\nclass Lists:\n    """Lists."""\n',
    "show/extra": "from importlib import import_module as load\n\ndef needed(module):\n    return load(module)",
    "show/charts": 'from house.show.extra import needed\nfrom .. import lists\nalt = needed("altair")',
    "panels/panel": 'from house.lists import Lists\nimport house.errors\ndef panel(of: Lists) -> None:\n    """Doc."""',
    "verbs/compare/__init__": "",
    "verbs/compare/compare": "from house._version import __version__\nfrom house.panels import panel",
    "verbs/compare/result": "from __future__ import annotations\nimport json, os.path",
    "verbs/ties": "def f():\n    from house.panels.panel import panel",
    "cli/app": "import click\nfrom house.verbs.ties import f",
}

Law = Callable[[Package], list[str]]
LAWS: dict[str, Law] = {
    "floor": lambda package: imports.without_a_floor(package, FLOORS),
    "fall": lambda package: imports.not_falling(package, FLOORS),
    "circle": imports.circles,
    "variable": lambda package: imports.by_variable(package, {"house", "house.cli.app", "house.show.extra"}),
    "third parties": lambda package: imports.misplaced(package, ALLOWED),
    "length": imports.long_functions,
    "homes": lambda package: imports.several_homes(package, ("house.metrics",)),
    "docstring": imports.unexplained,
    "types": imports.untyped,
}


def built(folder: Path, **files: str) -> Package:
    """A small house with some modules written anew; ``__`` in a name is a slash."""
    for name, text in {**LIKE_OURS, **{key.replace("__", "/"): text for key, text in files.items()}}.items():
        path = folder / "house" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Package(folder / "house", frozenset({"house.show.extra.needed"}))


@pytest.mark.parametrize("law", [law for law in LAWS if law not in {"docstring", "types"}])
def test_a_house_like_ours_keeps_the_laws(law: str, tmp_path: Path) -> None:
    assert LAWS[law](built(tmp_path)) == []


BREACHES = [
    ("a room without a floor", "floor", {"attic": ""}, "attic"),
    ("an import upward", "fall", {"panels__panel": "import house.scoring.request", "scoring__request": ""}, "scoring on floor 6"),
    ("an import inside a function", "fall", {"errors": "def f():\n    from house.lists import Lists"}, "lists on floor 2"),
    ("an import for types", "fall", {"errors": "if TYPE_CHECKING:\n    from .lists import Lists"}, "house.errors:2"),
    ("a room of the same floor", "fall", {"files__a": "from house.show import extra"}, "show on floor 4"),
    ("a verb of a verb", "fall", {"verbs__ties": "from house.verbs.compare.compare import x"}, "verbs/compare on floor 8"),
    ("a verb through the folder of verbs", "fall", {"verbs__ties": "from ..verbs import compare"}, "verbs/compare on floor 8"),
    ("the face from below", "fall", {"verbs__ties": "from house import __version__"}, "__init__ on floor 10"),
    ("an import upward by a literal name", "fall", {"errors": 'import importlib\nimportlib.import_module("house.lists")'}, "lists"),
    ("a circle of two", "circle", {"panels__a": "from . import b", "panels__b": "from .a import x"}, "house.panels.a <-> house.panels.b"),
    ("a circle for types", "circle", {"panels__a": "from . import b", "panels__b": "if TYPE_CHECKING:\n    from .a import x"}, "<->"),
    ("a circle of three in a function", "circle", {"panels__a": "import house.panels.b", "panels__b": "import house.panels.c", "panels__c": "def f():\n    import house.panels.a"}, "a <-> house.panels.b <-> house.panels.c"),
    ("a circle through a room's own face", "circle", {"lists__rectangle": "from house.lists import sums", "lists__sums": "from house.lists import Lists"}, "house.lists <-> house.lists.rectangle"),
    ("a module that imports itself", "circle", {"errors": "from house.errors import X"}, "house.errors"),
    ("a name in a variable", "variable", {"errors": "from importlib import import_module\nimport_module(name)"}, "house.errors:2"),
    ("a name put together", "variable", {"errors": 'import importlib as il\nil.import_module(f"house.{x}")'}, "house.errors:2"),
    ("another name for the importer", "variable", {"errors": "from importlib import import_module as load\nload(name)"}, "house.errors:2"),
    ("an importer handed on", "variable", {"errors": "from importlib import import_module\nmap(import_module, names)"}, "house.errors:2"),
    ("the builtin importer", "variable", {"errors": "__import__(name)"}, "house.errors:1"),
    ("a loader with a variable", "variable", {"show__charts": "from house.show import extra\nextra.needed(name)"}, "house.show.charts:2"),
    ("a module named in a string", "variable", {"panels__panel": 'shown_by = "house.verbs.ties"'}, "names the module house.verbs.ties"),
    ("a third party out of its room", "third parties", {"verbs__ties": "def f():\n    import polars as pl"}, "polars"),
    ("a third party by a loader", "third parties", {"cli__a": 'from house.show.extra import needed\nneeded("jinja2")'}, "jinja2"),
    ("a third party of one module", "third parties", {"engines__local": "import pyspark.sql"}, "pyspark"),
    ("an unknown third party", "third parties", {"files__a": "from pandas import DataFrame"}, "pandas"),
    ("a long function", "length", {"errors": "def f():\n" + "    x = 1\n" * 60}, "house.errors.f has 61 lines"),
    ("a long function in a class", "length", {"errors": "class A:\n    async def g(self):\n" + "        x = 1\n" * 60}, "g has 61 lines"),
    ("a class of two modules", "homes", {"errors": "class Lists: ..."}, "Lists is a class in house.errors, house.lists.rectangle"),
    ("a function without a docstring", "docstring", {"panels__panel": "def panel(): ..."}, "house.panels.panel.panel has"),
    ("a method without a docstring", "docstring", {"panels__panel": 'class A:\n    """A."""\n    def b(self): ...'}, "A.b has"),
    ("a parameter without a type", "types", {"panels__panel": "def panel(a: int, *, b): ..."}, "house.panels.panel.panel: b has"),
    ("a parameter of a method without a type", "types", {"panels__panel": "class A:\n    def b(self, c): ..."}, "A.b: c has"),
]  # fmt: skip


@pytest.mark.parametrize(("law", "files", "told"), [pytest.param(*rest, id=name) for name, *rest in BREACHES])
def test_a_law_sees_its_breach(law: str, files: dict[str, str], told: str, tmp_path: Path) -> None:
    breaches = LAWS[law](built(tmp_path, **files))
    assert any(told in breach for breach in breaches), breaches


def test_every_law_is_tried() -> None:
    assert {law for _, law, *_ in BREACHES} == set(LAWS)


def test_a_method_may_have_the_docstring_of_a_class_above(tmp_path: Path) -> None:
    text = (
        'class A:\n    """A."""\n    def b(self):\n        """B."""\nclass C(A):\n    """C."""\n    def b(self): ...\n'
    )
    assert not [line for line in imports.unexplained(built(tmp_path, panels__panel=text)) if "panel" in line]
