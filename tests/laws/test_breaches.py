"""Metrics that are wrong in one way each are caught, by the law that they break, with a small counterexample."""

import re
from typing import Any

import numpy as np
import pytest

from rankscope.errors import InputError
from rankscope.lists import Array, Lists, running
from rankscope.metrics import Example, Metric, Terms
from rankscope.metrics.base import Cutoff, JudgedOnly, Level
from rankscope.testing import Case, check_cases, check_example, check_metric, worked_out


def caught(metric: Any, law: str) -> str:
    with pytest.raises(AssertionError, match=law) as error:
        check_metric(metric)
    return str(error.value)


def test_a_sound_metric_passes() -> None:
    class Sound(Metric):
        cutoff: Cutoff = None
        level: Level = 1.0

        def terms(self, lists: Lists) -> Terms:
            return Terms(lists, {"relevant": lists.relevant(self.level), "1/rank²": 1.0 / lists.rank**2.0}, 2.0)

    check_metric(Sound)
    check_metric(Sound @ 5)
    check_metric("Sound(level=2)@3", examples=50, seed=1)


def test_value_that_is_not_the_sum_of_its_parts() -> None:
    class Doubled(Metric):
        def terms(self, lists: Lists) -> Terms:
            return Terms(lists, {"relevant": lists.relevant(1), "1/rank": 1.0 / lists.rank}, 4.0)

        def score(self, lists: Lists) -> Array:
            return 2 * super().score(lists)

    message = caught(Doubled, "sum to the value")
    assert "grades in ranked order [1], judged but not retrieved []" in message  # nothing smaller breaks it
    assert f"gives {2 / 4}, while the parts sum to {1 / 4}" in message


def test_spelling_that_reads_back_as_another() -> None:
    class Shouted(Metric):
        level: Level = 1.0

        def terms(self, lists: Lists) -> Terms:
            return Terms(lists, {})

        def __str__(self) -> str:
            return "Shouted"

    caught(Shouted(level=2), "spelling")


def test_value_outside_the_range() -> None:
    class Count(Metric):
        def terms(self, lists: Lists) -> Terms:
            return Terms(lists, {"relevant": lists.relevant(1)})

    assert "outside 0 to 1" in caught(Count, "range")


def test_value_that_depends_on_its_neighbours() -> None:
    class Curved(Metric):
        positions = False

        def terms(self, lists: Lists) -> Terms:
            return Terms(lists, {"relevant": lists.relevant(1)}, float(lists.known(1).max()))

    caught(Curved, "by itself and in a batch")


def test_value_that_depends_on_padding() -> None:
    class Padded(Metric):
        positions = False

        def terms(self, lists: Lists) -> Terms:
            return Terms(lists, {"relevant": lists.relevant(1)}, float(lists.grade.shape[1]))

    caught(Padded, "by itself and in a batch")


def test_metric_that_looks_below_the_cutoff() -> None:
    class Peeking(Metric):
        cutoff: Cutoff = None

        def terms(self, lists: Lists) -> Terms:
            return Terms(lists, {"relevant": lists.relevant(1)}, lists.whole.relevant(1).sum(axis=1))

    caught(Peeking @ 2, "below the cutoff count as not retrieved")


def test_metric_that_minds_the_order_below_the_cutoff() -> None:
    class Whole(Metric):
        cutoff: Cutoff = None

        def taken_apart(self, lists: Lists) -> Terms:
            return Terms(lists, {"relevant": lists.relevant(1), "weight": 0.5**lists.rank})

    caught(Whole @ 2, "order of documents below")


def test_judged_only_that_keeps_the_gaps() -> None:
    class Gapped(Metric):
        judged_only: JudgedOnly = False

        def terms(self, lists: Lists) -> Terms:
            return Terms(lists, {"relevant": lists.relevant(1), "1/rank": 1.0 / lists.whole.rank}, 4.0)

        def taken_apart(self, lists: Lists) -> Terms:
            return self.terms(lists)

    caught(Gapped(judged_only=True), "unjudged documents have no effect")


def test_worse_document_that_is_better_above() -> None:
    class Late(Metric):
        bounds = (0.0, float("inf"))

        def terms(self, lists: Lists) -> Terms:
            return Terms(lists, {"relevant": lists.relevant(1), "rank": lists.rank})

    assert "[0, 1]" in caught(Late, "never hurts")

    class Declared(Late):
        monotone = False

    check_metric(Declared)

    class Lower(Late):
        better = "lower"

    check_metric(Lower)


