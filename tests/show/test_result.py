"""What a result has without declaring it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from rankscope.show.result import Col, Result, View


def test_a_result_lacks_what_it_does_not_declare_and_its_fields_have_no_default() -> None:
    @dataclass(frozen=True, eq=False, repr=False)
    class Bare(Result):
        notes: list[str]
        count: int

        schema = "bare/1"
        views = (View("results", (Col("count"),), lambda result: [result]),)

    made = Bare(["read"], 2)
    assert (made.notes, made.warnings, made.conventions) == (["read"], (), {})
    assert made.json_document()["warnings"] == []
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'notes'"):
        Bare(count=2)  # type: ignore[call-arg]
