"""Runs a part of the tests on every Python of this machine that is promised, and on the oldest packages that are promised.

The main environment has one Python and the newest packages; these have the others. Each gets an environment in `.venv-pythons`, which stays.
Tests against other tools, in a browser and on Spark are left out, as are the laws, which take long and are the same arithmetic.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / ".venv-pythons"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PART = ["tests/worked", "tests/metrics", "tests/inference", "tests/engines", "tests/lists", "tests/panels", "tests/experiments", "tests/scoring", "tests/sharding", "tests/analysis", "tests/dialects",
        "tests/verbs", "tests/show", "tests/test_moments.py", "tests/test_words.py", "tests/test_parallel.py"]  # fmt: skip
ARITHMETIC = PART[:6]  # where a Python has most to change
OPTIONS = ["-q", "-p", "no:cacheprovider", "-n", "auto", "--dist", "loadfile", "-k", "not laws and not definitions and not calibration and not claim and not pictures", "--ignore=tests/scoring/spark",
           "--ignore=tests/engines/test_spark.py"]  # fmt: skip
OLDEST = (3, 11)
OLD_WHEELS = ((3, 11), (3, 12))  # what the oldest packages were built for
# where the usual tools keep the Pythons that are not on the path
KEPT = (
    "~/.pyenv/versions/3.*/bin/python",
    "~/.local/share/uv/python/cpython-3.*/bin/python3",
    "/opt/python/*/bin/python3",
)


def version_of(python: str) -> tuple[int, int] | None:
    """The version that an interpreter says, and none where it does not run or cannot make environments."""
    ask = "import sys, venv, ensurepip; print(*sys.version_info[:2], sys.version_info.releaselevel, sys.implementation.name)"
    try:
        said = subprocess.run(
            [python, "-c", ask], capture_output=True, text=True, timeout=60, check=True
        ).stdout.split()
    except (OSError, subprocess.SubprocessError):
        return None
    return (int(said[0]), int(said[1])) if said[2:] == ["final", "cpython"] else None


def pythons() -> dict[tuple[int, int], str]:
    """One interpreter of each version that rankscope is for."""
    names = [found for minor in range(11, 20) if (found := shutil.which(f"python3.{minor}"))]
    names += [found] if (found := shutil.which("python3")) else []
    for pattern in KEPT:
        whole = Path(pattern).expanduser()
        names += [str(path) for path in sorted(Path(whole.anchor).glob(str(whole.relative_to(whole.anchor))))]
    by_version: dict[tuple[int, int], str] = {}
    for name in names:
        version = version_of(name)
        if version is not None and version >= OLDEST:
            by_version.setdefault(version, name)
    return by_version


def wanted(oldest: bool) -> list[str]:
    """What the package asks for and what its tests need, as it is written or in the oldest version that is promised."""
    direct = [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["report"]]
    tests = [need for need in PROJECT["dependency-groups"]["test"] if isinstance(need, str)]
    return [re.sub(">=", "==", need) for need in [*direct, *tests]] if oldest else [*direct, *tests]


def try_one(name: str, python: str, oldest: bool, part: list[str]) -> bool:
    """Makes an environment where there is none, and runs the tests in it."""
    start, home = time.monotonic(), PLACE / name
    own = home / "bin" / "python"
    # an environment of another list of packages is made anew
    made, listed = home / "made-of.txt", "\n".join(wanted(oldest))
    if not made.exists() or made.read_text(encoding="utf-8") != listed:
        shutil.rmtree(home, ignore_errors=True)
        subprocess.run([python, "-m", "venv", str(home)], check=True)
        install = [str(own), "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
        subprocess.run([*install, *wanted(oldest)], check=True)
        subprocess.run([*install[:5], "--no-deps", "--editable", str(ROOT)], check=True)
        made.write_text(listed, encoding="utf-8")
    barred = {switch for switch in os.environ if switch.startswith("RANKSCOPE_REQUIRE_")} - {"RANKSCOPE_REQUIRE_DATA"}
    env = {key: value for key, value in os.environ.items() if key not in barred}
    ready = time.monotonic()
    code = subprocess.run([str(own), "-m", "pytest", *OPTIONS, *part], cwd=ROOT, env=env, check=False).returncode
    spent = f"{ready - start:.0f} s to set up, {time.monotonic() - ready:.0f} s of tests"
    print(f"{name}: {'passed' if code == 0 else f'pytest ended with {code}'} ({spent})", flush=True)
    return code == 0


def main() -> int:
    """Tries all that there are, with ``--short`` the newest alone beside the oldest packages, on the arithmetic; 1 where one of them fails."""
    short = "--short" in sys.argv[1:]
    newer = ARITHMETIC if short else PART
    found, here = pythons(), sys.version_info[:2]
    tries = [
        (f"{major}.{minor}", found[major, minor], False) for major, minor in sorted(found) if (major, minor) != here
    ]
    tries = tries[-1:] if short else tries
    old = next((found[version] for version in OLD_WHEELS if version in found), None)
    if old:
        tries.insert(0, ("oldest", old, True))
    said = ", ".join(name if name == "oldest" else f"Python {name}" for name, *_ in tries)
    print(f"beside Python {here[0]}.{here[1]} of this environment: {said or 'none is on this machine'}", flush=True)
    failed = [name for name, python, oldest in tries if not try_one(name, python, oldest, PART if oldest else newer)]
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
