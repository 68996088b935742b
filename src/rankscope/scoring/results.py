"""Results that have their conventions and the health of their data from scores, or from a request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rankscope.show.result import Result

if TYPE_CHECKING:
    from rankscope.scoring.request import Request
    from rankscope.scoring.scores import Scores


def _from_scores(name: str, doc: str, without: Any = ()) -> Any:
    """Return a property of the scores of a result."""

    def value(result: OfScores) -> Any:
        return without if result.scores is None else getattr(result.scores, name)

    return property(value, doc=doc)


class OfScores(Result):
    """A result made of scores, if there are some: it has their conventions and the health of their data."""

    if TYPE_CHECKING:

        @property
        def scores(self) -> Scores | None:
            """The scores of the result."""

    conventions = _from_scores("conventions", "The policies under which the numbers were computed.", {})
    notes = _from_scores("notes", "Notes from reading the inputs.")
    warnings = _from_scores("warnings", "Warnings about the data and the numbers.")
    inputs = _from_scores("inputs", "The files and tables that were read.")
    data_health = _from_scores("data_health", "The state of the data, by run.", {})
    header: ClassVar[tuple[str, ...]] = ("conventions", "inputs")


class OfRequest(Result):
    """A result of runs scored under a ``request``, which is None if they were not scored."""

    if TYPE_CHECKING:

        @property
        def request(self) -> Request | None:
            """The metrics and the policies."""

    @property
    def conventions(self) -> Mapping[str, Any]:
        """The policies under which runs were scored."""
        return {} if self.request is None else self.request.conventions()
