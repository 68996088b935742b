"""Take the pictures of docs/images from the report of the demo, in a headless Chromium that is installed already.

Needs the dependency group ``browser``. Pictures are of one version of the browser and its fonts: look at them before they are kept.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from rankscope.reporting.report import demo_report

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
SIZE = {"width": 1440, "height": 900}
# name of the picture: theme, what the address asks for
SHOTS = {"report": ("light", ""), "query": ("dark", "#q=q024&a=bm25&b=hybrid")}


def main() -> int:
    """Take all pictures."""
    from playwright.sync_api import sync_playwright

    browser = os.environ.get("RANKSCOPE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print("no Chromium is installed", file=sys.stderr)
        return 2
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page = demo_report().save(Path(folder) / "demo.html")
        chromium = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for name, (theme, fragment) in SHOTS.items():
            _shot(chromium, page, IMAGES / f"{name}.png", theme, fragment)
        chromium.close()
    return 0


def _shot(chromium: Any, page: Path, to: Path, theme: str, fragment: str) -> None:
    tab = chromium.new_page(viewport=SIZE, color_scheme=theme)
    tab.goto(page.as_uri() + fragment)
    tab.wait_for_timeout(4000)  # charts above are drawn, and the page has come to rest
    tab.screenshot(path=to)
    tab.close()
    print(f"{to.relative_to(IMAGES.parents[1])}: {to.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    sys.exit(main())
