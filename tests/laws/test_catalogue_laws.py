"""Every metric of the catalogue keeps every law, in all the ways it can be spelled."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.made.samples import amount, sampled

from rankscope.declared import parameters
from rankscope.metrics import CATALOGUE, Metric
from rankscope.testing import Case, check_cases, check_metric, variants
from rankscope.testing.cases import judged, made_up, top_grade
from rankscope.testing.laws import blind_to_degree, blind_to_grades, blind_to_order
from rankscope.testing.variants import _make, _values

CLASSES = [cls for cls in dict.fromkeys(CATALOGUE.values()) if cls.__module__.startswith("rankscope.")]
every_class = pytest.mark.parametrize("cls", CLASSES, ids=[cls.__name__ for cls in CLASSES])

OF_ITEMS = [cls for cls in CLASSES if isinstance(cls.needs, frozenset) and "items" in cls.needs]
OF_ALL_LISTS = [cls for cls in OF_ITEMS if cls.aggregate == "pooled"]
GRADES = st.sampled_from([0, 1, 2, 3, 4, 0.5, 1.5, 2.25, -1, -2])


@st.composite
def cases(draw: st.DrawFn) -> Case:
    ranking = draw(st.lists(st.none() | GRADES, max_size=8))
    tied = draw(st.just([]) | st.lists(st.booleans(), min_size=len(ranking), max_size=len(ranking)))
    missing = draw(st.lists(GRADES, max_size=4))
    return Case(tuple(ranking), tuple(missing), tuple(t and i > 0 for i, t in enumerate(tied)))


@every_class
def test_every_variant_of_every_metric(cls: type[Metric]) -> None:
    if cls in OF_ALL_LISTS:  # no list alone has a value, so few cases say all
        check_cases(variants(cls)[0], made_up(25, 11, 4.0))
        return
    check_metric(cls, examples=amount(30, 60))


def every_pair(cls: type[Metric]) -> list[Metric]:
    """The metrics in which up to two parameters at once differ from a worked example."""
    choices = {name: list(_values(hint, param)) for name, (hint, param) in parameters(cls).items()}
    bases = variants(cls)
    out = list(bases)
    for base in bases:
        for name, values in choices.items():
            out += [changed for value in values for changed in _make(base, {name: value})]
    return list(dict.fromkeys(out))


@pytest.mark.parametrize("cls", sampled(CLASSES, 20), ids=lambda cls: cls.__name__)
def test_every_pair_of_parameters(cls: type[Metric]) -> None:
    for metric in sampled(every_pair(cls), 25):
        check_cases(metric, made_up(25, 11, top_grade(metric)))


@every_class
@settings(max_examples=amount(8, 25), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_worlds_that_hypothesis_makes(cls: type[Metric], data: st.DataObject) -> None:
    metric = data.draw(st.sampled_from(variants(cls)))
    world = data.draw(st.lists(cases(), min_size=1, max_size=6))
    check_cases(metric, [case.graded_anew(lambda g: min(g, top_grade(metric))) for case in world])


@every_class
def test_a_trait_is_not_claimed_in_vain(cls: type[Metric]) -> None:
    """A class said to mind order, degrees or grades has some metric that does."""
    if any("items" in metric.needs for metric in variants(cls)):
        pytest.skip("these worlds differ in grades, and metrics of items look at labels")
    metrics = [(metric, made_up(80, 3, top_grade(metric))) for metric in variants(cls)]
    if cls.positions:
        assert any(blind_to_order(metric, world) for metric, world in metrics)
    if cls.relevance == "graded":
        assert any(blind_to_degree(metric, world) for metric, world in metrics)
    if all(metric.relevance == "binary" for metric, _ in metrics):
        assert any(blind_to_grades(metric, world) for metric, world in metrics)


@every_class
def test_every_factor_has_a_name(cls: type[Metric]) -> None:
    """The columns of an explanation are named after them."""
    for metric in variants(cls):
        world = judged(made_up(8, 5, top_grade(metric)))
        assert all(metric.taken_apart(world.lists(np.arange(len(world)))).factors), metric
