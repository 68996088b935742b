"""Tools of search and of retrieval for language models."""

from __future__ import annotations

from rankscope.dialects.base import Convention, Dialect, Says

RETRIEVAL: tuple[Dialect, ...] = (
    Dialect(
        "trec_eval",
        "trec_eval",
        "NIST's trec_eval 10 with -c: every judged query counts",
        {"nDCG": Says("nDCG"), "AP": Says("AP"), "P": Says("P"), "R": Says("R"), "RR": Says("RR")},
        version="10.0",
    ),
    Dialect(
        "mlflow",
        "MLflow",
        "mlflow.metrics.ndcg_at_k, precision_at_k, recall_at_k",
        {
            "nDCG": Says(
                "nDCG(gain='binary', ideal='judged_at_returned')",
                "ideal stops at the number of documents returned",
            ),
        },
        convention=Convention(ties="input"),
    ),
)
