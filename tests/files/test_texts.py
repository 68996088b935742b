"""Texts by their ids, from every kind of file; and what cannot be read, in one line."""

from __future__ import annotations

import contextlib
import gzip
import html
import json
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.files.conftest import zstd

from rankscope.errors import InputError
from rankscope.files import text_files
from rankscope.files.texts import Noun, texts_of

ROWS = {"01": "first text", "1": 'a "second", one', "d-ü": "third · ünï"}


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def lines(rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


FORMATS = {
    "plain.tsv": "".join(f"{k}\t{v}\n" for k, v in ROWS.items()),
    "windows.tsv": "\ufeff" + "".join(f"{k}\t{v}\r\n" for k, v in ROWS.items()),
    "header.tsv": "doc_id\ttext\n" + "".join(f"{k}\t{v}\n" for k, v in ROWS.items()),
    "turned.tsv": "text\turl\tid\n" + "".join(f"{v}\thttp\t{k}\n" for k, v in ROWS.items()),
    "comma.csv": "id,text\n" + "".join('{},"{}"\n'.format(k, v.replace('"', '""')) for k, v in ROWS.items()),
    "bare.csv": "".join('{},"{}"\n'.format(k, v.replace('"', '""')) for k, v in ROWS.items()),
    "index.csv": ",text\n" + "".join('{},"{}"\n'.format(k, v.replace('"', '""')) for k, v in ROWS.items()),
    "semicolon.csv": "docno;body\n" + "".join('{};"{}"\n'.format(k, v.replace('"', '""')) for k, v in ROWS.items()),
    "beir.jsonl": lines({"_id": k, "title": "", "text": v} for k, v in ROWS.items()),
    "anserini.jsonl": lines({"contents": v, "id": k} for k, v in ROWS.items()),
    "passages": lines({"pid": k, "passage": v} for k, v in ROWS.items()),
    "object.json": json.dumps(ROWS),
    "pretty.json": json.dumps(ROWS, indent=2),
    "beir.json": json.dumps({k: {"text": v, "title": ""} for k, v in ROWS.items()}, indent=1),
    "list.json": json.dumps([{"docno": k, "body": v} for k, v in ROWS.items()]),
    "docs.trec": "".join(f"<DOC>\n<DOCNO> {k} </DOCNO>\n<TEXT>\n{v}\n</TEXT>\n</DOC>\n" for k, v in ROWS.items()),
    "topics.trec": "".join(
        f"<top>\n\n<num> Number: {k}\n<title> {v}\n\n<narr> Narrative:\nnot this\n</top>\n" for k, v in ROWS.items()
    ),
    "topics.xml": "<?xml version='1.0'?>\n<topics>\n"
    + "".join(f'<topic number="{k}">\n <query>{v}</query>\n <narrative>no</narrative></topic>' for k, v in ROWS.items())
    + "</topics>",
    "smart": "".join(f".I {k}\n.T\n{v}\n.A\nnobody\n" for k, v in ROWS.items()),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
def test_every_format_gives_the_same(name: str, packed: str, tmp_path: Path) -> None:
    data = FORMATS[name].encode()
    pack: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".zst": zstd}
    path = written(tmp_path, name + packed, pack[packed](data))
    assert texts_of(path).by_id == ROWS
    some = texts_of(path, ["1", "no"])
    assert some.by_id == {"1": ROWS["1"]}
    assert "1 of 2 documents shown has one" in some.notes[0]


@pytest.mark.parametrize("source", [ROWS, pl.DataFrame({"doc_id": list(ROWS), "text": list(ROWS.values())})])
def test_what_is_in_memory(source: Any) -> None:
    assert texts_of(source).by_id == ROWS
    assert texts_of(source, {"01"}).by_id == {"01": "first text"}
    assert texts_of(texts_of(source)).by_id == ROWS


def test_parquet(tmp_path: Path) -> None:
    frame = pl.DataFrame({"_id": [7, 8], "title": ["t", None], "text": ["x", "y"]})
    frame.write_parquet(tmp_path / "corpus.parquet")
    found = texts_of(tmp_path / "corpus.parquet", ["7", "8"])
    assert found.by_id == {"7": "t · x", "8": "y"}
    assert texts_of(frame).by_id == found.by_id


# --- which column is which -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "noun", "expected"),
    [
        ({"_id": "1", "title": "T", "text": "x"}, "document", {"1": "T · x"}),
        ({"_id": "1", "title": "Tide", "text": "Tide tables."}, "document", {"1": "Tide tables."}),
        ({"qid": "q", "query": "what"}, "query", {"q": "what"}),
        ({"query": "q", "text": "what"}, "query", {"q": "what"}),
        ({"query_id": "q", "doc_id": "d", "text": "x"}, "document", {"d": "x"}),
        ({"query_id": "q", "doc_id": "d", "text": "x"}, "query", {"q": "x"}),
        ({"id": 3, "question": "why"}, "query", {"3": "why"}),
        ({"topic": "9", "title": "why"}, "query", {"9": "why"}),
        ({"doc_id": "d", "body": ["a", "b"]}, "document", {"d": "a b"}),
        ({"id": "d", "text": None}, "document", {"d": ""}),
        ({"ID": "d", "Text": "x"}, "document", {"d": "x"}),
        ({"documentId": "d", "id": "row 1", "Text": "x"}, "document", {"d": "x"}),
        ({"Product ID": "d", "title": "x"}, "document", {"d": "x"}),
        ({"queryId": "q", "queryText": "what"}, "query", {"q": "what"}),
        ({"id": "row 1", "_id": "d", "text": "x"}, "document", {"d": "x"}),
    ],
)
def test_usual_names(row: dict[str, Any], noun: Noun, expected: dict[str, str], tmp_path: Path) -> None:
    path = written(tmp_path, "x.jsonl", lines([row]))
    assert texts_of(path, noun=noun).by_id == expected
    assert texts_of(path, list(expected), noun).by_id == expected


