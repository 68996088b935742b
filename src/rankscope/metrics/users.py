"""Metrics of users as a click model describes them."""

from __future__ import annotations

from os import PathLike
from typing import Annotated, Any, ClassVar

import numpy as np

from rankscope.behaviour.browsing import Browsing, DynamicBayesian, UserBrowsing, click_chances
from rankscope.behaviour.users import Users
from rankscope.declared import Param, plain
from rankscope.errors import InputError
from rankscope.lists import Array, Lists, total
from rankscope.metrics.base import Example, Gain, MaxGrade, Metric, Terms, gains, gains_of

MOST_PLACES = 200


class ModelFile(str):
    """The name of the file of a click model, with the ``users`` that it describes."""

    users: Users


def read_users(value: Any) -> Any:
    """Read the users that a file (.json) describes. Return any other value as it is."""
    if not isinstance(value, str | PathLike) or isinstance(value, ModelFile):
        return value
    file = ModelFile(value)
    file.users = Users.read(value)
    return file


class _OfUsers(Metric):
    """Base of metrics of users. Unjudged items count as well: users may click them and leave."""

    relevance = "graded"
    monotone = False  # a better item above may take clicks from the items below
    browsing: ClassVar[Browsing] = DynamicBayesian()
    models: ClassVar[str] = "DBN or SDBN"

    cutoff: Annotated[int | None, Param("the last rank that counts", low=1, high=MOST_PLACES, needed=True)] = None
    model: Annotated[
        str | None,
        Param(
            "the file of a click model fitted by grade, like DBN(of='label'), as clicks saves it: which items users see, "
            "and how grades attract and satisfy them; ranks below its lists weigh 0. By default an item attracts and satisfies with (2^grade - 1) / 2^max_grade",
            reads=read_users,
        ),
    ] = None
    max_grade: MaxGrade = 4.0

    def check(self) -> None:
        """Refuse a model of other users."""
        if self.users is None:
            return
        ours, theirs = self.browsing, self.users.browsing
        if not len(self.users.grade) or not (isinstance(theirs, type(ours)) or isinstance(ours, type(theirs))):
            raise InputError(
                f"{self}: the model is {self.users.name}, and {type(self).__name__} needs {self.models}, fitted by grade to a log with a column label: "
                f"rankscope clicks LOG --model \"{self.models.partition(' ')[0]}(of='label')\" --save model.json"
            )

    @property
    def users(self) -> Users | None:
        """The users of the model. None without a model."""
        return self.model.users if isinstance(self.model, ModelFile) else None

    def every_place(self, lists: Lists) -> tuple[Array, Array]:
        """The probability that each place is clicked, and that the click satisfies: lists x places."""
        depth, users = int(self.cutoff or 1), self.users
        row, column = np.nonzero(lists.judged & (lists.rank <= depth))
        grade = np.zeros((depth, len(lists)))
        grade[lists.rank[row, column] - 1, row] = lists.grade[row, column]
        if users is None:
            self.refuse_grades_above(self.max_grade, lists)
            attraction = gains(grade, "exponential") / 2.0**self.max_grade
            content = None if self.browsing.satisfies == "never" else attraction
            return click_chances(self.browsing, self.browsing.table(depth), attraction, content).T, attraction.T
        top, highest = float(np.max(lists.ideal.grade, initial=0.0)), float(users.grade[-1])
        if top > highest:
            raise InputError(
                f"{self}: a document has grade {plain(top)}, and the model has grades up to {plain(highest)}: fit it to a log with items of that grade"
            )
        click, satisfies = np.zeros((2, *grade.shape))
        click[: users.places], satisfies[: users.places] = users.clicks(grade[: users.places])
        return click.T, satisfies.T

    @staticmethod
    def in_cells(lists: Lists, every: Array) -> Array:
        """The numbers of places, in the cells of judged documents."""
        inside = lists.shown & (lists.rank <= every.shape[1])
        at = np.where(inside, lists.rank, 1) - 1
        return np.where(inside, np.take_along_axis(every, at, axis=1), 0.0)


