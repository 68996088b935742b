"""A pytest fixture: the gate inside a test suite. pytest finds it if rankscope is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rankscope.verbs.gate.result import Gate, LogGate


@pytest.fixture(scope="session")
def rankscope_gate(pytestconfig: pytest.Config) -> Callable[..., Gate | LogGate]:
    """Return the function ``rankscope.gate`` with the project's settings as defaults.

    ``rankscope_gate(qrels, baseline, candidate, metrics=None, **options)`` gives the verdict, as the command line does::

        def test_ranking(rankscope_gate):
            verdict = rankscope_gate("qrels.txt", "main.run", "branch.run", "nDCG@10", tolerance=0.01)
            assert verdict.passed, verdict

    A verdict is true if it passes, so ``assert rankscope_gate(...)`` fails otherwise. Settings are those of ``[tool.rankscope]`` in
    the pyproject.toml of the root of the tests, or of ``settings="FILE"``. The log of an experiment may replace judgments
    and runs: of the settings alpha and fail_on hold for it.
    """

    def run_gate(
        qrels: Any, baseline: Any = None, candidate: Any = None, metrics: Any = None, **options: Any
    ) -> Gate | LogGate:
        from rankscope.scoring.settings import settings_of
        from rankscope.verbs.gate.gate import gate
        from rankscope.verbs.gate.log import log_to_gate

        log = log_to_gate(
            qrels, baseline, candidate, options.get("variant"), options.get("columns"), target=options.get("target")
        )
        settings = settings_of(options.pop("settings", None), pytestconfig.rootpath, "gate")
        if log is not None:
            return gate(log, baseline, candidate, metrics, **settings.of_log | options)
        chosen = settings.metrics if metrics is None else metrics
        return gate(qrels, baseline, candidate, chosen, **settings.options | options)

    return run_gate