def test_ids_hidden_in_texts_are_none(tmp_path: Path) -> None:
    rows = [
        {"_id": "a", "text": 'says "_id": "b"'},
        {"meta": {"_id": "c"}, "_id": "b", "text": "true b"},
        {"_id": 'q"uote\\', "text": "odd"},
    ]
    path = written(tmp_path, "x.jsonl", lines(rows))
    assert texts_of(path, ["b"]).by_id == {"b": "true b"}
    assert texts_of(path, ['q"uote\\', "c"]).by_id == {'q"uote\\': "odd"}


def test_the_first_text_of_an_id_counts(tmp_path: Path) -> None:
    found = texts_of(written(tmp_path, "x.tsv", "a\tone\na\ttwo\nb\tthree\n"))
    assert found.by_id == {"a": "one", "b": "three"}
    assert found.notes[1] == "1 text has an id that stood before: the first is taken"


def test_quotes_of_tsv_are_text(tmp_path: Path) -> None:
    found = texts_of(written(tmp_path, "x.tsv", 'a\tan "open quote\nb\t"all ""of"" it"\nc\t"one" and "two"\n'))
    assert found.by_id == {"a": 'an "open quote', "b": 'all "of" it', "c": '"one" and "two"'}


def test_cells_of_csv_may_be_long_and_broken(tmp_path: Path) -> None:
    long = "word " * 60_000
    found = texts_of(written(tmp_path, "x.csv", f'id,text\na,"two\nlines"\nb,{long}\n'))
    assert found.by_id == {"a": "two lines", "b": long.strip()}


def test_classic_topics(tmp_path: Path) -> None:
    text = (
        "<top>\n<head> Tipster Topic\n<num> Number: 051\n<dom> Domain: x\n<title> Topic: Airbus &amp; Co\n"
        "<desc> Description:\nWhat\nabout it?\n<narr> Narrative: no\n</top>\n"
        "<TOP><NUM>52<NUM><TITLE>Sanctions</TITLE></TOP>"
    )
    assert texts_of(written(tmp_path, "t", text)).by_id == {"051": "Airbus & Co · What about it?", "52": "Sanctions"}


