"""Train rankers on labelled features or clicks, and compare them on other queries."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.files.raw import is_path
from rankscope.files.svmlight import RankingData, ranking_data_of
from rankscope.lists import Array
from rankscope.lists.examination import Examination
from rankscope.panels.families import Family
from rankscope.panels.method import method_of
from rankscope.panels.samples import SIGNS
from rankscope.rankers.learners import ClickedLists, Learner, MeanOf, RankingModel, from_clicks
from rankscope.scoring.batches import labelled_batch, mean_of_values, values_of_batch
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.logs import read_log
from rankscope.scoring.measurements import lead_first, panels_of
from rankscope.scoring.policies import refuse_unknown
from rankscope.scoring.request import Request
from rankscope.verbs.learn.result import Learning
from rankscope.words import in_caller_syntax

USUAL = "LambdaMART"
CANDIDATES = 50  # single features that are ranked by the metric
COLUMNS = ("query_id", "item_id", "position", "click", "impression_id")


# fmt: off
def learn(  # noqa: PLR0913 - one keyword per option
    train: Any, test: Any = None, learners: Any = USUAL, metrics: Any = None, *,
    group: Any = None, test_group: Any = None, valid: Any = None, test_share: float = 0.25, valid_share: float = 0.2,
    clicks: Any = None, examination: Any = None, test_method: Any = None, interval: Any = None, correction: Any = "holm", alpha: float = 0.05,
    seed: int = 0, progress: Callable[[str], None] | None = None, **policies: Any,
) -> Learning:
    """Train rankers on labelled features of documents, and compare them with the best single feature on test queries.

    ``train`` and ``test`` are LETOR or SVMlight files with qid, or with a file of group sizes (``group``, ``test_group``; by default the name
    of the file with .query). A share of the queries (``test_share``) is the test if there is no ``test``: queries are never divided. ``learners`` are
    spellings like ``LambdaMART(objective='rank_xendcg')``, ``XGBoost``, ``Linear``. The first metric (nDCG@10 by default) stops boosting on ``valid``, by
    default a share of the training queries (``valid_share``).

    With ``clicks`` (a log with query_id, item_id, position, click and a list id) models learn from clicks on the documents of ``train``, whose labels
    are not used: each click weighs 1 / the probability that its position is examined (``examination``: a curve, a file or probabilities by position).
    ``test_method`` is the test of differences; it, ``interval``, ``correction`` and ``alpha`` are as for ``compare``.

    The result has ``runs`` on the test queries, ``models``, and the importance of features. Raises InputError for unusable files, DataError
    for too few queries, MissingExtraError without LightGBM or XGBoost.

    >>> import numpy as np
    >>> import rankscope as rs
    >>> from rankscope.files.svmlight import RankingData
    >>> x = np.random.default_rng(1).normal(size=(80, 3))
    >>> ids, docs = [f"q{i}" for i in range(20)], ["a", "b", "c", "d"] * 20
    >>> data = RankingData("made", x, (x[:, 0] + x[:, 1] > 0) * 1.0, np.full(20, 4), ids, docs)
    >>> found = rs.learn(data, learners="Linear", metrics="nDCG@4")
    >>> found["Linear", "nDCG@4"].verdict in {"better", "cannot tell"}, found.baseline
    (True, 'feature 0')
    """
    refuse_unknown(policies, "learn", ("learners", "group", "test_group", "valid", "clicks", "examination"))
    chosen = learners_of(learners)
    request = Request.of(lead_first("nDCG@10" if metrics is None else metrics), {"seed": seed, **policies})
    if request.metrics[0].metric.better == "neither":
        raise InputError(f"{request.metrics[0].metric} has no better direction: no training stops by it")
    how = method_of(test=test_method, interval=interval, correction=correction, alpha=alpha, seed=seed)
    _refuse_one_file({"TRAIN": train, "TEST": test, "--valid": valid})
    data = ranking_data_of(train, group)
    if test is None:
        data, held = data.split(_share("test_share", test_share), seed)
    else:
        held = ranking_data_of(test, test_group).wide(data.features.shape[1])
    if clicks is None and examination is not None:
        raise InputError(in_caller_syntax("--examination weighs clicks: add --clicks"))
    learned = data if clicks is None else from_clicks(data, _shown(clicks, data), None if examination is None else Examination.of(examination))
    fitted, stopping = (learned, ranking_data_of(valid).wide(data.features.shape[1])) if valid is not None else learned.split(_share("valid_share", valid_share), seed)
    mean_of = _mean_of(request)
    models: dict[str, RankingModel] = {}
    for learner in chosen:
        models[str(learner)] = learner.fit(fitted if learner.stops else learned, stopping, mean_of)
        if progress is not None:
            progress(str(learner))
    feature, sign = _best_feature(learned, mean_of)
    baseline = f"feature {feature}" + ("" if sign > 0 else ", low first")
    runs = {baseline: held.table(sign * held.features[:, feature])} | {name: held.table(model.predict(held.features)) for name, model in models.items()}
    panels = panels_of(evaluate_request(held.table(held.grades), runs, request), [m.metric for m in request.metrics])
    family = Family(panels, [(name, baseline) for name in models], how, baseline)
    return Learning([family], models, runs, baseline, request, (len(learned.sizes), len(held.sizes)), clicks is not None, examination is not None)
# fmt: on


def learners_of(source: Any) -> list[Learner]:
    """Return learners from spellings, classes or objects. Raises InputError for none, or for one that is named twice."""
    spelled = Learner.read_all(source)
    if not spelled or len(set(map(str, spelled))) < len(spelled):
        raise InputError("learners: name each learner once, like LambdaMART, XGBoost or Linear")
    return spelled


def _refuse_one_file(files: Mapping[str, Any]) -> None:
    """Refuse one file in two places: a model that is tested on its training queries seems better than it is."""
    where: dict[str, str] = {}
    for name, file in files.items():
        if is_path(file) and (other := where.setdefault(os.path.realpath(file), name)) != name:
            raise InputError(
                in_caller_syntax(f"{file} is {other} and {name}: give {name} other queries, or leave it out")
            )


def _share(name: str, share: float) -> float:
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
        raise InputError(f"{name}={share!r}: shares are between 0 and 1")
    return float(share)


def _mean_of(request: Request) -> MeanOf:
    """The function that returns the mean of the first metric, higher is better, of scores of some data."""
    first = request.metrics[0]
    alone = Request.of([first.metric], {"ties": "expected"} if first.convention.ties == "trec" else {})

    def mean_of(data: RankingData, scores: Array) -> float:
        values = values_of_batch(alone, labelled_batch(data.grades, scores, data.sizes, group_is="sizes"))
        return SIGNS[first.metric.better] * mean_of_values(first.metric, values[0], {})

    return mean_of


def _best_feature(data: RankingData, mean_of: MeanOf) -> tuple[int, int]:
    """The feature, and its direction, that ranks the training queries best by itself, among those that correlate most with grades."""
    rows, sizes = data.query, np.maximum(data.sizes, 1)
    grades = data.grades - (np.bincount(rows, weights=data.grades) / sizes)[rows]
    spread = data.features.std(axis=0)
    related = np.divide(data.features.T @ grades, spread, out=np.zeros(len(spread)), where=spread > 0)
    if not related.any():
        raise DataError(f"{data.label}: no feature differs between documents of different grades")
    strongest = np.argsort(-np.abs(related), kind="stable")[:CANDIDATES].tolist()
    signs = [(feature, 1 if related[feature] > 0 else -1) for feature in strongest if related[feature]]
    return max(signs, key=lambda pair: mean_of(data, pair[1] * data.features[:, pair[0]]))


def _shown(source: Any, data: RankingData) -> ClickedLists:
    log = read_log(source)
    absent = [name for name in COLUMNS if name not in log.roles]
    if absent:
        raise InputError(f"{log.source.label}: no column {absent[0]}: clicks need {words.listing(COLUMNS, 9)}")
    known = set(data.queries)
    frame = log.gather(lambda frame: frame.select(COLUMNS))
    frame = frame.filter(frame["query_id"].is_in(list(known)) & frame["position"].is_not_null())
    lists: Sequence[Any] = frame["impression_id"].to_list()
    clicked = frame["click"].fill_null(0.0).to_numpy() > 0
    positions = frame["position"].to_numpy().astype(np.int64)
    return ClickedLists(lists, frame["query_id"].to_list(), frame["item_id"].to_list(), positions, clicked)
