"""The page of the package: the README as an index of packages can show it, where links to files beside it lead nowhere.

hatchling calls this when it builds (``[tool.hatch.metadata.hooks.custom]``). With the address of the repository in ``RANKSCOPE_HOME``, as
whoever publishes the package sets it, links and pictures lead there and the package names its home; without one, links are
their text with the file that they mean, which the source archive holds, and pictures are what they show, in words.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

HOME = "RANKSCOPE_HOME"  # like https://example.org/rankscope
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def page_of(readme: str, home: str = "") -> str:
    """The text of the page.

    >>> page_of("See [compare](docs/compare.md). ![A report](docs/report.png)")
    'See compare (docs/compare.md). *A report*'
    >>> page_of("See [compare](docs/compare.md#tests). ![A report](docs/report.png)", "https://example.org/r")
    'See [compare](https://example.org/r/blob/HEAD/docs/compare.md#tests). ![A report](https://example.org/r/raw/HEAD/docs/report.png)'
    """

    def replaced(found: re.Match[str]) -> str:
        picture, text, path = found.groups()
        if home:
            return f"{picture}[{text}]({home}/{'raw' if picture else 'blob'}/HEAD/{path})"
        file = path.partition("#")[0]
        return f"*{text}*" if picture else text if text == file else f"{text} ({file})"

    return LINK.sub(replaced, readme)


def urls_of(home: str) -> dict[str, str]:
    """The addresses that the package states: none where its home is not known."""
    pages = {"Homepage": "", "Documentation": "/blob/HEAD/docs/evaluate.md", "Changelog": "/blob/HEAD/CHANGELOG.md"}
    return {name: home + path for name, path in pages.items()} if home else {}


def get_metadata_hook() -> Any:
    """The class that hatchling makes the metadata with."""
    from hatchling.metadata.plugin.interface import MetadataHookInterface

    class PackagePage(MetadataHookInterface):  # type: ignore[misc]
        """Sets the page and the addresses."""

        def update(self, metadata: dict[str, Any]) -> None:
            """Set what depends on where the package has its home."""
            home = os.environ.get(HOME, "").rstrip("/")
            text = page_of((Path(self.root) / "README.md").read_text(encoding="utf-8"), home)
            metadata["readme"] = {"content-type": "text/markdown", "text": text}
            metadata["urls"] = urls_of(home)

    return PackagePage
