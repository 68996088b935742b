"""What there is to test is the same in every process: the names of cases are words, and nothing is drawn without a seed.

Workers of pytest-xdist hash otherwise, and it stops if they collect other cases.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from tests.conftest import pytest_make_parametrize_id as case_name
from tests.made.files import some

ROOT = Path(__file__).resolve().parents[2]

# what no name of a case holds, and why
BARRED = {
    "bytes, control characters or letters beyond ASCII": re.compile(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[abfnrtv0])"),
    "an address in memory": re.compile(r" at 0x|\bobject at\b"),
    "a thing without a name": re.compile(r"<lambda>|<genexpr>|<listcomp>"),
    "an absolute path": re.compile(r"(?:^|[\s=:'\"(\[-])(?:/|~/|[A-Za-z]:\\)\w+"),
    "a day or a time": re.compile(r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}:\d{2}:\d{2}\b"),
    "data, not words": re.compile(r".{161}"),
}  # fmt: skip


@pytest.fixture(scope="module")
def names(request: pytest.FixtureRequest) -> list[str]:
    """The names of the cases that this process collected."""
    return [item.nodeid for item in request.session.items if item.nodeid.startswith("tests/")]


def faults(names: list[str]) -> list[str]:
    """Each name that holds more than words, with what it holds."""
    parts = ((name, name.partition("[")[2].removesuffix("]")) for name in names)
    return [f"{name}: {why}" for name, part in parts for why, pattern in BARRED.items() if pattern.search(part)]


def test_names_of_cases_are_words_and_distinct(names: list[str]) -> None:
    assert faults(names) == []
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(r"t[\x1f\x8b\x08]", id="bytes"),
        pytest.param(r"t[a\nb]", id="a new line"),
        pytest.param(r"t[\u2028]", id="a separator of lines"),
        pytest.param("t[<object object at 0x7f00>]", id="an address"),
        pytest.param("t[<lambda>-1]", id="a lambda"),
        pytest.param("t[a-/srv/x]", id="an absolute path"),
        pytest.param("t[2024-02-29]", id="a day"),
        pytest.param("t[10:02:03]", id="a time"),
        pytest.param(f"t[{'word ' * 40}]", id="a page"),
    ],
)
def test_a_name_that_is_no_word_is_seen(name: str) -> None:
    assert len(faults([name])) == 1
    assert not faults(["t[nDCG(gain='exponential')@10-ties=docid]", "tests/a.py::test[verbs/x.py]"])


@pytest.mark.parametrize(
    ("value", "name"),
    [
        pytest.param(b"\x1f\x8b", "value", id="bytes"),
        pytest.param("a\tb", "value", id="a tab"),
        pytest.param("α", "value", id="a Greek letter"),
        pytest.param("/srv/x", "value", id="a path"),
        pytest.param("word " * 20, "value", id="a page"),
        pytest.param(10**400, "value", id="a long number"),
        pytest.param(1 / 3, "0.3333", id="a long fraction"),
        pytest.param({"ties": "docid", "queries": {"q1", "q2"}, "test": object()}, "ties=docid queries test", id="settings"),
        pytest.param({}, "nothing", id="no settings"),
        pytest.param(lambda: 1, "value", id="a function without a name"),
        pytest.param("nDCG@10", "nDCG@10", id="a word"),
        pytest.param(0.05, None, id="a number"),
    ],
)  # fmt: skip
def test_data_are_called_what_their_parameter_is_called(value: object, name: str | None) -> None:
    assert case_name(value, "value") == name


def unseeded(source: str) -> list[int]:
    """The lines that draw from a generator that nobody seeded: the modules' own functions, and generators made of nothing."""
    found = []
    tree = ast.parse(source)
    modules = {
        (name.asname or name.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for name in node.names
        if name.name in {"random", "numpy.random"}
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        start, _, last = called.rpartition(".")
        makes = last in {"default_rng", "Random", "RandomState", "SeedSequence", "PCG64"}
        draws = start in {"np.random", "numpy.random"} or (start in modules and start != "")
        nothing = not node.args and not node.keywords
        if (
            (makes and nothing)
            or (draws and not makes and last != "Generator")
            or last in {"SystemRandom", "uuid4", "urandom"}
        ):
            found.append(node.lineno)
    return found


def test_nothing_is_drawn_without_a_seed() -> None:
    files = [
        path
        for room in ("tests", "src", "tools", "benchmarks", "fuzzing")
        for path in some((ROOT / room).rglob("*.py"))
    ]
    assert len(files) > 300
    assert [
        f"{path.relative_to(ROOT)}:{line}" for path in files for line in unseeded(path.read_text(encoding="utf-8"))
    ] == []


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import random\nrandom.shuffle(x)", id="the generator of a module"),
        pytest.param("import random\nrandom.Random().random()", id="a generator of nothing"),
        pytest.param("import numpy as np\nnp.random.default_rng()", id="NumPy's generator of nothing"),
        pytest.param("import numpy as np\nnp.random.normal(0, 1)", id="NumPy's own"),
        pytest.param("from uuid import uuid4\nuuid4()", id="a random name"),
    ],
)
def test_a_draw_without_a_seed_is_seen(source: str) -> None:
    assert unseeded(source) == [2]
    assert not unseeded(
        "import random\nimport numpy as np\nrandom.Random(1)\nnp.random.default_rng(seed)\nnp.random.Generator(g)"
    )


def unfilled(source: str) -> list[int]:
    """The lines that go over what a pattern of file names finds, and would pass where it finds nothing."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.For() | ast.comprehension():
                over: list[ast.expr] = [node.iter]
            case ast.Call(func=ast.Attribute(attr="parametrize")):
                over = node.args[1:]
            case _:
                continue
        for call in (call for of in over for call in ast.walk(of) if isinstance(call, ast.Call)):
            if isinstance(call.func, ast.Attribute) and call.func.attr in {"glob", "rglob"}:
                safe = [of for of in over for some in ast.walk(of) if isinstance(some, ast.Call)
                        and ast.unparse(some.func) == "some" and call in some.args]  # fmt: skip
                found += [] if safe else [call.lineno]
    return found


def test_no_loop_goes_over_a_pattern_that_finds_nothing() -> None:
    files = some((ROOT / "tests").rglob("*.py"))
    assert [
        f"{path.relative_to(ROOT)}:{line}" for path in files for line in unfilled(path.read_text(encoding="utf-8"))
    ] == []


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("for path in here.glob('*.gz'): check(path)", id="a loop"),
        pytest.param("for path in sorted(here.rglob('*.gz')): check(path)", id="a loop in order"),
        pytest.param("names = [path.name for path in here.glob('*')]", id="a list"),
        pytest.param("@pytest.mark.parametrize('path', sorted(here.glob('*')))\ndef test(path): ...", id="cases"),
    ],
)
def test_a_loop_over_a_pattern_is_seen(source: str) -> None:
    assert len(unfilled(source)) == 1
    assert not unfilled(
        source.replace("here.", "some(here.")
        .replace("glob('*.gz')", "glob('*.gz'))")
        .replace("glob('*')", "glob('*'))")
    )


def test_a_pattern_that_finds_nothing_is_told(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="finds no file"):
        some(tmp_path.glob("*.gz"))


def test_hypothesis_makes_the_same_worlds_each_time() -> None:
    from hypothesis import settings

    assert settings().derandomize
    assert settings().database is None
