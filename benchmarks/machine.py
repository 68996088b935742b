"""The machine that measures, and the versions of what is measured on it."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import re
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.measure import MEGA
from benchmarks.scope import Scope

TOOLS = (
    *("rankscope", "polars", "numpy", "scipy", "pandas", "pyarrow", "pyspark", "pytrec-eval-terrier", "ir_measures"),
    *("ranx", "scikit-learn", "torch", "torchmetrics", "tea-tasting"),
)
OTHERS = ("rectools", "replay-rec", "pyspark", "pandas", "polars", "numpy")
ASK = """
import json, platform, sys
from importlib.metadata import PackageNotFoundError, version
found = {"Python": platform.python_version()}
for name in sys.argv[1:]:
    try:
        found[name] = version(name)
    except PackageNotFoundError:
        pass
print(json.dumps(found))
"""


def state(scope: Scope) -> dict[str, Any]:
    """When and on what something was measured."""
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "machine": machine(),
        "versions": versions() | _trec_eval(scope.trec_eval),
        "recommenders": _elsewhere(scope.recommenders),
    }


def machine() -> dict[str, Any]:
    """Processor, cores, memory and system; None for what the system does not tell. How busy it was is the load of a minute."""
    return {
        "processor": _look("/proc/cpuinfo", r"^model name\s*:\s*(.+)$") or platform.processor() or None,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_mb": _megabytes(),
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
    }


def _megabytes() -> int | None:
    kilobytes = _look("/proc/meminfo", r"^MemTotal:\s*(\d+)")
    return None if kilobytes is None else round(int(kilobytes) * 1024 / MEGA)


def _look(path: str, pattern: str) -> str | None:
    try:
        found = re.search(pattern, Path(path).read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return None
    return found.group(1).strip() if found else None


def versions() -> dict[str, str]:
    """Of Python and of all tools that are installed beside rankscope."""
    found = {"Python": platform.python_version()}
    for name in TOOLS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _trec_eval(binary: str) -> dict[str, str]:
    """What the binary says that it is."""
    if not binary:
        return {}
    try:
        said = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return {}
    found = re.search(r"version (\S+)", said.stdout + said.stderr)
    return {"trec_eval": found.group(1)} if found else {}


def _elsewhere(python: str) -> dict[str, str]:
    """Of the tools that have an environment of their own; none where there is no such environment."""
    if not Path(python).exists():
        return {}
    said = subprocess.run([python, "-c", ASK, *OTHERS], capture_output=True, text=True, check=False)
    return dict(json.loads(said.stdout)) if said.returncode == 0 else {}
