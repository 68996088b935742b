"""Arrays of any library, taken where they lie: NumPy, and whatever speaks DLPack or ``__array__`` (PyTorch, JAX, CuPy, pandas)."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankscope.errors import InputError
from rankscope.lists.sums import Array

HOST = {1, 3, 11}  # DLPack's numbers of memory that the processor reads: its own, and what CUDA and ROCm pinned there


def as_array(values: Any, name: str, notes: list[str] | None = None) -> Array:
    """Values as a NumPy array, with no copy where they lie in memory as NumPy has them.

    A tensor on a device is copied, and a line in ``notes`` says so. Raises InputError for a tensor that records gradients, and for what
    is no array.

    >>> as_array([[1, 2], [3, 4]], "labels").shape
    (2, 2)
    """
    if isinstance(values, np.ndarray):
        return values
    if getattr(values, "requires_grad", False):
        raise InputError(f"{name}: the tensor records gradients; give {name}.detach(), or score under torch.no_grad()")
    if hasattr(values, "__dlpack_device__"):
        kind, number = values.__dlpack_device__()
        if int(kind) not in HOST:
            return _copied(values, name, notes, f"{getattr(values, 'device', f'device {number}')}")
    try:
        if "bfloat16" in str(getattr(values, "dtype", "")):  # NumPy has none: every value of it is a float
            values = values.float() if hasattr(values, "float") else values.astype(np.float32)
        out = np.asarray(values)
    except (TypeError, ValueError, RuntimeError, BufferError, OverflowError) as error:
        raise InputError(
            f"{name} is no array of numbers ({_first_line(error)}): give a row a list, or a flat array"
        ) from None
    return out


def _copied(values: Any, name: str, notes: list[str] | None, device: str) -> Array:
    """A tensor of a device, brought to where NumPy is by its library's own way."""
    for way in ("get", "cpu"):  # CuPy's, PyTorch's
        if hasattr(values, way):
            values = getattr(values, way)()
            break
    if notes is not None:
        notes.append(f"{name} was copied from {device}: values are computed where NumPy is")
    return as_array(values, name, notes) if hasattr(values, "__dlpack_device__") else np.asarray(values)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
