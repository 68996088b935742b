"""Contexts of questions: evidence by text against ids that are known, offsets, budgets, dialects of columns, and what is refused."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.cli import main
from rankscope.files.wide import wide_table
from rankscope.verbs.contexts.evidence import alike, normalise

ROW = {"question": "q", "contexts": ["Paris is a large city.", "It has the Eiffel Tower, built in 1889."], "reference_contexts": ["the Eiffel Tower, built in 1889"]}  # fmt: skip


def measured(row: dict[str, Any], measure: str, **options: Any) -> float:
    return rs.contexts([row], [measure], **options)[measure]


# --- a made corpus, chunked in three ways, whose evidence is known by its place


def corpus(seed: int) -> tuple[list[str], list[tuple[int, int, int]]]:
    """Documents of random words from a small vocabulary, and passages in them: document, first and last word."""
    chance = random.Random(seed)
    vocabulary = [f"w{n}" for n in range(400)]
    documents = [" ".join(chance.choices(vocabulary, k=300)) for _ in range(20)]
    spans = [(chance.randrange(20), start := chance.randrange(270), start + chance.randrange(8, 25)) for _ in range(60)]
    return documents, spans


def chunked(documents: list[str], size: int, step: int) -> list[tuple[int, int, int, str]]:
    out = []
    for n, document in enumerate(documents):
        words = document.split()
        out += [
            (n, at, min(at + size, len(words)), " ".join(words[at : at + size])) for at in range(0, len(words), step)
        ]
    return out


@pytest.mark.parametrize(("size", "step"), [(50, 50), (120, 120), (60, 40)], ids=["small", "large", "overlapping"])
def test_evidence_by_text_agrees_with_places_that_are_known(size: int, step: int) -> None:
    documents, spans = corpus(1)
    chunks, chance = chunked(documents, size, step), random.Random(2)
    rows, known = [], []
    for number, (document, first, last) in enumerate(spans):
        near = [chunk for chunk in chunks if chunk[0] == document and chunk[1] < last and first < chunk[2]]
        given = [*chance.sample(near, chance.randrange(len(near) + 1)), *chance.sample(chunks, 5)]
        words = documents[document].split()
        covered = {w for c in given if c[0] == document for w in range(max(c[1], first), min(c[2], last))}
        known.append(len(covered) / (last - first))
        rows.append({"id": str(number), "question": "q", "contexts": [c[3] for c in given], "reference_contexts": [" ".join(words[first:last])]})  # fmt: skip
    found = rs.contexts(rows, "EvidenceRecall", per_query=True)
    values = found.panels["EvidenceRecall"].values[0]
    clear = [
        i for i, share in enumerate(known) if share >= 0.95 or share <= 0.6
    ]  # runs of three lose words at the edges of chunks
    assert len(clear) > 40
    assert [values[i] for i in clear] == [float(known[i] >= 0.95) for i in clear]


def test_offsets_are_compared_if_both_sides_have_them() -> None:
    span = {"document": "d", "start": 100, "end": 200}
    contexts = [
        {"document": "d", "start": 0, "end": 150},
        {"document": "e", "start": 0, "end": 900},
        {"document": "d", "start": 150, "end": 190},
    ]
    row = {"question": "q", "contexts": contexts, "reference_contexts": [span], "lengths": [10, 20, 30]}
    assert measured(row, "EvidenceRecall@2") == 0.0  # 50 of 100 characters
    assert measured(row, "EvidenceRecall@3") == 1.0  # 90 of 100
    assert measured(row, "EvidenceRecall", threshold=0.95) == 0.0
    assert measured(row, "EvidenceRecall(tokens=59)") == 0.0  # the third does not fit
    assert measured(row, "EvidenceRecall(tokens=60)") == 1.0


def test_a_passage_may_be_spread_over_two_contexts() -> None:
    words = [f"x{n}" for n in range(20)]
    row = {
        "question": "q",
        "contexts": [" ".join(words[:10]), "other", " ".join(words[10:])],
        "evidence": [" ".join(words)],
    }
    assert [measured(row, f"EvidenceRecall@{k}") for k in (1, 2, 3)] == [0.0, 0.0, 1.0]
    assert measured(row, "RankedPrecision") == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert measured(row, "ContextPrecision") == pytest.approx(2 / 3)


def test_common_words_apart_are_no_evidence() -> None:
    row = {
        "question": "q",
        "contexts": ["tower in built 1889 eiffel of the a in"],
        "reference_contexts": ["the Eiffel Tower built in 1889"],
    }
    assert measured(row, "EvidenceRecall") == 0.0


def test_several_passages_may_all_be_needed() -> None:
    row = {**ROW, "reference_contexts": ["Paris is a large city", "nothing like this here"]}
    assert measured(row, "EvidenceRecall") == 0.5
    assert measured(row, "AllEvidence") == 0.0
    assert measured({**ROW, "reference_contexts": ["large city", "Eiffel Tower"]}, "AllEvidence") == 1.0


def test_answers_are_normalised_as_squad_does() -> None:
    assert normalise("The Eiffel-Tower, a tower!") == "eiffeltower tower"
    row = {
        "question": "q",
        "contexts": ["nothing", "the answer is: The Beatles!"],
        "answers": ["Rolling Stones", "beatles"],
    }
    assert [measured(row, f"AnswerInContext@{k}") for k in (1, 2)] == [0.0, 1.0]
    assert measured({**row, "answers": ["beat"]}, "AnswerInContext") == 0.0  # not inside a word


def test_evidence_in_the_middle_earns_less() -> None:
    other = ["foo bar baz"] * 5
    for place, weight in ((0, 1.0), (2, 1 - 0.5), (4, 1.0)):
        contexts = [*other[:place], "the Eiffel Tower was built", *other[place + 1 :]]
        assert measured(
            {"question": "q", "contexts": contexts, "evidence": ["Eiffel Tower was built"]}, "Placed"
        ) == pytest.approx(weight)


def test_what_was_said_before_is_redundant() -> None:
    row = {"question": "q", "contexts": ["a1 b1 c1 d1", "b1 c1 d1 e1"], "answers": ["e1"]}
    assert measured(row, "Redundancy") == pytest.approx(1 / 4)  # b1 c1 d1 again, of 2 + 2 runs of three


def test_recall_by_tokens_rises_and_counts_with_a_tokeniser() -> None:
    found = rs.contexts([ROW], budgets=[5, 100])
    assert [row.value for row in found.rows_of_budgets] == [0.0, 1.0]
    assert [row.spent for row in found.rows_of_budgets] == [5.0, 13.0]
    characters = rs.contexts([ROW], budgets=[30, 100], tokeniser=len)
    assert [row.value for row in characters.rows_of_budgets] == [0.0, 1.0]
    assert characters["Length"] == sum(map(len, ROW["contexts"]))


def test_unanswerable_questions_are_counted_apart() -> None:
    found = rs.contexts([ROW, {"question": "r", "contexts": ["one two", "three"]}])
    (nothing,) = found.nothing
    assert (nothing.questions, nothing.contexts, nothing.tokens) == (1, 2.0, 3.0)
    assert found["EvidenceRecall"] == 1.0


NAMES = {
    "Ragas": ("user_input", "retrieved_contexts", "reference_contexts", "reference"),
    "older Ragas": ("question", "contexts", "ground_truth_contexts", "ground_truth"),
    "DeepEval": ("input", "retrieval_context", "context", "expected_output"),
    "LlamaIndex": ("query", "retrieved_texts", "expected_texts", "reference_answer"),
    "LangChain": ("question", "source_documents", "evidence", "answer"),
}


@pytest.mark.parametrize("tool", NAMES)
@pytest.mark.parametrize("form", ["json", "jsonl", "parquet", "csv"])
def test_tables_of_other_tools_are_read_as_they_are(tool: str, form: str, tmp_path: Path) -> None:
    names = NAMES[tool]
    contexts: list[Any] = ROW["contexts"]  # type: ignore[assignment]
    if tool == "LangChain" and form != "csv":
        contexts = [{"page_content": text, "metadata": {"source": "d"}} for text in contexts]
    row = dict(zip(names, ("q", contexts, ROW["reference_contexts"], "1889"), strict=True))
    path = tmp_path / f"mine.{form}"
    if form == "parquet":
        pl.DataFrame([row]).write_parquet(path)
    elif form == "csv":
        cells = {key: json.dumps(one) if isinstance(one, list) else one for key, one in row.items()}
        pl.DataFrame([cells]).write_csv(path)
    else:
        path.write_text(json.dumps([row]) if form == "json" else json.dumps(row) + "\n")
    found = rs.contexts(path, ["EvidenceRecall", "AnswerInContext"])
    assert found.systems == ("mine",)
    assert (found["EvidenceRecall"], found["AnswerInContext"]) == (1.0, 1.0)


PYTHON_LISTS = {
    "of Python": """['Paris is a city.', "The tower's made of iron."]""",
    "of NumPy": """['Paris is a city.'\n "The tower's made of iron."]""",
    "of objects": """[{'text': 'Paris is a city.'}, {'text': "The tower's made of iron.", 'start': None}]""",
}


@pytest.mark.parametrize("cell", PYTHON_LISTS.values(), ids=PYTHON_LISTS)
def test_lists_that_ragas_and_pandas_write_into_csv_are_lists(cell: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    row = {
        "user_input": "q",
        "retrieved_contexts": cell,
        "reference_contexts": "['tower made of iron']",
        "lengths": "[4, 5.0]",
    }
    pl.DataFrame([row]).write_csv(path)
    found = rs.contexts(path, ["EvidenceRecall@1", "ContextPrecision", "Length"])
    assert [row.value for row in found.rows_of_systems] == [0.0, 0.5, 9.0]


def test_a_text_in_brackets_is_a_text() -> None:
    (question,) = wide_table([{"question": "q", "contexts": "[1] says the tower is of iron [2]"}]).questions
    assert [one.text for one in question.contexts] == ["[1] says the tower is of iron [2]"]


UNMEASURED = {
    "ids": ({"query": "q", "retrieved_ids": ["a", "b"], "expected_ids": ["b"]}, "a context has its id"),
    "spans": (
        {"question": "q", "contexts": [{"document": "d", "start": 0, "end": 9}], "evidence": [{"document": "d", "start": 1, "end": 9}]},
        "80% of its characters are in the spans",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("row", "match"), UNMEASURED.values(), ids=UNMEASURED)
def test_contexts_without_texts_have_no_tokens(row: dict[str, Any], match: str) -> None:
    found = rs.contexts([row, {"question": "r", "contexts": row.get("contexts", ["x"])}])
    assert found["EvidenceRecall"] == 1.0
    assert "Length" not in found.panels
    assert not found.curve
    assert "left out recall by tokens" in found.notes[-1]
    assert match in " ".join(found.legend.split())
    assert "runs of three" not in found.legend
    counted = rs.contexts([{**row, "lengths": [7] * len(row.get("contexts", "ab"))}], budgets=[7])
    assert "tokens: the column of lengths" in counted.legend
    assert [one.spent for one in counted.rows_of_budgets] == [7.0]


def test_ranked_precision_is_the_context_precision_of_ragas() -> None:
    """Useful at ranks 1 and 3 of 3: (1/1 + 2/3) / 2, however much evidence there is."""
    row = {"question": "q", "contexts": ["alpha beta gamma delta", "noise", "one two three four"], "evidence": ["alpha beta gamma delta", "one two three four", "never seen at all"]}  # fmt: skip
    assert measured(row, "RankedPrecision") == pytest.approx((1 + 2 / 3) / 2)


def test_two_systems_and_questions_that_one_lacks() -> None:
    found = rs.contexts({"a": [ROW], "b": [{**ROW, "contexts": ["nothing"]}]}, "EvidenceRecall")
    assert (found["a", "EvidenceRecall"], found["b", "EvidenceRecall"]) == (1.0, 0.0)


BAD: dict[str, tuple[Any, dict[str, Any], str]] = {
    "no contexts": ([{"question": "q"}], {}, "no column holds what was retrieved"),
    "neither evidence nor answers": ([{"question": "q", "contexts": ["x"]}], {}, "no question has evidence or answers"),
    "a budget without lengths": ([{"question": "q", "contexts": [{"document": "d", "start": 0, "end": 5}], "evidence": [{"document": "d", "start": 0, "end": 5}]}], {"budgets": [9]}, "add a column lengths"),
    "a budget for ids without lengths": ([{"query": "q", "retrieved_ids": ["a"], "expected_ids": ["a"]}], {"measures": "EvidenceRecall(tokens=9)"}, "add a column lengths"),
    "a list that cannot be read": ([{"question": "q", "contexts": "[Document(text='x')]", "answers": ["x"]}], {}, "not JSON or Python"),
    "lengths of other contexts": ([{**ROW, "lengths": [1]}], {}, "one whole number for each of 2 contexts"),
    "a span that ends before it starts": ([{"question": "q", "contexts": ["x"], "evidence": [{"document": "d", "start": 5, "end": 2}]}], {}, "is not inside its document"),
    "a span without an end": ([{"question": "q", "contexts": ["x"], "evidence": [{"document": "d", "start": 5}]}], {}, "needs start and end"),
    "a question twice": ([ROW, ROW], {}, "is there twice"),
    "a budget of nothing": ([ROW], {"budgets": [0]}, "whole numbers of at least 1"),
    "an impossible threshold": ([ROW], {"threshold": 1.5}, "above 0 and at most 1"),
    "an unknown measure": ([ROW], {"measures": "EvidenceRecal"}, "did you mean EvidenceRecall"),
    "a context that is a number": ([{"question": "q", "contexts": [3], "answers": ["x"]}], {}, "is not a passage"),
    "no row": ([], {}, "no"),
    "a span outside its document": ([{"question": "q", "contexts": [{"document": "d", "start": 0, "end": 50}], "answers": ["x"]}], {"docs_text": {"d": "short"}}, "is outside document 'd', of 5 characters"),
    "a span of a document without a text": ([{"question": "q", "contexts": [{"document": "e", "start": 0, "end": 5}], "answers": ["x"]}], {"docs_text": {"d": "short"}}, "it lacks the texts of every document"),
    "a text longer than its span": ([{"question": "q", "contexts": [{"text": "a long text", "start": 0, "end": 5}], "answers": ["x"]}], {}, "is shorter than its text of 11 characters"),
    "ids on one side only": ([{"question": "q", "retrieved_context_ids": ["a"], "reference_contexts": ["x"]}], {}, "nothing in common to match"),
    "ids of other contexts": ([{**ROW, "retrieved_context_ids": ["a"]}], {}, "give each text its id"),
    "a dialect without measures of contexts": ([ROW], {"dialect": "rectools"}, "dialect is one of"),
}  # fmt: skip


@pytest.mark.parametrize(("table", "options", "said"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line(table: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(rs.RankscopeError) as refused:
        rs.contexts(table, **options)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rag.jsonl"
    path.write_text(json.dumps(ROW) + "\n")
    assert (
        main(["contexts", str(path), "-m", "EvidenceRecall", "--budget", "5", "--budget", "50", "--format", "json"])
        == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert told["results"][0]["value"] == 1.0
    assert [row["value"] for row in told["by_tokens"]] == [0.0, 1.0]
    assert main(["contexts"]) == 2
    assert len(wide_table(path).questions) == 1


# --- ids, whole strings, documents: the matches and conventions of other tools


IDS = {"query": "q", "retrieved_ids": ["a", "b", "c", "d"], "expected_ids": ["d", "b", "x"]}
BY_ID = {
    "precision": ("llamaindex", "precision", 2 / 4),
    "recall": ("llamaindex", "recall", 2 / 3),
    "hit rate": ("llamaindex", "hit_rate", 1.0),
    "first hit": ("llamaindex", "mrr", 1 / 2),
    "ID-based precision of Ragas": ("ragas", "id_based_context_precision", 2 / 4),
    "ID-based recall of Ragas": ("ragas", "id_based_context_recall", 2 / 3),
}


@pytest.mark.parametrize(("dialect", "name", "expected"), BY_ID.values(), ids=BY_ID)
def test_tables_of_ids_are_scored_by_the_names_of_their_tools(dialect: str, name: str, expected: float) -> None:
    found = rs.contexts([IDS], name, dialect=dialect)
    assert [row.value for row in found.rows_of_systems] == [pytest.approx(expected)]
    assert any(name in note for note in found.notes)


def test_a_dialect_without_measures_has_all_that_can_be_computed() -> None:
    found = rs.contexts([IDS], dialect="ragas")
    assert "ContextPrecision(match='ids')" in found.panels
    assert "RankedPrecision(match='strings')" not in found.panels
    assert any("left out RankedPrecision(match='strings')" in note for note in found.notes)


def test_whole_strings_are_alike_by_the_edits_between_them() -> None:
    """Law: the bits of whole numbers give the distance of the table of all prefixes."""
    chance = random.Random(3)

    def distance(one: str, other: str) -> int:
        row = list(range(len(other) + 1))
        for i, letter in enumerate(one, 1):
            corner, row[0] = row[0], i
            for j, against in enumerate(other, 1):
                corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (letter != against))
        return row[-1]

    for _ in range(200):
        one, other = ("".join(chance.choices("abc ", k=chance.randrange(1, 90))) for _ in range(2))
        assert alike(one, other) == pytest.approx(1 - distance(one, other) / max(len(one), len(other)))
    assert (alike("", ""), alike("", "a")) == (1.0, 0.0)


def test_whole_strings_miss_a_passage_that_is_spread_over_chunks() -> None:
    words = [f"x{n}" for n in range(40)]
    row = {
        "question": "q",
        "contexts": [" ".join(words[:13]), " ".join(words[13:26]), " ".join(words[26:])],
        "evidence": [" ".join(words)],
    }
    assert measured(row, "EvidenceRecall") == 1.0
    assert measured(row, "EvidenceRecall(match='strings')") == 0.0
    assert measured(row, "RankedPrecision(match='strings')") == 0.0


def test_documents_are_a_level_of_their_own() -> None:
    contexts = [{"text": "nothing here", "document": "d1"}, {"text": "nor here", "document": "d3"}]
    row = {
        "question": "q",
        "contexts": contexts,
        "evidence": [{"text": "was built in 1889", "document": "d1"}, {"text": "of iron", "document": "d2"}],
    }
    assert measured(row, "EvidenceRecall") == 0.0
    assert measured(row, "DocumentRecall") == 1 / 2
    assert measured(row, "DocumentRecall@1") == 1 / 2


def test_spans_get_their_texts_from_documents() -> None:
    documents = {"d": "The Eiffel Tower was built in 1889. It is of iron."}
    row = {
        "question": "q",
        "contexts": [{"document": "d", "start": 0, "end": 20}, {"document": "d", "start": 20, "end": 35}],
        "evidence": [{"document": "d", "start": 4, "end": 34}],
        "answers": ["1889"],
    }
    found = rs.contexts(
        [row], ["EvidenceRecall@1", "EvidenceRecall@2", "AnswerInContext", "Length"], docs_text=documents
    )
    assert [row.value for row in found.rows_of_systems] == [0.0, 1.0, 1.0, 7.0]


class Document:
    """A document as LangChain has it."""

    def __init__(self, page_content: str, **metadata: Any) -> None:
        self.page_content, self.metadata = page_content, metadata


OTHER_FORMS: dict[str, dict[str, Any]] = {
    "nodes of LlamaIndex": {"query": "q", "retrieved": [{"node": {"id_": "n1", "text": "the Eiffel Tower", "start_char_idx": 0, "end_char_idx": 16}, "score": 0.5}], "expected_texts": ["Eiffel Tower"]},
    "a chain of LangChain": {"input": "q", "context": [Document("the Eiffel Tower", source="d")], "reference_contexts": ["Eiffel Tower"]},
    "documents of LangChain, written out": {"question": "q", "documents": [{"lc": 1, "type": "constructor", "kwargs": {"page_content": "the Eiffel Tower"}}], "evidence": ["Eiffel Tower"]},
    "a run of LangSmith": {"inputs": {"question": "q"}, "outputs": {"documents": [{"page_content": "the Eiffel Tower"}], "answer": "no"}, "reference_outputs": {"evidence": ["Eiffel Tower"], "answer": "Eiffel"}},
    "a data set of DeepEval": {"input": "q", "actualOutput": "no", "retrievalContext": ["the Eiffel Tower"], "context": ["Eiffel Tower"], "expectedOutput": "Eiffel"},
}  # fmt: skip


@pytest.mark.parametrize("row", OTHER_FORMS.values(), ids=OTHER_FORMS)
def test_objects_of_other_tools_are_read_as_they_are(row: dict[str, Any]) -> None:
    found = rs.contexts([row], ["EvidenceRecall"])
    assert found["EvidenceRecall"] == 1.0
    (question,) = wide_table([row]).questions
    assert question.question == "q"
    assert question.answers in ([], ["Eiffel"])


def test_a_dialect_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, texts = tmp_path / "rag.json", tmp_path / "texts.csv"
    path.write_text(json.dumps([IDS]))
    assert main(["contexts", str(path), "--dialect", "llamaindex", "--format", "csv"]) == 0
    assert "FirstUseful(match='ids'),0.5" in capsys.readouterr().out
    texts.write_text("doc_id,text\nd,short\n")
    path.write_text(
        json.dumps([{"question": "q", "contexts": [{"document": "d", "start": 0, "end": 90}], "answers": ["x"]}])
    )
    assert main(["contexts", str(path), "--docs-text", str(texts)]) == 2
    assert "the span 0 to 90 is outside document 'd', of 5 characters" in capsys.readouterr().err


def test_the_legend_names_the_intervals_that_are_there() -> None:
    """Shares of questions have Wilson's interval, for two of two from 0.342, and other means t."""
    found = rs.contexts([{**ROW, "answer": "1889"}, {**ROW, "question": "other", "answer": "1889"}])
    by_measure = {row.measure: row.bounds for row in found.rows_of_systems}
    assert (by_measure["AnswerInContext"].method, round(by_measure["AnswerInContext"].lower, 3)) == ("wilson", 0.342)
    assert "Wilson's for shares of questions, else t" in found.to_text()
