"""The users that a fitted click model describes: how they look at a list, and how items of each grade attract and satisfy them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from rankscope import words
from rankscope.behaviour.browsing import Browsing, click_chances
from rankscope.errors import InputError
from rankscope.lists import Array
from rankscope.lists.examination import check_schema, read_document

SCHEMA, NOUN = "rankscope/click-model/1", "a click model"
REMEDY = "write one with rankscope clicks LOG --model PBM --save model.json"


@dataclass(frozen=True, eq=False)
class Users:
    """Users of a ``browsing`` model with its ``table``, in lists of at most ``places`` items.

    ``attraction`` and ``satisfaction`` are by ``grade``, the lowest first. They rise or fall evenly from one grade to the next.
    """

    name: str
    browsing: Browsing
    places: int
    table: Array
    grade: Array
    attraction: Array
    satisfaction: Array | None

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Users:
        """Read the users from the file of a click model. Raises InputError if it is not one."""
        document = read_document(path, NOUN, REMEDY)
        check_schema(document, str(path), SCHEMA, NOUN, REMEDY)
        return cls.of(document, str(path))

    @classmethod
    def of(cls, document: Mapping[str, Any], label: str) -> Users:
        """Read the users from the content of the file. They know no grade if the model was not fitted by grade."""
        try:
            name, items = str(document["model"]), document["item"]
            known = items if "of='label'" in name else [""] * len(items)
            grade = np.array([np.nan if (g := words.as_number(item)) is None else g for item in known])
            order = np.argsort(grade)[: int((~np.isnan(grade)).sum())]
            browsing, places = Browsing.read(document["browsing"]), int(document["places"])
            own = None if document["satisfaction"] is None else chances(document["satisfaction"])
            attraction = chances(document["attraction"], len(grade))
            table = chances(document["table"], len(browsing.table(places)))
            tied = attraction if browsing.satisfies == "attraction" else own
            satisfaction = None if tied is None else np.broadcast_to(tied, len(grade))[order]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{label}: {error!r} is wrong or missing in this click model: {REMEDY}") from None
        return cls(name, browsing, places, table, grade[order], attraction[order], satisfaction)

    def clicks(self, grade: Array) -> tuple[Array, Array]:
        """The probability of a click, and that a click satisfies, for the grades of lists: places x lists."""
        attraction = np.interp(grade, self.grade, self.attraction)
        satisfied = None if self.satisfaction is None else np.interp(grade, self.grade, self.satisfaction)
        clicks = click_chances(self.browsing, self.table, attraction, satisfied)
        return clicks, np.zeros(1) if satisfied is None else satisfied


def chances(values: Any, size: int | None = None) -> Array:
    """Return probabilities as an array. Raises ValueError for others, or for another number of them."""
    array = np.asarray(values, dtype=float)
    if array.ndim != 1 or not ((array >= 0) & (array <= 1)).all() or size not in {None, len(array)}:
        raise ValueError(f"{len(values)} probabilities")
    return array
