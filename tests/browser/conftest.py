"""What a test in a real browser may ask for: headless Chromium, and pages opened in it from files.

Both are skipped with a reason where playwright or Chromium is not here, and fail where RANKSCOPE_REQUIRE_BROWSER=1.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")


def without(reason: str) -> NoReturn:
    """Skips a test, or fails where a browser is required."""
    if os.environ.get("RANKSCOPE_REQUIRE_BROWSER") == "1":
        pytest.fail(f"RANKSCOPE_REQUIRE_BROWSER=1, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def unless() -> Callable[[str], NoReturn]:
    """Says why a test cannot run: it is skipped, or fails where a browser is required."""
    return without


# module, not session: while playwright runs, its event loop stands in the way of other tests of the process
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Headless Chromium."""
    given = os.environ.get("RANKSCOPE_CHROMIUM")
    found = given or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        without(f"none of {', '.join(NAMES)} is on the PATH, and RANKSCOPE_CHROMIUM names none")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        without("playwright is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


class Opened(Protocol):
    """Opens a page: HTML as text, or the path of a file.

    ``fragment`` follows the ``#`` of its address. What is in ``expected`` may stand in an error of the console; any other error,
    and any request beyond the file itself, fails the test at its end.
    """

    def __call__(
        self,
        page: str | Path,
        *,
        fragment: str = "",
        viewport: tuple[int, int] = (1280, 800),
        scheme: Literal["light", "dark"] = "light",
        java_script: bool = True,
        bypass_csp: bool = False,
        expected: Sequence[str] = (),
        **options: Any,
    ) -> Page: ...


@pytest.fixture
def opened(chromium: Browser, tmp_path: Path) -> Iterator[Opened]:
    """A factory of pages, opened from ``file://``; errors and requests fail the test."""
    troubles: list[str] = []
    contexts: list[BrowserContext] = []

    def listen(page: Page, address: str, expected: Sequence[str]) -> None:
        def told(kind: str, text: str) -> None:
            if not any(part in text for part in expected):
                troubles.append(f"{kind}: {text}")

        def asked(url: str) -> None:
            if url.partition("#")[0] != address and not url.startswith(("data:", "blob:")):
                troubles.append(f"request: {url}")

        page.on("console", lambda said: told("console", said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: told("error", str(error)))
        page.on("request", lambda request: asked(request.url))

    def open_page(
        page: str | Path,
        *,
        fragment: str = "",
        viewport: tuple[int, int] = (1280, 800),
        scheme: Literal["light", "dark"] = "light",
        java_script: bool = True,
        bypass_csp: bool = False,
        expected: Sequence[str] = (),
        **options: Any,
    ) -> Page:
        if isinstance(page, str):
            path = tmp_path / f"page-{len(contexts)}.html"
            path.write_text(page, encoding="utf-8", newline="")
        else:
            path = page.resolve()
        context = chromium.new_context(
            viewport={"width": viewport[0], "height": viewport[1]},
            color_scheme=scheme,
            java_script_enabled=java_script,
            bypass_csp=bypass_csp,
            **options,
        )
        contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(10_000)
        listen(tab, path.as_uri(), expected)
        tab.goto(path.as_uri() + (f"#{fragment}" if fragment else ""))
        return tab

    yield open_page
    for context in contexts:
        context.close()
    assert not troubles, "\n".join(troubles)


@pytest.fixture(scope="session")
def made(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """Pages by name, rendered once."""
    need = request.getfixturevalue("need")
    for name in ("altair", "jinja2", "vl_convert"):
        need(name)
    from tests.browser import pages

    from rankscope.show.html.page import render

    kinds: dict[str, Callable[[], Any]] = {
        "whole": pages.page,
        "plain": lambda: pages.page(drawn=False, explored=False),
        "odd": pages.odd_page,
    }
    kept: dict[str, str] = {}

    def make(name: str) -> str:
        if name not in kept:
            kept[name] = render(kinds[name]())
        return kept[name]

    return make
