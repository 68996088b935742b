"""The fixture ``rankscope_gate``, in test runs of its own: in processes, as one in this process would load numpy again."""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path

import pytest

pytest_plugins = ("pytester",)

# the fixture by import, so that it is found once whether or not the package was installed with its entry point
CONFTEST = "from rankscope.pytest_plugin import rankscope_gate\n"
DATA = """
    QRELS = {f"q{i}": {"a": 1} for i in range(20)}
    GOOD = {query: {"a": 2.0, "b": 1.0} for query in QRELS}
    POOR = GOOD | {f"q{i}": {"b": 2.0, "a": 1.0} for i in range(9)}
"""


def test_the_verdict_inside_a_test(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(
        DATA
        + """
    def test_same(rankscope_gate):
        verdict = rankscope_gate(QRELS, GOOD, GOOD, "RR")
        assert verdict.passed, verdict

    def test_poor(rankscope_gate):
        verdict = rankscope_gate(QRELS, GOOD, POOR, "RR", tolerance=0.02)
        assert (verdict.status, verdict.exit_code) == ("fail", 1)
        assert verdict.passed, verdict
    """
    )
    found = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    found.assert_outcomes(passed=1, failed=1)
    found.stdout.fnmatch_lines(["*AssertionError: FAIL: RR changed by −0.2250 (95% interval *"])


def test_the_settings_of_the_project_hold(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makepyprojecttoml('[tool.rankscope]\nmetrics = ["RR"]\n[tool.rankscope.gate]\ntolerance = 0.5\n')
    pytester.makepyfile(
        "\n    import pytest\n    from rankscope.errors import InputError\n"
        + DATA
        + """
    def test_poor(rankscope_gate):
        verdict = rankscope_gate(QRELS, GOOD, POOR)
        assert [(c.metric, c.tolerance) for c in verdict.checks] == [("RR", 0.5)]
        assert verdict.passed
        assert rankscope_gate(QRELS, GOOD, POOR)
        assert not rankscope_gate(QRELS, GOOD, POOR, tolerance=0.1)

    def test_a_slip(rankscope_gate):
        with pytest.raises(InputError, match="gate has no option 'tolerence', did you mean tolerance"):
            rankscope_gate(QRELS, GOOD, POOR, tolerence=0.1)
    """
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=2)


def test_the_package_names_its_plugin() -> None:
    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    named = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["entry-points"]["pytest11"]
    assert named == {"rankscope": "rankscope.pytest_plugin"}
    assert hasattr(import_module(named["rankscope"]), "rankscope_gate")
