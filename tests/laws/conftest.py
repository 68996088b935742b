"""Fixtures for tests that make metrics of their own."""

import pytest

from rankscope.metrics import Metric


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch) -> None:
    """A catalogue that forgets the metrics which a test declares."""
    monkeypatch.setattr(Metric, "catalogue", dict(Metric.catalogue))