def test_documents_of_trec(tmp_path: Path) -> None:
    text = (
        "<DOC>\n<DOCID>7</DOCID>\n<DOCNO>FT-1</DOCNO>\n<HEADLINE>Rates</HEADLINE><DATE>0</DATE>\n<TEXT>\n<P>Up</P> again.\n</TEXT>\n</DOC>\n"
        "<DOC><DOCNO>W</DOCNO><DOCHDR>http header</DOCHDR><html><script>evil()</script><b>bold</b> page</html></DOC>\n"
        "<DOC><DOCID>only</DOCID>words</DOC>"
    )
    found = texts_of(written(tmp_path, "t", text), ["FT-1", "W", "only"])
    assert found.by_id == {"FT-1": "Rates · Up again.", "W": "bold page", "only": "words"}


def test_comments_hide_topics(tmp_path: Path) -> None:
    text = '<topics><!-- <topic number="1"><query>old</query></topic> --><topic number="2"><query><![CDATA[a < b]]></query></topic></topics>'
    assert texts_of(written(tmp_path, "t.xml", text)).by_id == {"2": "a < b"}


def test_records_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "BLOCK", 7)
    assert texts_of(written(tmp_path, "t", FORMATS["docs.trec"])).by_id == ROWS
    broken = FORMATS["docs.trec"] + "\n<DOC>\n<DOCNO>x</DOCNO>"
    with pytest.raises(InputError, match="line 20: <DOC> is never closed"):
        texts_of(written(tmp_path, "t", broken))


# --- hostile and broken ----------------------------------------------------------------------------------------


def test_entities_are_never_expanded(tmp_path: Path) -> None:
    secret = written(tmp_path, "secret", "the secret")
    entities = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    text = (
        f'<?xml version="1.0"?><!DOCTYPE topics [<!ENTITY l0 "lol">{entities}<!ENTITY x SYSTEM "file://{secret}">]>'
        '<topics><topic number="1"><query>&l9; &x; &lt;b&gt;</query></topic></topics>'
    )
    assert texts_of(written(tmp_path, "t.xml", text)).by_id == {"1": "&l9; &x; <b>"}


NEVER_CLOSED = (
    "<![CDATA[", "<!--", "<script>", "<script></style>", "<style>", "<dochdr>", "</script ", "<title>", "<text>", "<docno>x",
    "<num>", "<", "<a ", "&", "&#9", " ", "<h>a",
)  # fmt: skip


@pytest.mark.parametrize(
    "mark", [pytest.param(mark, id=f"{mark.strip() or 'blank'} again and again") for mark in NEVER_CLOSED]
)
@pytest.mark.parametrize("record", [b"<DOC><DOCNO>1</DOCNO>%s</DOC>", b"<top><num>1<title>%s</top>", b"<DOC><DOCNO>%s</DOCNO><DOCNO>1</DOCNO></DOC>"], ids=["in a document", "in a topic", "in an id"])  # fmt: skip
def test_marks_that_nothing_closes(mark: str, record: bytes, tmp_path: Path) -> None:
    """Twenty thousand of them give the one text that there is, or one line: looking for the end of each would take minutes."""
    path = written(tmp_path, "texts.trec", record % (mark.encode() * 20_000))
    found: list[str] = []
    with contextlib.suppress(InputError):  # of some an id cannot be told
        found = list(texts_of(path).by_id)
    assert len(found) <= 1


def test_blanks_in_an_id_are_read_in_one_pass(tmp_path: Path) -> None:
    path = written(tmp_path, "t", "<top><num>" + " " * 20_000 + ">\n<num> Number: 7 <title>x</top>")
    assert texts_of(path).by_id == {"7": "x"}


