"""Checking the worked examples that metrics declare as arithmetic."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable

from rankscope.metrics import Example, Metric, parse

_DO: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "log2": math.log2, "log": math.log, "exp": math.exp, "sqrt": math.sqrt, "min": min, "max": max,
}  # fmt: skip


def worked_out(arithmetic: str) -> float:
    """The number that a worked example comes to; ``log2``, ``log``, ``exp``, ``sqrt``, ``min`` and ``max`` may be used.

    >>> worked_out("(3 / log2(2) + 2 / log2(4)) / 8")
    0.5
    """
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
    raise ValueError(f"{text!r} is no plain arithmetic: {ast.unparse(node)}")


def check_example(example: Example) -> None:
    """Raise AssertionError where a worked example does not come to what its metric gives."""
    metric: Metric = parse(example.metric)
    value = metric.of(list(example.grades), **(example.more or {}))
    expected = worked_out(example.value)
    if not math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-12):
        more = "".join(f", {k}={v}" for k, v in (example.more or {}).items())
        raise AssertionError(
            f"{metric}: its worked example is wrong: {list(example.grades)}{more} gives {value!r}, and {example.value} is {expected!r}"
        )
