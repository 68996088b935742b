"""What a notebook shows of an error: the lines of who called, not those within rankscope."""

import inspect
import pickle
import traceback
from typing import Any

import pytest

import rankscope as rs


def score_it(run: Any) -> Any:
    return rs.evaluate({"q1": {"a": 1}}, run, "RR")


@pytest.mark.parametrize(
    ("run", "told"),
    [
        pytest.param("nowhere.run", "InputError: nowhere.run: no such file", id="what cannot be read"),
        pytest.param({"q2": {"a": 1.0}}, "DataError: no query of run is judged", id="what has no answer"),
    ],
)
def test_a_notebook_shows_the_lines_of_who_called(run: Any, told: str) -> None:
    with pytest.raises(rs.RankscopeError) as raised:
        score_it(run)
    shown = raised.value._render_traceback_()
    assert shown[-1].startswith(told)
    own = "\n".join(shown[:-1])
    assert "score_it(run)" in own
    assert 'return rs.evaluate({"q1": {"a": 1}}, run, "RR")' in own
    assert own.count("File ") == 2
    assert all("rankscope/" not in line.replace("\\", "/").rpartition("tests")[2] for line in shown[:-1])
    assert raised.value.__suppress_context__ or raised.value.__context__ is None


def test_a_traceback_ends_where_rankscope_was_called() -> None:
    with pytest.raises(rs.InputError, match="did you mean nDCG") as raised:
        rs.evaluate({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, "nDGC@10")
    frames = traceback.extract_tb(raised.value.__traceback__)
    assert [frame.name for frame in frames] == ["test_a_traceback_ends_where_rankscope_was_called", "call"]


def test_a_verb_travels_to_another_process_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(rs.evaluate)) is rs.evaluate
    assert "qrels" in inspect.signature(rs.evaluate).parameters