PARTS = (
    "<!--", "-->", "<script x>", "</script >", "<STYLE>", "</style>", "<![CDATA[", "]]>", "<title>", "</TITLE>", "<text a>",
    "</text>", "<docno>", "</docno>", "<b>", "<", ">", "&lt;", "a", " ", "<!-->",
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PARTS)))
def test_what_marks_enclose(marks: list[str]) -> None:
    """By the shortest pattern that says it, which takes too long where many marks are never closed."""
    text = "".join(marks)
    shown = re.sub(r"(?is)<!--.*?-->|<(script|style|dochdr)\b[^<>]*>.*?</\1\s*>", " ", text)
    shown = re.sub(r"(?s)<!\[CDATA\[(.*?)\]\]>", lambda found: html.escape(found[1]), shown)
    assert text_files._shown(text) == shown
    assert text_files._inside(text, "title") == " ".join(re.findall(r"(?is)<title(?:\s[^<>]*)?>(.*?)</title\s*>", text))


def test_a_comment_across_blocks_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "BLOCK", 1 << 10)
    path = written(tmp_path, "t", "<!--" + "<DOC>\n" * 200_000 + "-->\n" + FORMATS["docs.trec"] + "<DOC>")
    tracemalloc.start()
    with pytest.raises(InputError, match=r"line 200,0\d\d: <DOC> is never closed"):
        texts_of(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 500_000  # of a file of 1.2 MB


def test_a_number_of_thousands_of_digits_is_no_character(tmp_path: Path) -> None:
    digits = "9" * 5_000
    path = written(tmp_path, "t", f"<top><num>1<title>&#65; &#{digits}; &#x{digits};&amp;</top>")
    assert texts_of(path).by_id == {"1": f"A &#{digits}; \ufffd&"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        pytest.param("x.jsonl", '{"_id": "a", "text": "x"}\n{"_id": "b", "te\n', r"x.jsonl line 2: not a JSON object", id="half an object in JSON lines"),
        pytest.param("x.jsonl", '{"_id": "a", "text": "x"}\n{"text": "y"}\n', r"x.jsonl line 2: no id", id="no id in JSON lines"),
        pytest.param("x.jsonl", '{"_id": "a", "text": "x"}\n{"_id": 1.5, "text": "y"}\n', r"line 2: 1.5 is not an id", id="a fraction as id"),
        pytest.param("x.jsonl", '{"_id": "a", "words": "x"}\n{"_id": "b", "words": "y"}\n', r"line 1: no id and text among the keys '_id' and 'words'", id="unknown keys"),
        pytest.param("x.json", '{"a": "x",', r"x.json line 1: not JSON", id="half an object in JSON"),
        pytest.param("x.json", '{"a": 5}', r"5 is not a text", id="a number as text"),
        pytest.param("x.json", "[1, 2]", r"entry 1: 1 has no id and text", id="a list of numbers"),
        pytest.param("x.tsv", "a\tone\njust text\n", r"x.tsv line 2: 'just text' has too few columns: each line is an id, a tab and a text", id="one column in TSV"),
        pytest.param("x.tsv", "a\tone\n\ttwo\n", r"x.tsv line 2: no id", id="an empty id in TSV"),
        pytest.param("x.csv", 'id,text\na,"open\n', r"x.csv line 2: .*a quote within a text", id="an open quote in CSV"),
        pytest.param("x.csv", "id,text,more\na,b\n", r"x.csv line 2: .* too few columns", id="a short line in CSV"),
        pytest.param("x.txt", "just some words\n", r"x.txt line 1: 'just some words' is not an id with a text; texts are TSV or CSV", id="words alone"),
        pytest.param("x.xml", '<topics><topic number="1"><query>a</query>\n<topic number="2"></topic></topics>', r"line 1: <topic> is never closed", id="an open topic"),
        pytest.param("x.xml", "<topics>\n<topic><query>a</query></topic></topics>", r"line 2: a <topic> without an id", id="a topic without an id"),
        pytest.param("x.xml", "<html><body>hello</body></html>", r"begins with '<html>.*holds no <top>, <topic> or <DOC>", id="a web page"),
        pytest.param("x.trec", "<DOC>\n<DOCNO>1</DOCNO>a</DOC>\n<DOC>\nno id</DOC>", r"line 3: a <doc> without an id; a document has its id in <DOCNO>", id="a document without an id"),
        pytest.param("x.trec", "<DOC>\n<DOCNO>d1</DOCNO>one\n</DOC>\n<!-- note\n<DOC>\n<DOCNO>d2</DOCNO>two\n</DOC>\n", r"line 4: a comment \(<!--\) after record 1 is never closed, so that it hides all that follows: close it with -->", id="an open comment between documents"),
        pytest.param("x.trec", "<!-- a\nb\n<top><num>1</num></top>\n", r"line 1: a comment \(<!--\) before the first record is never closed", id="an open comment before all topics"),
        pytest.param("x.trec", "<top>\n<num>1\n<title>t\n", r"line 1: <top> is never closed by </top>; is the file cut off", id="an open top"),
        pytest.param("x.tsv", "", r"the file is empty", id="an empty file"),
        pytest.param("x.tsv.gz", gzip.compress(b"a\tb\n" * 1000)[:-20], r"ends too early", id="a cut gzip file"),
        pytest.param("x.tsv", b"\xff\xfea\x00", r"UTF-16", id="UTF-16"),
    ],
)  # fmt: skip
def test_what_cannot_be_read(name: str, content: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message) as caught:
        texts_of(written(tmp_path, name, content))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "source", [3, None, pl.Series(["a"]), {"a": 3}, {"a": {"x": "y"}}, [1], pl.DataFrame({"a": [1]})]
)
def test_what_is_no_source(source: Any) -> None:
    with pytest.raises(InputError):
        texts_of(source)


