"""Estimates of position bias, relative to the first place, from items seen at several places: a difference of their click rates is the position's."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, ClassVar, Literal

import numpy as np

from rankscope.declared import Declared, Param, doc_of
from rankscope.lists import Array
from rankscope.lists.pages import Pages
from rankscope.panels.method import VALID, Validity

FEWEST = 10  # interventions below which a place is not identified
MANY_VIEWS = 50  # views per item that its own attraction needs: with fewer, EM is biased
LARGEST_ERROR = 0.0066  # of alpha, so that three errors are within 0.02
UNEVEN = 2.0  # how much larger than by chance the unevenness of items over places is allowed to be
ROWS = {"pair", "place", "clicked", "unit", "chance", "label", "weight"}  # arrays with an entry per shown item
REMEDY = "send some traffic through a ranker that changes positions at random (rankscope simulate log --policy 'SwapFirst(top=10)' makes such a log)"


@dataclass(frozen=True, eq=False)
class BiasCurve:
    """The result of an estimator: ``alpha`` per place, relative to place 1, NaN if not identified, and ``beta``, the share of clicks from trust."""

    alpha: Array
    beta: Array | None = None


@dataclass(frozen=True, eq=False)
class ShownTraffic:
    """Shown items, one row each: ``pair`` and ``place`` (from 0), whether ``clicked``, the ``unit``, and what estimators may need besides.

    ``chance`` is the probability of the item at its place, ``label`` its grade, ``rankers`` how many rankers made the lists (0 if unknown).
    ``weight`` counts rows more than once, for resamples.
    """

    places: int
    lists: int
    pair: Array
    place: Array
    clicked: Array
    unit: Array
    chance: Array | None
    label: Array | None
    rankers: int
    weight: Array | None = None

    @classmethod
    def of(cls, pages: Pages) -> ShownTraffic:
        """The shown items of pages."""
        row, place = np.nonzero(pages.item >= 0)

        def shown(array: Array | None) -> Array | None:
            return None if array is None else array[row, place]

        rankers = 0 if pages.ranker is None else len(np.unique(pages.ranker))
        pair, clicked = pages.item[row, place].astype(np.int64), pages.click[row, place]
        chance, label = shown(pages.chance), shown(pages.label)
        return cls(pages.places, len(pages), pair, place, clicked, pages.unit[row], chance, label, rankers)

    def where(self, inside: Array) -> ShownTraffic:
        """Some of the rows."""
        rows = {name: a[inside] for name, a in vars(self).items() if name in ROWS and a is not None}
        return replace(self, **rows)

    def resampled(self, counts: Array) -> ShownTraffic:
        """The same, with each unit as often as ``counts`` says."""
        made = replace(self, weight=counts.astype(float)[self.unit])
        vars(made).update({name: getattr(self, name) for name in ("cell", "taken", "inverse", "grade")})
        return made

    def sums(self, weights: Array | None = None) -> Array:
        """The sum of weights at each place."""
        own = self.weight if self.weight is not None else np.ones(len(self.pair))
        return np.bincount(self.place, own if weights is None else own * weights, minlength=self.places)

    @cached_property
    def moved(self) -> ShownTraffic:
        """The rows of pairs that were shown at several places, with their pairs numbered anew."""
        size = int(self.pair.max(initial=-1)) + 1
        least, most = np.full(size, self.places), np.full(size, -1)
        np.minimum.at(least, self.pair, self.place)
        np.maximum.at(most, self.pair, self.place)
        several = most > least
        kept = self.where(several[self.pair])
        return replace(kept, pair=(np.cumsum(several) - 1)[kept.pair])

    @cached_property
    def cell(self) -> tuple[Array, int]:
        """The cell of each row in a table of pairs x places, and the number of pairs."""
        return self.pair * self.places + self.place, int(self.pair.max(initial=-1)) + 1

    @cached_property
    def taken(self) -> tuple[Array, Array]:
        """The rows that were clicked, and their cells."""
        rows = np.flatnonzero(self.clicked)
        return rows, self.cell[0][rows]

    @cached_property
    def inverse(self) -> Array | None:
        """One over the probability of each item at its place, if known."""
        return None if self.chance is None else 1 / np.clip(np.nan_to_num(self.chance, nan=1.0), 1e-12, 1.0)

    @cached_property
    def grade(self) -> Array | None:
        """The grade of each row, 0 without one; None if no row has one."""
        return None if self.label is None or np.isnan(self.label).all() else np.nan_to_num(self.label)

    def table(self, cells: Array, weights: Array | None) -> Array:
        """Sums of weights by pair and place."""
        size = self.cell[1]
        sums = np.bincount(cells, weights, minlength=size * self.places)
        return sums.reshape(size, self.places).astype(np.float64, copy=False)

    @cached_property
    def counts(self) -> tuple[Array, Array]:
        """Views and clicks, pairs x places."""
        rows, cells = self.taken
        own = None if self.weight is None else self.weight[rows]
        return self.table(self.cell[0], self.weight), self.table(cells, own)

    @cached_property
    def halves(self) -> Array:
        """Views and clicks of each half of the units: 2 x halves x pairs x places."""
        size = int(self.pair.max(initial=-1)) + 1
        cell = (self.unit % 2 * size + self.pair) * self.places + self.place
        own = np.ones(len(cell)) if self.weight is None else self.weight
        sums = [np.bincount(cell, w, minlength=2 * size * self.places) for w in (own, own * self.clicked)]
        return np.reshape(sums, (2, 2, size, self.places))

    @cached_property
    def usual(self) -> Array:
        """The place at which each pair was shown most."""
        return np.asarray(self.counts[0].argmax(axis=1))

    @cached_property
    def interventions(self) -> tuple[Array, Array]:
        """Clicks and skips at place k of pairs also shown at place j, places x places, with the weights of Mantel and Haenszel (few views weigh little)."""
        views, clicks = self.counts
        share = views / np.maximum(views.sum(axis=1, keepdims=True), 1e-12)
        taken = clicks.T @ share
        return taken, views.T @ share - taken


def connected(strength: Array) -> Array:
    """The places that interventions connect with place 1, over others if need be."""
    reached = np.zeros(len(strength), dtype=bool)
    reached[:1] = True
    linked = (strength >= FEWEST) & ~np.eye(len(strength), dtype=bool)
    for _ in strength:
        reached = reached | linked[reached].any(axis=0)
    return reached


class BiasEstimator(Declared, kind="position bias estimator"):
    """Base of every estimator of position bias. ``curve`` estimates, ``validity`` says if the traffic identifies anything."""

    listed_by: ClassVar[str] = "rankscope position-bias --help"
    rounds: ClassVar[int] = 100  # of the bootstrap
    source: ClassVar[str] = ""
    without: ClassVar[str] = "no item was shown at place 1 and at other places"  # the reason if nothing is identified

    @property
    def about(self) -> str:
        """The first sentence about the estimator."""
        return doc_of(type(self)).partition("\n")[0].partition(". ")[0].rstrip(".")

    def use(self, traffic: ShownTraffic) -> ShownTraffic:
        """The rows that the estimator uses."""
        return traffic.moved

    def validity(self, traffic: ShownTraffic) -> Validity:
        """True if the traffic that it uses identifies the curve beyond place 1."""
        return _unless(bool(self.identified(traffic)[1:].any()), self.without)

    def identified(self, traffic: ShownTraffic) -> Array:
        """The places that are identified."""
        if not len(traffic.pair):
            return np.arange(traffic.places) < 1
        views, _ = traffic.counts
        share = views / np.maximum(views.sum(axis=1, keepdims=True), 1e-12)
        return connected(views.T @ share)

    def curve(self, traffic: ShownTraffic) -> BiasCurve:
        """The examination curve, from the traffic that it uses."""
        raise TypeError(f"{type(self).__name__} must define curve(): return the examination curve")


def _unless(holds: bool, reason: str) -> Validity:
    return VALID if holds else Validity(False, reason, 4)


class swaps(BiasEstimator):
    """Click rates of items at place k and at place 1, if a randomised swap moved them from the one to the other."""

    source = "Joachims, Swaminathan and Schnabel, Unbiased learning-to-rank with biased feedback, WSDM 2017"
    without = "no item changed places with the one at place 1"

    def use(self, traffic: ShownTraffic) -> ShownTraffic:
        random = traffic if traffic.chance is None else traffic.where(np.nan_to_num(traffic.chance, nan=1.0) < 1)
        return random.moved

    def identified(self, traffic: ShownTraffic) -> Array:
        first = np.arange(traffic.places) < 1
        if not len(traffic.pair):
            return first
        clicks, skips = (sums[:, 0] for sums in traffic.interventions)
        # without clicks a rate is known to be small, but not how small (resamples may lack clicks by chance)
        return np.asarray(first | ((clicks + skips >= FEWEST) & ((clicks > 0) | (traffic.weight is not None))))

    def curve(self, traffic: ShownTraffic) -> BiasCurve:
        clicks, _ = traffic.interventions
        ratio = _ratio(clicks[:, 0], clicks[0], least=0.0)
        ratio[0] = 1.0
        return BiasCurve(np.where(self.identified(traffic), ratio, np.nan))


class harvesting(BiasEstimator):
    """Intervention harvesting: items that several rankers put at different places, over all pairs of places at once."""

    source = "Agarwal, Zaitsev, Wang, Li, Najork and Joachims, Estimating position bias without intrusive interventions, WSDM 2019"

    def validity(self, traffic: ShownTraffic) -> Validity:
        if traffic.rankers < 2:
            one = "there is a single ranker, and harvesting needs two or more that put items at different places"
            none = "the log names no rankers (column logger_id), and harvesting needs two or more that got their traffic at random"
            return _unless(False, one if traffic.rankers else none)
        return super().validity(traffic)

    def curve(self, traffic: ShownTraffic) -> BiasCurve:
        clicks, skips = traffic.interventions
        known = self.identified(traffic)
        out = np.full(traffic.places, np.nan)
        out[known] = all_pairs(clicks[np.ix_(known, known)], skips[np.ix_(known, known)])
        return BiasCurve(out)


def all_pairs(clicks: Array, skips: Array) -> Array:
    """Return the curve that makes weighted clicks and skips most likely, with one relevance per pair of places.

    Maximises the sum over k and j of clicks[k, j] log(p[k] r[k, j]) + skips[k, j] log(1 - p[k] r[k, j]) with r symmetric. For a given p
    the best r has a closed form, and p follows by Fisher scoring on its logarithm.
    """
    places = len(clicks)
    off = ~np.eye(places, dtype=bool)
    clicks, skips = np.where(off, clicks, 0.0), np.where(off, skips, 0.0)
    logs = np.zeros(places)
    for _ in range(50):
        p = np.exp(logs - logs.max())
        chance = np.clip(p[:, None] * _relevance(clicks, skips, p), 1e-9, 1 - 1e-9)
        odds = chance / (1 - chance)
        information = (clicks + skips) * odds
        shared = information * information.T / np.maximum(information + information.T, 1e-12)
        score = (clicks - skips * odds).sum(axis=1)
        bonds = np.diag(shared.sum(axis=1)) - shared
        step = np.linalg.lstsq(bonds[1:, 1:], score[1:], rcond=None)[0]
        logs[1:] += np.clip(step, -1.0, 1.0)
        if np.abs(step).max(initial=0.0) < 1e-10:
            break
    return np.asarray(np.exp(logs - logs[0]))


def _relevance(clicks: Array, skips: Array, p: Array) -> Array:
    """The relevance of each pair of places that is most likely under a curve: a root of a quadratic equation."""
    c, s = clicks + clicks.T, skips
    a, b = p[:, None], p[None, :]
    # c / r = s a / (1 - a r) + s' b / (1 - b r), times r (1 - a r) (1 - b r)
    square = a * b * (c + s + s.T)
    linear = -(c * (a + b) + s * a + s.T * b)
    root = np.sqrt(np.maximum(linear**2 - 4 * square * c, 0.0))
    return np.asarray(np.divide(-linear - root, 2 * square, out=np.full(square.shape, 0.5), where=square > 0))


class randomised(BiasEstimator):
    """Click rates of randomly ordered items: at place k as a share of place 1. The log has the probability of each item at its place."""

    source = "Wang, Bendersky, Metzler and Najork, Learning to rank with selection bias in personal search, SIGIR 2016"
    without = "no item at place 1 could have been at another place (p_item_pos is 1)"

    top: Annotated[
        int | None,
        Param("for a log without probabilities: how many of the first places were shuffled evenly", low=2, high=1000),
    ] = None

    def use(self, traffic: ShownTraffic) -> ShownTraffic:
        return traffic if self.top is None else traffic.where(traffic.place < self.top)

    def _weights(self, traffic: ShownTraffic) -> Array:
        if traffic.chance is None or self.top is not None:
            return np.ones(len(traffic.pair))
        assert traffic.inverse is not None
        return traffic.inverse

    def validity(self, traffic: ShownTraffic) -> Validity:
        if traffic.chance is None and self.top is None:
            return _unless(
                False,
                "the log has no column p_item_pos; if the first places were shuffled evenly, use randomised(top=5)",
            )
        if self.top is not None and self._unevenness(traffic) > UNEVEN:
            return _unless(False, f"the items at the first {self.top} places are not in random order")
        if len(traffic.pair) >= FEWEST * (int(traffic.pair.max(initial=-1)) + 1) and not len(traffic.moved.pair):
            return _unless(False, "every item was always at one place, whatever p_item_pos says")
        return super().validity(traffic)

    def _unevenness(self, traffic: ShownTraffic) -> float:
        """The chi-square statistic of pairs by places, relative to its mean under chance."""
        views, _ = traffic.counts
        views = views[views.sum(axis=1) > 0]
        expected = views.sum(axis=1, keepdims=True) * views.sum(axis=0) / views.sum()
        known = expected > 0
        return float(((views - expected)[known] ** 2 / expected[known]).sum() / max(known.sum() - len(views), 1))

    def identified(self, traffic: ShownTraffic) -> Array:
        if self.top is not None:
            return np.arange(traffic.places) < self.top
        weights = self._weights(traffic)
        total, square = traffic.sums(weights), traffic.sums(weights**2)
        near = np.abs(total - total[0]) <= 0.02 * total[0] + 4 * np.sqrt(square + square[0])
        chance = traffic.sums() / np.maximum(total, 1e-12)  # mean probability of what was shown
        return np.asarray(near & (chance < 0.99)) | (np.arange(traffic.places) < 1)

    def curve(self, traffic: ShownTraffic) -> BiasCurve:
        weights = self._weights(traffic)
        clicks, views = traffic.sums(weights * traffic.clicked), traffic.sums(weights)
        rate = clicks / np.maximum(views, 1e-12)
        known = self.identified(traffic) | (traffic.weight is not None)
        return BiasCurve(np.where(known, rate / max(float(rate[0]), 1e-12), np.nan))


class regression_em(BiasEstimator):
    """Regression EM: examination and attraction together. Attraction is regressed on the usual place of items, or on their grade, and on their clicks."""

    rounds = 50
    source = "Wang, Golbandi, Bendersky, Metzler and Najork, Position bias estimation for unbiased learning to rank in personal search, WSDM 2018"

    of: Annotated[
        Literal["item", "label"],
        Param(
            "what attraction depends on: each item for itself, or only the grade in the column label, which is taken as the truth"
        ),
    ] = "item"
    smoothing: Annotated[
        float,
        Param(
            "the weight of items with the same usual place in the attraction of an item, in views", low=0.0, high=1e6
        ),
    ] = 1.0

    def use(self, traffic: ShownTraffic) -> ShownTraffic:
        if self.of == "item" or traffic.label is None:
            return traffic.moved
        known = traffic.where(~np.isnan(traffic.label))
        return replace(known, pair=np.unique(np.asarray(known.label), return_inverse=True)[1].astype(np.int64))

    def validity(self, traffic: ShownTraffic) -> Validity:
        if self.of == "label" and traffic.label is None:
            return _unless(False, "the log has no column label with the grade of each item")
        validity = super().validity(traffic)
        views = traffic.counts[0].sum(axis=1) if validity.holds else np.ones(1)
        mean = float((views**2).sum() / max(views.sum(), 1.0))
        few = f"an item at several places was seen {mean:.0f} times on average, and its attraction needs {MANY_VIEWS}; with grades in a column label use regression_em(of='label')"
        return validity if not validity.holds else _unless(mean >= MANY_VIEWS, few)

    def curve(self, traffic: ShownTraffic) -> BiasCurve:
        tolerance = 1e-6 if traffic.weight is None else 1e-4
        curve = position_based(*traffic.counts, traffic.usual, self.smoothing, tolerance=tolerance)
        return BiasCurve(np.where(self.identified(traffic), curve, np.nan))


def position_based(
    views: Array, clicks: Array, groups: Array, smoothing: float, rounds: int = 2000, tolerance: float = 1e-6
) -> Array:
    """Return the curve of the position-based model, by EM until no probability moves by ``tolerance``. Items are shrunk to their group by ``smoothing``."""
    rate = clicks.sum(axis=0) / np.maximum(views.sum(axis=0), 1e-12)
    theta = np.clip(rate / max(rate[0], 1e-12), 0.05, 0.95)
    theta[0] = 1.0
    attraction = np.full(len(views), min(max(float(rate[0]), 1e-4), 0.9))
    item, place = np.nonzero(views)  # sparse: few items are shown at many places
    skips, seen = (views - clicks)[item, place], np.maximum(views.sum(axis=0), 1e-12)
    clicked, shown, looked_at = clicks.sum(axis=1), views.sum(axis=1), clicks.sum(axis=0)
    of_group = np.maximum(np.bincount(groups, shown), 1e-12)
    for _ in range(rounds):
        examined, attractive = theta[place], attraction[item]
        both = examined * attractive
        lost = skips / (1 - both)
        attracted = clicked + np.bincount(item, lost * (attractive - both), minlength=len(views))
        mean = (np.bincount(groups, attracted) / of_group)[groups] if smoothing else 0.0
        before, drawn = attraction, (attracted + smoothing * mean) / np.maximum(shown + smoothing, 1e-12)
        attraction = np.clip(drawn, 1e-6, 1 - 1e-6)
        looked = looked_at + np.bincount(place, lost * (examined - both), minlength=len(theta))
        new = np.clip(looked / seen, 1e-6, 1.0)
        new[0] = 1.0
        change = float(np.abs(new - theta).max()) + float((np.abs(attraction - before) * shown).sum() / shown.sum())
        theta = new
        if change < tolerance:
            break
    return np.asarray(theta)


class trust(BiasEstimator):
    """Trust bias: P(click) = alpha x attraction + beta at each place, by how click rates at place k rise with click rates at place 1.

    Place 1 is the measure of attraction, so alpha is 1 and beta 0 there. The noise of click rates at place 1 would flatten the line, so that items are
    ordered by the clicks of the other half of the users, or by their grade, if the log has the column label.
    """

    source = "Vardasbi, Oosterhuis and de Rijke, When inverse propensity scoring does not work: affine corrections for unbiased learning to rank, CIKM 2020"

    def identified(self, traffic: ShownTraffic) -> Array:
        known = swaps().identified(traffic)
        return known if not len(traffic.pair) else np.asarray(known & (self._line(traffic)[2] <= LARGEST_ERROR))

    def validity(self, traffic: ShownTraffic) -> Validity:
        of_swaps = swaps().validity(traffic)
        if not of_swaps.holds or self.identified(traffic)[1:].any():
            return of_swaps
        least = float(self._line(traffic)[2][swaps().identified(traffic)][1:].min(initial=math.inf))
        more = (
            f", and about {(least / LARGEST_ERROR) ** 2:.0f} times the traffic is needed"
            if math.isfinite(least)
            else ""
        )
        return _unless(
            False, f"items at place 1 and at other places differ too little in attraction for their clicks{more}"
        )

    def _line(self, traffic: ShownTraffic) -> tuple[Array, Array, Array]:
        """The alpha and the beta of each place, and the standard error of alpha."""
        views, clicks = traffic.halves
        rate = clicks / np.maximum(views, 1e-12)
        weight = views * views[:, :, :1] / np.maximum(views + views[:, :, :1], 1e-12)
        order = np.where(views[::-1, :, 0] > 0, rate[::-1, :, 0], np.nan)
        if traffic.grade is not None:
            own = traffic.grade if traffic.weight is None else traffic.grade * traffic.weight
            seen = traffic.counts[0].sum(axis=1)
            order = np.tile(_ratio(np.bincount(traffic.pair, own, minlength=len(seen)), seen), (2, 1))
        first, order = rate[:, :, 0].reshape(-1, 1), order.reshape(-1, 1)
        here, weight = rate.reshape(-1, traffic.places), weight.reshape(-1, traffic.places) * ~np.isnan(order)
        weight = weight / np.maximum(weight.sum(axis=0), 1e-12)
        means = [(weight * x).sum(axis=0) for x in (first, here)]
        pull = weight * (np.nan_to_num(order) - (weight * np.nan_to_num(order)).sum(axis=0))
        spread = (pull * first).sum(axis=0)
        alpha = _ratio((pull * here).sum(axis=0), spread)
        alpha[0] = 1.0
        rest = pull * (here - means[1] - alpha * (first - means[0]))
        return alpha, means[1] - alpha * means[0], _ratio(np.sqrt((rest**2).sum(axis=0)), np.abs(spread), np.inf)

    def curve(self, traffic: ShownTraffic) -> BiasCurve:
        alpha, beta, _ = self._line(traffic)
        known = self.identified(traffic) if traffic.weight is None else True
        return BiasCurve(np.where(known, alpha, np.nan), np.where(known, beta, np.nan))


def _ratio(above: Array, below: Array, otherwise: float = np.nan, least: float = 1e-12) -> Array:
    return np.asarray(np.divide(above, below, out=np.full(below.shape, otherwise), where=np.abs(below) > least))