def test_empty_that_is_not_so() -> None:
    class Filled(Metric):
        def terms(self, lists: Lists) -> Terms:
            return Terms(lists, {}, base=np.ones(len(lists)))

    caught(Filled, "empty")

    class Undefined(Filled):
        empty = None

    caught(Undefined, "empty")

    class Said(Filled):
        empty = 1.0

    check_metric(Said)


def test_fact_of_the_judgments_that_minds_the_ranking() -> None:
    class Found(Metric):
        empty = "judgments"
        bounds = (0.0, float("inf"))

        def terms(self, lists: Lists) -> Terms:
            return Terms(lists, {"relevant": lists.relevant(1)})

    caught(Found, "empty")


@pytest.mark.parametrize(
    ("claim", "law"),
    [({"positions": False}, "positions=False"), ({"relevance": "binary"}, "relevance='binary'"),
     ({"relevance": "none"}, "relevance='none'"), ({"counts": "one"}, "counts='one'")],
)  # fmt: skip
def test_traits_claimed_in_vain(claim: dict[str, Any], law: str) -> None:
    class Graded(Metric):
        relevance = "graded"
        bounds = (0.0, 20.0)

        def terms(self, lists: Lists) -> Terms:
            return Terms(lists, {"grade": np.where(lists.judged, lists.grade, 0.0), "weight": 0.5**lists.rank})

    check_metric(Graded)
    caught(type("Claimed", (Graded,), claim), law)


def test_division_by_zero_on_the_way() -> None:
    class Careless(Metric):
        def terms(self, lists: Lists) -> Terms:
            return Terms(lists, {"relevant": lists.relevant(1), "share": 1.0 / lists.known(1)[:, None]})

    assert "divide by zero" in caught(Careless, "raises FloatingPointError")


def test_error_on_the_way() -> None:
    class Fragile(Metric):
        def terms(self, lists: Lists) -> Terms:
            return Terms(lists, {"relevant": lists.relevant(1), "weight": 1.0 / np.arange(1, 31)[lists.rank]})

    assert "IndexError" in caught(Fragile, "raises IndexError")


def test_value_that_is_no_number_and_not_declared_undefined() -> None:
    class Vague(Metric):
        def terms(self, lists: Lists) -> Terms:
            value = np.where(lists.retrieved > 0, running(lists.relevant(1))[:, -1] > 0, np.nan)
            return Terms(lists, {}, base=value)

    caught(Vague, "sum to the value")


def test_wrong_example() -> None:
    class Counted(Metric):
        bounds = (0.0, float("inf"))
        positions = False
        examples = (Example("Counted", (1, 0, 1), "1 + 1 + 1"),)

        def terms(self, lists: Lists) -> Terms:
            return Terms(lists, {"relevant": lists.relevant(1)})

    caught(Counted, re.escape("[1, 0, 1] gives 2.0, and 1 + 1 + 1 is 3"))


def test_metric_that_refuses_nearly_everything() -> None:
    class Picky(Metric):
        def terms(self, lists: Lists) -> Terms:
            raise InputError("no")

    caught(Picky, "refuses too many to check it: 200 of 200")


def test_metric_may_refuse_some_data() -> None:
    class Whole(Metric):
        positions = False

        def terms(self, lists: Lists) -> Terms:
            if (lists.ideal.grade % 1).any():
                raise InputError("grades are whole numbers")
            return Terms(lists, {"relevant": lists.relevant(1)}, lists.retrieved)

    check_metric(Whole)


def test_cases_of_your_own() -> None:
    check_cases(Metric.catalogue["AP"](), [Case((1, None, 0), (2,), (False, True, False))])


def test_a_case_reads_as_plain_lists() -> None:
    case = Case((1, None, 0.5), (2,), (False, True, False))
    assert str(case) == "grades in ranked order [1, None, 0.5], judged but not retrieved [2], scores [2, 2, 1]"


def test_examples_are_arithmetic_and_nothing_else() -> None:
    assert worked_out("-(1 - 3) ** 2 / max(1, 2)") == -(2**2) / 2
    with pytest.raises(ValueError, match="not plain arithmetic"):
        worked_out("__import__('os')")
    with pytest.raises(AssertionError, match="worked example is wrong"):
        check_example(Example("P@2", (1, 0), "1"))
