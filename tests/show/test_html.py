"""Pages as text: the same bytes each time, nothing loaded, nothing let in, and every text as text."""

from __future__ import annotations

import base64
import hashlib
import re
import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.browser import pages
from tests.made.files import some

from rankscope.blocks import Chart, Code, Column, Page, Paragraph, Section, Table, ValueRange, Verdict
from rankscope.show.html import assets


@pytest.fixture(scope="module", autouse=True)
def _report(request: pytest.FixtureRequest) -> None:
    need = request.getfixturevalue("need")
    for name in ("altair", "jinja2", "vl_convert"):
        need(name)


class Read(HTMLParser):
    """A page as a parser that knows no mercy reads it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.strays: list[str] = []
        self.scripts: list[str] = []
        self.policy = ""
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "link", "img", "br", "input"}:
            self.open.append(tag)
        if tag == "meta" and ("http-equiv", "Content-Security-Policy") in attrs:
            self.policy = dict(attrs)["content"] or ""
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.strays.append(tag)

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"]:
            self.scripts[-1] += data
        elif self.open[-1:] != ["style"]:
            self.texts.append(data)

    @property
    def executed(self) -> list[str]:
        """The scripts that a browser runs; the others are data."""
        found = [attrs for tag, attrs in self.tags if tag == "script"]
        return [text for text, attrs in zip(self.scripts, found, strict=True) if "type" not in attrs]


@pytest.fixture(scope="module")
def whole() -> str:
    from rankscope.show.html.page import render

    return render(pages.page())


@pytest.fixture(scope="module")
def odd() -> str:
    from rankscope.show.html.page import render

    return render(pages.odd_page())


def test_the_same_page_gives_the_same_bytes(whole: str) -> None:
    from rankscope.show.html.page import render

    assert render(pages.page()) == whole


def test_tags_are_nested(whole: str, odd: str) -> None:
    for page in (whole, odd):
        read = Read(page)
        assert not read.strays
        assert not read.open


def unpacked_runtime(read: Read) -> str:
    """The runtime of the charts, which a page carries compressed."""
    scripts = [attrs for tag, attrs in read.tags if tag == "script"]
    at = next(i for i, attrs in enumerate(scripts) if attrs.get("id") == "chart-runtime")
    script = zlib.decompress(base64.b64decode(read.scripts[at]))
    assert len(script) == int(scripts[at]["data-size"] or 0)
    return script.decode()


def test_the_runtime_of_the_charts_is_carried_whole_in_less_than_half_its_size(whole: str) -> None:
    from rankscope.show.charts import runtime

    assert unpacked_runtime(Read(whole)) == runtime()
    assert len(assets.packed(runtime())) < len(runtime()) / 2


def test_the_policy_names_every_script_and_no_other(whole: str) -> None:
    read = Read(whole)
    allowed = set(re.findall(r"'(sha256-[^']+)'", read.policy))
    run = [*read.executed, unpacked_runtime(read)]
    found = {"sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in run}
    assert found == allowed
    script_rule = next(rule for rule in read.policy.split("; ") if rule.startswith("script-src"))
    assert "unsafe" not in script_rule
    assert read.policy.startswith("default-src 'none'; ")


def test_no_script_ends_early_or_hides_what_follows(whole: str, odd: str) -> None:
    for page in (whole, odd):
        for script in Read(page).scripts:
            assert "</script" not in script.lower()
            assert not ("<!--" in script and "<script" in script.lower())


def test_nothing_is_loaded(whole: str, odd: str) -> None:
    for page in (whole, odd):
        for tag, attrs in Read(page).tags:
            assert tag not in {"link", "iframe", "object", "embed", "img", "base", "form"}
            assert not {"src", "srcset", "action", "data"} & set(attrs)
            assert (attrs.get("href") or "#").startswith("#")
            assert not [name for name in attrs if name.startswith("on")], "no inline handlers"
        styles = "".join(re.findall(r"<style>(.*?)</style>", page, re.DOTALL))
        assert "url(" not in styles
        assert "@import" not in styles


def test_every_text_is_text(odd: str) -> None:
    read = Read(odd)
    assert "alert(1)" not in "".join(read.executed).replace(pages.EVIL, "")
    assert {tag for tag, _ in read.tags} & {"img"} == set()
    assert pages.EVIL in "".join(read.texts)


def test_no_control_character_gets_through(odd: str) -> None:
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\ud800-\udfff]", odd)
    assert r"a\x00b\x1b[31m\u202e\ud800" in odd


def test_every_static_file_has_its_place() -> None:
    from importlib.resources import files

    from rankscope.show.html import assets

    listed = {
        assets.FIRST, *assets.SCRIPTS, *assets.CHART_SCRIPTS, *assets.EXPLORER_SCRIPTS,
        *assets.STYLES, *assets.EXPLORER_STYLES, *assets.LAST_STYLES,
    }  # fmt: skip
    there = {entry.name for entry in files("rankscope.show.html").joinpath("static").iterdir()}
    assert there == listed
    for name in there:
        assert assets.static(name).count("\n") <= 300, name


def test_ids_are_there_once(whole: str) -> None:
    ids = [attrs["id"] for _, attrs in Read(whole).tags if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_numbers_stand_in_full_beside_what_is_shown(whole: str) -> None:
    assert 'data-v="0.51234567890123" data-l="0.4513" data-u="0.5733"' in whole
    assert f'data-v="{0.1 + 0.2!r}"' in whole
    assert "0.5123</span> <span" in whole


def test_queries_that_can_be_looked_into_are_linked() -> None:
    from rankscope.show.html.page import render

    table = Table((Column("query", queries=True),), (("q1",), ("a b",)))
    verdict = Verdict("so", queries=(("q1", "gains"), ("zz", "is not here")))
    explored = Section("explorer", "Explorer", (pages.explorer(3),))
    text = render(Page("t", "", (verdict,), (Section("s", "S", (table,)), explored)))
    assert text.count('<a href="#q=q1">') == 2
    assert 'href="#q=zz"' not in text
    assert 'href="#q=a%20b"' not in text
    alone = render(Page("t", "", (verdict,), (Section("s", "S", (table,)),)))
    assert 'href="#q=' not in alone


def test_sizes() -> None:
    from rankscope.show.html.page import render

    nothing = Page("t", "", (), (Section("s", "S", (pages.charts(1)[0],)),))
    assert len(render(nothing).encode()) < 1_100_000
    words = Page("t", "", (), (Section("s", "S", (Paragraph("no charts"),)),))
    assert len(render(words).encode()) < 60_000  # neither the charts' runtime nor the explorer
    assert "vegaEmbed" not in render(words)
    assert "rankscope.explorer" not in render(words)


def test_names_of_files_are_safe_and_distinct() -> None:
    from rankscope.show.html.page import render

    table = Table((Column("a"),), (("x",),), name="../Évil name")
    text = render(Page("t", "", (), (Section("s", "S", (table, table)),)))
    assert re.findall(r'data-name="([^"]*)"', text) == ["vil-name", "vil-name-2"]


def test_empty_pages() -> None:
    from rankscope.show.html.page import render

    for page in (Page("", "", (), ()), Page("t", "", (), (Section("s", "S", (Table((), ()), Code(()))),))):
        read = Read(render(page))
        assert not read.strays
    column = (Column("run"), Column("v", "value"))
    chart = Chart("none", "Nothing", "bars", column, (), x="run", y="v")
    assert "There is nothing to draw." in render(Page("t", "", (), (Section("s", "S", (chart,)),)))


def test_data_of_charts_name_each_name_once() -> None:
    from rankscope.show.html.page import pack

    rows = tuple((f"run{i % 2}", float(i)) for i in range(6))
    chart = Chart("c", "C", "bars", (Column("run"), Column("v", "value")), rows, x="run", y="v")
    assert pack(chart) == {"c0": {"of": ["run0", "run1"], "at": [0, 1, 0, 1, 0, 1]}, "c1": [0, 1, 2, 3, 4, 5]}


def test_a_notebook_shows_blocks_without_a_script() -> None:
    from rankscope.show.html.page import fragment

    text = fragment([*pages.page().sections[0].blocks, pages.board("Scores"), *pages.charts()[:1], pages.explorer(2)])
    read = Read(text)
    assert not read.strays
    assert not read.scripts
    assert "0.5123" in text
    assert "<svg" in text
    assert "2 queries can be looked into in a report." in text
    assert fragment([Paragraph(pages.EVIL)]).count("&lt;script&gt;") == 1


def test_pictures_in_a_notebook_share_no_ids() -> None:
    from rankscope.show.html.page import fragment

    first, second = pages.charts()[:2]
    ids = [attrs["id"] for _, attrs in Read(fragment([first, second], dark=True)).tags if attrs.get("id")]
    assert len(ids) == len(set(ids))


def test_long_tables_of_a_notebook_are_cut() -> None:
    from rankscope.show.html.page import fragment

    rows = tuple((f"r{i}", ValueRange(0.5, 0.4, 0.6)) for i in range(201))
    text = fragment([Table((Column("run"), Column("v", "value")), rows)])
    assert "The first 200 of 201 rows." in text
    assert "r199" in text
    assert "r200" not in text


def test_without_the_extra_a_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from rankscope.errors import MissingExtraError
    from rankscope.show.html.page import render

    for name in ("jinja2", "markupsafe"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'rankscope\[report\]'"):
        render(Page("t", "", (), ()))


def test_no_text_of_a_script_goes_over_lines() -> None:
    """Scripts are carried without their indents, which would change text in backquotes that goes over lines."""
    for path in some((Path(assets.__file__).parent / "static").glob("*.js")):
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            assert line.count("`") % 2 == 0, f"{path.name} line {number}"


def test_what_is_told_of_a_chart_of_queries_names_the_queries() -> None:
    columns = (
        Column("place", "count"),
        Column("difference", "value"),
        Column("outcome"),
        Column("query", queries=True),
    )
    rows = ((1, 0.5, "better", "q7"), (2, -0.25, "worse", "q3"))
    given = Chart("a", "By query", "ordered", columns, rows, x="place", y="difference", series="outcome", query="query")
    from rankscope.show.html.page import alt_of

    assert alt_of(given) == "By query. 2 values of difference, from −0.250 (worse, q3) to 0.500 (better, q7)"
    lift = Chart(
        "b",
        "Lift",
        "intervals",
        (Column("lift in percent", "value"), Column("metric")),
        ((15.34, "CTR"),),
        x="lift in percent",
        y="metric",
    )
    assert "15.3 (CTR)" in alt_of(lift)


def test_the_colours_of_runs_in_tables_are_those_of_charts() -> None:
    from rankscope.show.charts.theme import PALETTE
    from rankscope.show.html.assets import static

    written = dict(re.findall(r"\.of(\d)\{background:(#\w+)\}", static("tables.css")))
    assert written == {str(place): colour for place, colour in enumerate(PALETTE, start=1)}
