"""Arrays of NumPy and of any library with DLPack or ``__array__`` (PyTorch, JAX, CuPy, pandas), read without a copy if possible."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankscope.errors import InputError
from rankscope.lists.sums import Array

HOST_DEVICES = {1, 3, 11}  # DLPack's numbers of memory that the processor reads: its own, and pinned by CUDA or ROCm


def as_array(values: Any, name: str, notes: list[str] | None = None) -> Array:
    """Return values as a NumPy array, without a copy if NumPy can read their memory.

    A tensor on a device is copied, with a line in ``notes``. Raises InputError for a tensor that records gradients, and for
    anything but an array.

    >>> as_array([[1, 2], [3, 4]], "labels").shape
    (2, 2)
    """
    if isinstance(values, np.ndarray):
        return values
    if getattr(values, "requires_grad", False):
        raise InputError(f"{name}: the tensor records gradients; give {name}.detach(), or score under torch.no_grad()")
    if hasattr(values, "__dlpack_device__"):
        kind, number = values.__dlpack_device__()
        if int(kind) not in HOST_DEVICES:
            return _copied(values, name, notes, f"{getattr(values, 'device', f'device {number}')}")
    try:
        if "bfloat16" in str(getattr(values, "dtype", "")):  # NumPy lacks it, but all its values are floats
            values = values.float() if hasattr(values, "float") else values.astype(np.float32)
        out = np.asarray(values)
    except (TypeError, ValueError, RuntimeError, BufferError, OverflowError) as error:
        raise InputError(
            f"{name} is not an array of numbers ({_first_line(error)}): give one list per row, or a flat array"
        ) from None
    return out


def _copied(values: Any, name: str, notes: list[str] | None, device: str) -> Array:
    for method in ("get", "cpu"):  # of CuPy, of PyTorch
        if hasattr(values, method):
            values = getattr(values, method)()
            break
    if notes is not None:
        notes.append(f"{name} was copied from {device}: values are computed on the processor")
    return as_array(values, name, notes) if hasattr(values, "__dlpack_device__") else np.asarray(values)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
