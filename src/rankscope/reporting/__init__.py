"""One page of any result: sections that pick tables and charts of results, and compute nothing.

``report.report`` is the function, ``subject.PagePart`` what a section is, ``page.SECTIONS`` which there are and in which order.
Here is where pages may be written.
"""

from __future__ import annotations

from pathlib import Path

from rankscope.errors import InputError

ENDINGS = {".html", ".htm"}


def check_page_file(path: str | Path) -> None:
    """Refuse, before any work is done, a place where no page can be written: another ending, a folder, a missing folder."""
    place = Path(path)
    if place.suffix.lower() not in ENDINGS:
        raise InputError(f"{path}: a page is one HTML file: name it like {place.stem or 'report'}.html")
    if place.is_dir():
        raise InputError(f"{path}: a folder, not a file: name the file to write")
    if not place.parent.is_dir():
        raise InputError(f"{path}: there is no folder {place.parent} to write into (mkdir -p {place.parent} makes it)")


def check_folder(path: str | Path) -> None:
    """Refuse, before any work is done, a folder for tables and figures that is a file."""
    if Path(path).exists() and not Path(path).is_dir():
        raise InputError(f"{path}: a file, not a folder: name a folder for the tables and figures")