def test_the_file_of_something_else(tmp_path: Path) -> None:
    path = written(tmp_path, "queries.tsv", "q1\twhat\nq2\twhy\n")
    with pytest.raises(
        InputError,
        match=r"queries.tsv: it lacks the texts of every document .*'q1' and 'q2'.*the documents are 'd1' and 'd2'",
    ):
        texts_of(path, ["d1", "d2"])
    with pytest.raises(InputError, match=r"'1'.*'01'"):
        texts_of({"1": "x"}, ["01"])
    assert texts_of(path, []).by_id == {}


def test_odd_bytes_and_half_characters(tmp_path: Path) -> None:
    found = texts_of(written(tmp_path, "x.tsv", b"a\tcaf\xe9\nb\tfine\n"))
    assert found.by_id["a"] == "caf\ufffd"
    assert any("not UTF-8" in note for note in found.notes)
    half = texts_of(written(tmp_path, "x.jsonl", '{"_id": "a", "text": "x\\ud800y \\u0000"}\n'))
    half.by_id["a"].encode()


# --- real files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "many", "one", "begins"),
    [
        ("trec_covid/topics.xml", 30, "1", "coronavirus origin · what is the origin of COVID-19"),
        ("vaswani/query-text.trec", 93, "1", "MEASUREMENT OF DIELECTRIC CONSTANT"),
        ("vaswani/doc-text.trec", 11_429, "11429", "pattern detection and recognition"),
        ("cacm/topics.cacm.txt", 64, "1", "What articles exist which deal with TSS (Time"),
        ("cranfield/cran.qry", 225, "001", "what similarity laws must be obeyed"),
        ("cranfield/cran.all.1400", 1400, "1400", ""),
    ],
    ids=[
        "TREC-COVID topics",
        "Vaswani queries",
        "Vaswani documents",
        "CACM queries",
        "Cranfield queries",
        "Cranfield documents",
    ],
)
def test_real_files(path: str, many: int, one: str, begins: str, shared_data: Callable[[str], Path]) -> None:
    found = texts_of(shared_data(path))
    assert len(found.by_id) == many
    assert found.by_id[one].startswith(begins)
    assert found.source.sha256 is not None
    assert len(found.source.sha256()) == 64
    alone = texts_of(shared_data(path), [one])
    assert alone.by_id == {one: found.by_id[one]}


def test_the_demo() -> None:
    import rankscope

    folder = Path(rankscope.__file__).parent / "demo"
    found = texts_of(folder / "docs.jsonl.gz", ["abc.ABC"])
    assert found.by_id["abc.ABC"].startswith("abc.ABC (class) · Helper class")
    assert found.notes[0].endswith("docs.jsonl.gz as JSONL texts: 1 of 1 document shown has one")
    assert len(texts_of(folder / "queries.tsv", noun="query").by_id) > 50
