"""Evidence by text in the contexts of questions, beside one pass of the normalisation over the same texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.measure import Answer, Call, Trial
from benchmarks.scope import Scope

CHUNKS, WORDS = 20, 100  # of a question, of a chunk
Work = Callable[[], Answer]


def trials(scope: Scope) -> Iterator[Trial]:
    """Recall of evidence for 1,000 to 10,000 questions with 20 chunks each."""
    for questions in scope.sizes(1_000, 10_000):
        arguments = {"questions": questions}
        yield Trial(
            f"contexts/evidence/{questions * CHUNKS}",
            f"evidence by text, {questions:,} questions × {CHUNKS} chunks",
            questions * CHUNKS,
            "chunks",
            {
                "one pass of the normalisation": Call("benchmarks.contexts:normalisation", arguments),
                "rankscope": Call("benchmarks.contexts:evidence", arguments),
            },
            "contexts/evidence",
            first="rankscope",
            floors=("one pass of the normalisation",),
        )


def table(questions: int, seed: int = 1) -> list[dict[str, Any]]:
    """Chunks of random words, of which every fifth is an article or short, and two passages out of them."""
    import random

    chance = random.Random(seed)  # noqa: S311 - texts of a benchmark
    vocabulary = [f"word{n}" if n % 5 else ("the", "of", "an")[n % 3] for n in range(5_000)]
    rows = []
    for number in range(questions):
        chunks = [" ".join(chance.choices(vocabulary, k=WORDS)).capitalize() + "." for _ in range(CHUNKS)]
        passages = []
        for chunk in chance.sample(chunks, 2):
            words, first = chunk.split(), chance.randrange(WORDS - 25)
            passages.append(" ".join(words[first : first + 25]))
        rows.append({"id": number, "question": "q", "contexts": chunks, "reference_contexts": passages})
    return rows


def normalisation(questions: int) -> Work:
    """Every text once."""
    from rankscope.verbs.contexts.evidence import normalise

    texts = [text for row in table(questions) for text in (*row["contexts"], *row["reference_contexts"])]

    def work() -> Answer:
        for text in texts:
            normalise(text)
        return {}

    return work


def evidence(questions: int) -> Work:
    """The whole verb, with one measure and no curve of tokens."""
    import rankscope as rs

    rows = table(questions)
    return lambda: {"recall": rs.contexts(rows, ["EvidenceRecall"], budgets=[1_000])["EvidenceRecall"]}
