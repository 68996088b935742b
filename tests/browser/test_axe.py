"""The page for everyone: axe-core, the checks that most tools for accessibility run, finds nothing to complain about."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import pytest
from tests.browser import pages
from tests.made.results import result

if TYPE_CHECKING:
    from tests.browser.conftest import Opened

AXE = "axe-core@4.10.3"


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory, unless: Callable[[str], NoReturn]) -> str:
    """The script of axe-core, from the npm registry."""
    npm = shutil.which("npm")
    if npm is None:
        unless("npm is not on the PATH, which fetches axe-core")
    folder: Path = tmp_path_factory.mktemp("axe")
    try:
        subprocess.run([npm, "pack", AXE, "--silent"], cwd=folder, check=True, capture_output=True, timeout=120)
    except (subprocess.SubprocessError, OSError) as error:
        unless(f"axe-core cannot be fetched: {error}")
    packed = next(folder.glob("*.tgz"))
    with tarfile.open(packed) as archive:
        script = archive.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode("utf-8")


@pytest.fixture(scope="module", params=["every block", "the demo's report", "the playground", "offline and online"])
def whole(request: pytest.FixtureRequest) -> str:
    need = request.getfixturevalue("need")
    for name in ("altair", "jinja2", "vl_convert"):
        need(name)
    from rankscope.reporting.playground import playground
    from rankscope.reporting.report import demo_report, report
    from rankscope.show.html.page import render

    made: dict[str, Callable[[], Any]] = {
        "every block": lambda: pages.page(queries=8),
        "the demo's report": lambda: demo_report().page,
        "the playground": playground,
        "offline and online": lambda: report(result("agreement")).page,
    }
    return render(made[request.param]())


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_no_violation(whole: str, opened: Opened, axe: str, scheme: Literal["light", "dark"], width: int) -> None:
    page = opened(whole, scheme=scheme, viewport=(width, 900), bypass_csp=True)
    page.set_default_timeout(30_000)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")  # draws every chart
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.evaluate("document.querySelectorAll('details').forEach((details) => (details.open = true))")
    if page.locator(".plot").count():
        page.locator(".plot svg, .plot canvas").last.wait_for()
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    told = [
        f"{broken['id']} ({broken['impact']}): {broken['help']}: "
        + "; ".join(f"{node['html'][:160]} | {node['failureSummary'][:300]}" for node in broken["nodes"][:4])
        for broken in found["violations"]
    ]
    assert not told, "\n\n".join(told)