class EBU(_OfUsers, aliases=("ExpectedBrowsingUtility",)):
    """The gain of the items that users click: they read down until a click satisfies them or patience ends."""

    formula = "sum over ranks of P(click) · gain, with clicks of a dynamic Bayesian network"
    convention = "users go on with probability 0.9, unless there is a model. The value is not normalised: a click on an item of grade 3 is worth 3, with linear gain"
    source = "Yilmaz, Shokouhi, Craswell and Robertson, Expected browsing utility for web search evaluation, CIKM 2010; Chuklin, Serdyukov and de Rijke, Click model-based information retrieval metrics, SIGIR 2013 (uDBN)"
    best_for = "offline values close to click rates, if a click model was fitted to a log"
    examples = (
        Example("EBU(max_grade=2)@3", (2, 0, 1), "3/4 * 2 + (1 - (3/4) ** 2) * 0.9 ** 2 * 1/4 * 1"),
        Example("EBU(max_grade=1)@2", (1, None, 1), "1/2 * 1"),
    )

    bounds = (0.0, float("inf"))

    gain: Gain = "linear"

    def terms(self, lists: Lists) -> Terms:
        click, _ = self.every_place(lists)
        return Terms(lists, {"gain": gains_of(lists, self.gain), "click": self.in_cells(lists, click)})


class uUBM(EBU):
    """The gain of the items that users click: they look at a place by its number and by the place of their last click."""

    formula = "sum over ranks of P(click) · gain, with clicks of a user browsing model"
    convention = "the place after the last click is seen, and each one below it less (distance^-0.85), unless there is a model. The value is not normalised"
    source = "Chuklin, Serdyukov and de Rijke, Click model-based information retrieval metrics, SIGIR 2013"
    best_for = "offline values close to click rates, if users jump between places"
    examples = (
        Example("uUBM(max_grade=1)@3", (1, 0, 1), "1/2 + 1/2 * (1/2 * 2 ** -0.85 + 1/2 * 3 ** -0.85)"),
        Example("uUBM(max_grade=2)@2", (2, 1), "3/4 * 2 + 1/4 * (3/4 + 1/4 * 2 ** -0.85)"),
    )
    browsing = UserBrowsing()
    models = "UBM"


class rrDBN(_OfUsers):
    """One divided by the rank at which users leave satisfied: they read down until a click satisfies them or patience ends."""

    formula = "sum over ranks of P(click) · P(satisfied by a click) / rank, with clicks of a dynamic Bayesian network"
    convention = "users go on with probability 0.9, unless there is a model. ERR is the same with items that attract everybody, and persistence 1"
    source = "Chuklin, Serdyukov and de Rijke, Click model-based information retrieval metrics, SIGIR 2013"
    best_for = "one good answer ends the search, if a click model was fitted to a log"
    examples = (
        Example("rrDBN(max_grade=2)@3", (2, 0, 1), "(3/4) ** 2 + (1 - (3/4) ** 2) * 0.9 ** 2 * (1/4) ** 2 / 3"),
        Example("rrDBN(max_grade=1)@1", (1, 1), "1/4"),
    )

    def terms(self, lists: Lists) -> Terms:
        click, satisfies = self.every_place(lists)
        place = np.arange(1, click.shape[1] + 1)
        unjudged = place <= lists.retrieved[:, None]
        inside = lists.shown & (lists.rank <= len(place))
        unjudged[np.nonzero(inside)[0], lists.rank[inside] - 1] = False
        factors = {"click": self.in_cells(lists, click), "satisfied by it": self.in_cells(lists, satisfies)}
        rest = total(np.where(unjudged, click * satisfies / place, 0.0))
        return Terms(lists, {**factors, "1/rank": 1.0 / lists.rank}, unjudged=rest)
