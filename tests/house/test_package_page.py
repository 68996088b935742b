"""The page of the package shows no link that leads nowhere, and every file that the README names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from package_page import LINK, page_of, urls_of

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
HOME = "https://example.org/rankscope"


def test_what_the_readme_links_to_is_there() -> None:
    files = [path.partition("#")[0] for _, _, path in LINK.findall(README)]
    assert len(files) > 10
    assert [file for file in files if not (ROOT / file).is_file()] == []


@pytest.mark.parametrize("home", ["", HOME], ids=["no home", "a home"])
def test_the_page_has_no_link_into_the_repository(home: str) -> None:
    page = page_of(README, home)
    assert LINK.findall(page) == []
    assert len(page.splitlines()) == len(README.splitlines())
    for picture, text, path in LINK.findall(README):
        assert text in page
        if home or not picture:
            assert (path if home else path.partition("#")[0]) in page


def test_links_elsewhere_stay_as_they_are() -> None:
    for text in ("[trec_eval](https://example.org/x)", "[below](#why)", "to [a] (docs/b.md)", "`f(a)[b]`"):
        assert page_of(text, HOME) == page_of(text) == text


def test_a_package_without_a_home_states_no_address() -> None:
    assert urls_of("") == {}
    assert all(re.fullmatch(rf"{HOME}[\w/.]*", url) for url in urls_of(HOME).values())


def test_the_citation_names_the_version() -> None:
    from rankscope._version import __version__

    assert f"version: {__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
