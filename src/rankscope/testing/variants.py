"""The metrics of a class: its worked examples and each value of each parameter, read from its declaration."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Iterator
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from rankscope.declared import Lookup, Param, parameters, required_parameters
from rankscope.errors import InputError
from rankscope.metrics import Example, Metric, parse

# values to try, if they are within a parameter's bounds
WHOLE = (1, 3)
NUMBERS = (0.0, 0.5, 1.0, 2.0, 3.0)
TABLES = ({1: 3, 2: 9}, {1: 2, 2: 1, 3: 1}, {1: 1, 2: 0.5, 3: 0.5})


def variants(cls: type[Metric]) -> list[Metric]:
    """The metrics to check for a class, each once: its examples, then other values of each parameter."""
    return list(dict.fromkeys(_variants(cls)))


def _variants(cls: type[Metric]) -> Iterator[Metric]:
    bases = [metric for example in cls.examples if type(metric := parse(example.metric)) is cls]
    bases += _make(cls, {})
    yield from bases
    choices = {name: list(_values(hint, param)) for name, (hint, param) in parameters(cls).items()}
    for name, values in choices.items():
        for value in values:
            changed = [metric for base in bases for metric in _make(base, {name: value})]
            # some values need another parameter: ideal='max_grade_k' needs max_grade and a cutoff
            yield from changed or _with_others(bases[-1], {name: value}, choices)
            if "cutoff" in choices and name != "cutoff":
                yield from _make(bases[-1], {name: value, "cutoff": 3})


def _with_others(base: Metric, changes: dict[str, Any], choices: dict[str, list[Any]]) -> Iterator[Metric]:
    for one in [name for name in choices if name not in changes]:
        for value in choices[one]:
            yield from _make(base, {**changes, one: value}) or _make(base, {**changes, one: value, "cutoff": 3})


def _make(of: Any, changes: dict[str, Any]) -> list[Metric]:
    try:
        if isinstance(of, Metric):
            return [of.having(**changes).ready()]
        hints = parameters(of)
        needed = {name: next(v for v in _values(*hints[name]) if v is not None) for name in required_parameters(of)}
        return [of(**{**needed, **changes}).ready()]
    except (InputError, TypeError):
        return []


def _values(hint: Any, param: Param) -> Iterable[Any]:
    if get_origin(hint) in {UnionType, Union}:
        return [value for kind in get_args(hint) for value in _values(kind, param)]
    if get_origin(hint) is Literal:
        return get_args(hint)
    if get_origin(hint) is tuple:
        return [tuple(v for v in NUMBERS if _is_within(v, param)), *((v,) for v in NUMBERS[:2] if _is_within(v, param))]
    if hint is bool:
        return (False, True)
    if hint is NoneType:
        return (None,)
    if hint is Lookup:
        return TABLES
    if hint is str:
        return ("x",)
    numbers = {int: WHOLE, float: NUMBERS}.get(hint, ())
    return [value for value in numbers if _is_within(value, param)]


def _is_within(value: float, param: Param) -> bool:
    return param.low <= value <= param.high and value > param.above


_DO: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "log2": math.log2, "log": math.log, "exp": math.exp, "sqrt": math.sqrt, "min": min, "max": max,
}  # fmt: skip


def worked_out(arithmetic: str) -> float:
    """The number of a worked example. ``log2``, ``log``, ``exp``, ``sqrt``, ``min`` and ``max`` are allowed."""
    return _of(ast.parse(arithmetic, mode="eval").body, arithmetic)


def _of(node: ast.expr, text: str) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _DO:
        return _DO[type(node.op)](_of(node.left, text), _of(node.right, text))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_of(node.operand, text)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
        return _FUNCTIONS[node.func.id](*(_of(a, text) for a in node.args))
    raise ValueError(f"{text!r} is not plain arithmetic: {ast.unparse(node)}")


def check_example(example: Example) -> None:
    """Raise AssertionError if a worked example differs from the value of its metric."""
    metric: Metric = parse(example.metric)
    value = metric.of(list(example.grades), **(example.more or {}))
    expected = worked_out(example.value)
    if not math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-12):
        more = "".join(f", {k}={v}" for k, v in (example.more or {}).items())
        problem = f"{list(example.grades)}{more} gives {value!r}, and {example.value} is {expected!r}"
        raise AssertionError(f"{metric}: its worked example is wrong: {problem}")
