"""What the fuzzer found, in words: a file, and what is due of it."""

from __future__ import annotations

import gzip
from typing import NamedTuple

Rows = list[tuple[str, str, float]]


class Case(NamedTuple):
    """A file to be read as a run or as qrels: ``due`` are its rows, or None where it must be refused, ``line`` where the fault stands."""

    words: str
    what: str
    name: str
    data: bytes
    due: Rows | None = None
    line: int | None = None


CASES = [
    Case(
        "a row with a field too many in a column that is not used",
        "qrels",
        "q.csv",
        b"query_id,doc_id,price,grade\nq1,d1,5,1\nq1,d2,1,200,2\n",
        None,
        3,
    ),
    Case(
        "a row with a field too few, in a column that is not used",
        "run",
        "a.tsv",
        b"qid\tdocno\tscore\tnote\nq2\td1\t9\tx\nq2\td2\t8\n",
        None,
        3,
    ),
    Case(
        "a row of nothing but separators", "qrels", "q.csv", b"qid,docid,rel,note\nq2,d3,1,\n,\n", [("q2", "d3", 1.0)]
    ),
    Case("a quote within a quoted cell", "run", "a.csv", b'qid,docid,score\n"q1","d2","1"6"6"\n'),
    Case("a quoted cell and more behind it", "run", "a.csv", b'qid,docid,score\n""a";b",d1,9\nq,d2,8\n'),
    Case("a quote within a cell without quotes", "run", "a.csv", b'qid,docid,score\nq1,N"1"N,9\nq1,d2,8\n'),
    Case(
        "quotes around every cell, and a quote written twice",
        "run",
        "a.csv",
        b'"qid","docid","score"\n"the ""best""","a, b","2"\n',
        [('the "best"', "a, b", 2.0)],
    ),
    Case(
        "a line break in the subtopic",
        "qrels",
        "q.csv",
        b'qid,docid,subtopic,rel\nq1,d1,1,2\nq1,d2,"1\r\n",1\n',
        None,
        3,
    ),
    Case(
        "a document of a list that became a float",
        "run",
        "a.json",
        b'{"q1": ["d1", 1e5, 7.0]}',
        [("q1", "d1", -1.0), ("q1", "100000", -2.0), ("q1", "7", -3.0)],
    ),
    Case("a document of a list that is a fraction", "run", "a.json", b'{"q1": ["d1", 1.5]}'),
    Case(
        "a row without a query beside one with a field too many",
        "qrels",
        "q.csv",
        b"query_id,doc_id,grade,note\n,d2,1,b\nq1,d1,1,b,c\n",
        None,
        2,
    ),
    Case(
        "two carriage returns at the ends of lines",
        "qrels",
        "q.csv",
        b"qid,docid,rel\r\r\nq1,d1,1\r\r\nq1,d2,1,5\r\r\n",
        None,
        3,
    ),
    Case(
        "a blank line before the header, and a row too wide",
        "run",
        "a.tsv",
        b"\nqid\tdocno\tscore\nq\td\t1\nx\tx\tx\tx\n",
        None,
        4,
    ),
    Case(
        "a byte order mark before a quoted name",
        "run",
        "a.tsv",
        b'\xef\xbb\xbf"qid"\tdocno\tscore\n1\td\t5\n',
        [("1", "d", 5.0)],
    ),
    Case("text that is not UTF-8 in a name that is not used", "qrels", "q.csv", b"qid,docid,rel,na\xefme\nq1,d,1,x\n"),
    Case("text that is not UTF-8 in a comment", "run", "a.txt", b"# n\xe9ote\n301\td1\t1\n"),
    Case("an id with a space", "run", "a.run", b"q2 Q0 d2 1 3 t\nq2 Q0 my doc 2 2 t\nq2 Q0 d4 3 1 t\n", None, 2),
    Case("an id with a space in qrels", "qrels", "q.txt", b"q2 0 d2 1\nq2 0 my doc 2\nq2 0 d4 1\n", None, 2),
    Case(
        "a seventh column behind six sound ones",
        "run",
        "a.run",
        b"q2 Q0 d2 1 3 t\nq2 Q0 d3 2 2 t more\nq2 Q0 d4 3 1 t\n",
        [("q2", "d2", 3.0), ("q2", "d3", 2.0), ("q2", "d4", 1.0)],
    ),
    Case(
        "a form feed between columns",
        "run",
        "a.run",
        b"q1\tQ0\td1\t1\t9\tt\nq1\tQ0\tab\x0c\t2\t8\tt\n",
        [("q1", "d1", 9.0), ("q1", "ab", 8.0)],
    ),
    Case(
        "a blank and a tab between two columns of qrels",
        "qrels",
        "q.txt",
        b"q 0 d3 1\nq \t0 d1 0.5\n",
        [("q", "d3", 1.0), ("q", "d1", 0.5)],
    ),
    Case("ranks that do not count, the last line without a line feed", "run", "a.txt", b"1 d3 1\nq2 x 1\n1 d4 7"),
    Case("a rank larger than any whole number", "run", "a.txt", b"q1 d1 1\nq1 d2 2\nq1 d3 9223372036854775808\n"),
    Case(
        "a key twice in a line of JSON",
        "run",
        "a.jsonl",
        b'{"qid": "q", "docid": "d", "score": 1}\n{"qid": "q", "docid": "e", "docid": "f", "score": 2}\n',
        None,
        2,
    ),
    Case(
        "half of a surrogate pair in a line of JSON",
        "run",
        "a.jsonl",
        b'{"qid": "q", "docid": "\\ud800", "score": 1}\n{"qid": "q", "docid": "d", "score": 2}\n',
        None,
        1,
    ),
    Case("half of a surrogate pair in an object", "qrels", "q.json", b'{"q": {"\\ud83d": 1, "d": 0}}'),
    Case(
        "both halves of a surrogate pair",
        "qrels",
        "q.json",
        b'{"q": {"\\ud83d\\ude00": 1}}',
        [("q", "\U0001f600", 1.0)],
    ),
    Case("a number with an underscore in JSON", "run", "a.json", b'{"q": {"d": "1_000", "e": 2}}'),
    Case(
        "a document twice, with grades by subtopic",
        "qrels",
        "q.json",
        b'{"q": {"d": {"s": 4}, "d": {"s": 3}, "e": {"s": 0}}}',
        [("q", "d", 4.0), ("q", "d", 3.0), ("q", "e", 0.0)],
    ),
    Case("grades nested a level too deep", "qrels", "q.json", b'{"q": {"d": {"s": {"x": 1}}, "e": {"s": 1}}}'),
    Case(
        "a byte order mark behind the header",
        "qrels",
        "q.csv",
        b"qid,docid,rel\n\xef\xbb\xbf1,d3,1\n",
        [("\ufeff1", "d3", 1.0)],
    ),
    Case("a quote within a name of the header", "qrels", "q.csv", b'qid,docid,rel,sub""topic\nq1,d1,1,2\n', None, 1),
    Case(
        "a list for a document, beside grades by subtopic",
        "qrels",
        "q.json",
        b'{"q": ["a", ["x"]], "p": {"d": {"s": 1}}}',
        None,
    ),
    Case(
        "a blank line of a return and a line feed before the header of a packed file",
        "run",
        "a.csv.gz",
        gzip.compress(b"\r\nqid,docid,score\nq1,d1,9\nq1,d2,8\n"),
        [("q1", "d1", 9.0), ("q1", "d2", 8.0)],
    ),
    Case(
        "blank lines before the header of a packed file, and a row too wide",
        "qrels",
        "q.tsv.gz",
        gzip.compress(b'\n\r\n\n"qid"\tdocid\trel\nq1\td1\t2\nq1\td2\t1\t1\n'),
        None,
        6,
    ),
    Case(
        "a line of a run within another, behind a carriage return",
        "run",
        "a.run",
        b"q1\tQ0\td1\t1\t9\tt\rq1\tQ0\td2\t2\t8\tt\n",
        None,
        1,
    ),
    Case(
        "a line of qrels within another, behind a carriage return",
        "qrels",
        "q.txt",
        b"q1 0 d1 1\nq1 0 d2 2\rq1 0 d3 1\nq1 0 d4 0\n",
        None,
        2,
    ),
    Case(
        "a carriage return and a column more in an MS MARCO run",
        "run",
        "a.txt",
        b"q1 d2 1\r\nq1 d3 2\r\nq1 d1 3\r --1\n",
        None,
        3,
    ),
    Case(
        "a carriage return between two columns",
        "run",
        "a.run",
        b"q1 Q0 d1 1 9 t\nq1 Q0\rd2 2 8 t\r \r\n",
        [("q1", "d1", 9.0), ("q1", "d2", 8.0)],
    ),
    Case("a row of separators and a blank", "run", "a.csv", b"score,docid,qid\n,, \n9,d1,q1\n", [("q1", "d1", 9.0)]),
    Case(
        "a column too many in a line of prels, and one too few in another",
        "qrels",
        "q.txt",
        b"q1\td1\t1\t1\t0.25\nq1\td2\t0.5\tnan\t1\t0.25\nq1\td3\t1\t1\t0.5\nq1\td4\t1\t0.5\n",
        None,
        2,
    ),
    Case(
        "half of a surrogate pair in a rank",
        "run",
        "a.jsonl",
        b'{"qid": "q", "docid": "d", "score": 1, "rank": "1"}\n{"qid": "q", "docid": "e", "score": 1, "rank": "2\\ud800"}\n',
        None,
        2,
    ),
    Case(
        "a document without a grade beside one of grade 0",
        "qrels",
        "q.json",
        b'{"q": {"d2": {}, "d3": 0}}',
        [("q", "d3", 0.0)],
    ),
    Case(
        "half of a surrogate pair in a document without a grade",
        "qrels",
        "q.json",
        b'{"q": {"d1": {"s": 0}, "d2\\udc00": {}}}',
        None,
    ),
]
