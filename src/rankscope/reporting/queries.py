"""Every query to look into: rankings side by side, document by document."""

from __future__ import annotations

from rankscope.blocks import Section
from rankscope.reporting.explorer.rankings import explorer_of
from rankscope.reporting.subject import Subject


def section(subject: Subject) -> Section | None:
    """The explorer of queries; None where scores were given and no rankings."""
    found = explorer_of(subject, depth=subject.shown)
    if found is None:
        return None
    several = len(found.runs) > 1
    what = "which documents make its difference" if several else "its ranking beside the best there is"
    return Section("queries", "Query by query", (found,), f"Pick a query to see {what}.")
