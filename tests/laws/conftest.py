"""Fixtures for tests that make metrics of their own."""

import pytest

from rankscope.metrics import Metric


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalogue as we ship it, which forgets the metrics that a test declares."""
    ours = {name: cls for name, cls in Metric.catalogue.items() if cls.__module__.startswith("rankscope.")}
    monkeypatch.setattr(Metric, "catalogue", ours)
