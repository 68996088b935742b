"""Learning to rank: boosted trees of LightGBM and XGBoost, a linear baseline, and weights for clicks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from rankscope.declared import Declared, Param
from rankscope.errors import DataError, InputError, MissingExtraError
from rankscope.files.svmlight import RankingData
from rankscope.lists import Array
from rankscope.lists.examination import Examination

MeanOf = Callable[[RankingData, Array], float]
Patience = Annotated[int, Param("rounds without a better validation value before training stops", low=1)]
TopGrade = Annotated[int | None, Param("higher grades count as this one, so that training sees coarser grades", low=1)]


@dataclass(frozen=True, eq=False)
class RankingModel:
    """A trained model: scores of rows of features, the importance of each feature, and the number of trees, if there are any."""

    predict: Callable[[Array], Array]
    importance: Array
    rounds: int | None = None
    save: Callable[[str], Any] | None = None


class Learner(Declared, kind="learner"):
    """Base of learners. A subclass returns a model: ``fit(train, valid, mean_of)``.

    ``mean_of`` returns the mean of the metric that stops training on some data, higher is better. A learner that ``stops`` gets ``valid``, queries
    that are not in ``train``. The model of one that ``saves`` can be written to a file.
    """

    stops: ClassVar[bool] = False
    saves: ClassVar[bool] = False
    source: ClassVar[str] = ""

    def fit(self, train: RankingData, valid: RankingData, mean_of: MeanOf) -> RankingModel:
        """Return a model of the training data."""
        raise TypeError(f"{type(self).__name__} does not learn")


class Linear(Learner, aliases=("linear", "ridge")):
    """Ridge regression of grades on features, both relative to the mean of their query: a baseline that is hard to overfit."""

    penalty: Annotated[float, Param("the ridge penalty, per row", low=0.0)] = 0.01

    def fit(self, train: RankingData, valid: RankingData, mean_of: MeanOf) -> RankingModel:
        weights = np.ones(len(train.grades)) if train.weights is None else train.weights
        rows, total = train.query, np.bincount(train.query, weights=weights)
        means = np.stack([np.bincount(rows, weights=weights * column) / total for column in train.features.T], axis=1)
        spread = np.sqrt(np.average((train.features - means[rows]) ** 2, axis=0, weights=weights))
        inverse = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 1e-12)
        x = (train.features - means[rows]) * inverse
        y = train.grades - (np.bincount(rows, weights=weights * train.grades) / total)[rows]
        normal = (x * weights[:, None]).T @ x + self.penalty * weights.sum() * np.eye(x.shape[1])
        solved = np.linalg.solve(normal, x.T @ (weights * y))
        return RankingModel(lambda features: features @ (solved * inverse), np.abs(solved))


class _Boosted(Learner):
    stops = saves = True
    module: ClassVar[str]

    objective: str = ""
    truncation: Annotated[int, Param("pairs with a document above this rank train the model", low=1)] = 30
    top_grade: TopGrade = None
    rounds: Annotated[int, Param("the most trees", low=1, high=100_000)] = 300
    patience: Patience = 30
    rate: Annotated[float, Param("the learning rate", above=0.0, high=1.0)] = 0.1
    seed: Annotated[int, Param("the seed of random numbers", low=0)] = 0

    def _import(self) -> Any:
        try:
            if self.module == "lightgbm":
                import lightgbm

                return lightgbm
            import xgboost
        except ImportError:
            raise MissingExtraError(
                f"{type(self).__name__} needs {self.module}: pip install 'rankscope[learn]'"
            ) from None
        return xgboost

    def _grades(self, data: RankingData, top: int | None, ranks: bool) -> Array:
        grades = data.grades if top is None else np.minimum(data.grades, top)
        if ranks and ((grades < 0).any() or (grades % 1).any() or grades.max(initial=0) > 30):
            raise InputError(
                f"{data.label}: {self} needs whole grades from 0 to 30: use --learner Linear, or a pointwise objective"
            )
        return np.asarray(grades)


class LambdaMART(_Boosted, aliases=("lambdamart", "LightGBM")):
    """Boosted trees of LightGBM, stopped early by the metric on validation queries."""

    objective: Annotated[
        Literal["lambdarank", "rank_xendcg", "regression"],
        Param("the loss: two of lists, or pointwise regression of grades"),
    ] = "lambdarank"
    leaves: Annotated[int, Param("the leaves of a tree", low=2, high=10_000)] = 31
    least: Annotated[int, Param("the fewest rows of a leaf", low=1)] = 20
    module = "lightgbm"
    source = "Burges, From RankNet to LambdaRank to LambdaMART, 2010; Ke et al., LightGBM, NeurIPS 2017"

    def fit(self, train: RankingData, valid: RankingData, mean_of: MeanOf) -> RankingModel:
        lightgbm, ranks = self._import(), self.objective != "regression"

        def dataset(data: RankingData, **more: Any) -> Any:
            grades = self._grades(data, self.top_grade, ranks)
            return lightgbm.Dataset(
                data.features, grades, group=data.sizes, weight=data.weights, free_raw_data=False, **more
            )

        own = {"lambdarank_truncation_level": self.truncation} if self.objective == "lambdarank" else {}
        booster = lightgbm.train(
            {
                "objective": self.objective, "metric": "None", "learning_rate": self.rate, "num_leaves": self.leaves, "seed": self.seed,
                "min_data_in_leaf": self.least, "deterministic": True, "force_row_wise": True, "num_threads": 1, "verbose": -1, **own,
            },
            dataset(train),
            num_boost_round=self.rounds, valid_sets=[dataset(valid)],
            feval=lambda scores, _: ("metric", mean_of(valid, np.asarray(scores)), True),
            callbacks=[lightgbm.early_stopping(self.patience, verbose=False)],
        )  # fmt: skip
        best = int(booster.best_iteration) or booster.num_trees()
        return RankingModel(
            lambda features: np.asarray(booster.predict(features, num_iteration=best)),
            np.asarray(booster.feature_importance("gain", iteration=best), dtype=np.float64), best, booster.save_model,
        )  # fmt: skip


class XGBoost(_Boosted, aliases=("xgboost",)):
    """Boosted trees of XGBoost, stopped early by the metric on validation queries."""

    objective: Annotated[
        Literal["rank:ndcg", "rank:pairwise", "reg:squarederror"],
        Param("the loss: two of lists, or pointwise regression of grades"),
    ] = "rank:ndcg"
    depth: Annotated[int, Param("the depth of a tree", low=1, high=30)] = 4
    least: Annotated[float, Param("the least weight of a leaf", low=0.0)] = 0.1
    module = "xgboost"
    source = "Chen and Guestrin, XGBoost, KDD 2016"

    def fit(self, train: RankingData, valid: RankingData, mean_of: MeanOf) -> RankingModel:
        xgboost, ranks = self._import(), self.objective.startswith("rank")

        def matrix(data: RankingData) -> Any:
            first = np.cumsum(data.sizes) - data.sizes
            weights = data.weights if data.weights is None or not ranks else data.weights[first]  # one per query
            return xgboost.DMatrix(
                data.features, self._grades(data, self.top_grade, ranks), group=data.sizes, weight=weights
            )

        own = {"lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": self.truncation} if ranks else {}
        booster = xgboost.train(
            {"objective": self.objective, "eta": self.rate, "max_depth": self.depth, "min_child_weight": self.least, "seed": self.seed, "nthread": 1, "disable_default_eval_metric": 1, **own},
            matrix(train), num_boost_round=self.rounds, evals=[(matrix(valid), "valid")], verbose_eval=False,
            custom_metric=lambda scores, _: ("metric", mean_of(valid, np.asarray(scores))),
            callbacks=[xgboost.callback.EarlyStopping(rounds=self.patience, metric_name="metric", maximize=True, save_best=True)],
        )  # fmt: skip
        gains = booster.get_score(importance_type="total_gain")
        importance = np.array([gains.get(f"f{i}", 0.0) for i in range(train.features.shape[1])])
        return RankingModel(
            lambda features: np.asarray(booster.predict(xgboost.DMatrix(features))), importance, booster.num_boosted_rounds(), booster.save_model,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class ClickedLists:
    """Shown lists: for each row its list, query, document, position (from 1) and if it was clicked."""

    lists: Sequence[Any]
    queries: Sequence[str]
    documents: Sequence[str]
    positions: Array
    clicked: Array


def from_clicks(data: RankingData, shown: ClickedLists, examination: Examination | None) -> RankingData:
    """Return training data with one list per click: the clicked document has grade 1, documents of the list without a click 0.

    A list weighs 1 / the probability that the position of its click is examined (inverse propensity), or 1 without a curve. Raises DataError
    for a shown document without features, and if nothing was clicked.

    Source: Joachims, Swaminathan and Schnabel, Unbiased learning-to-rank with biased feedback, WSDM 2017.
    """
    if examination is not None and examination.has_trust:
        raise InputError("the examination curve has trust bias, and weights of clicks need a curve of examination only")
    ends = np.cumsum(data.sizes)
    at = {
        (query, doc): int(row)
        for query, size, end in zip(data.queries, data.sizes.tolist(), ends.tolist(), strict=True)
        for doc, row in zip(data.documents[end - size : end], range(end - size, end), strict=True)
    }
    by_list: dict[Any, list[int]] = {}
    for place, one in enumerate(shown.lists):
        by_list.setdefault(one, []).append(place)
    rows, grades, sizes, weights = list[int](), list[float](), list[int](), list[float]()
    for places in by_list.values():
        for click in (place for place in places if shown.clicked[place]):
            kept = [place for place in places if place == click or not shown.clicked[place]]
            missing = [p for p in kept if (shown.queries[p], shown.documents[p]) not in at]
            if missing:
                query, doc = shown.queries[missing[0]], shown.documents[missing[0]]
                raise DataError(f"{data.label}: document {doc} of query {query} was shown and has no features")
            rows += [at[shown.queries[p], shown.documents[p]] for p in kept]
            grades += [float(p == click) for p in kept]
            looks = 1.0 if examination is None else float(examination.at(shown.positions[[click]])[0])
            if not looks > 0:
                raise DataError(f"position {int(shown.positions[click])} has a click, and the curve is 0 there")
            sizes.append(len(kept))
            weights += [1.0 / looks] * len(kept)
    if not rows:
        raise DataError("nothing was clicked: learning needs clicks")
    return RankingData(
        data.label, data.features[rows], np.array(grades), np.array(sizes), [str(n) for n in range(1, len(sizes) + 1)],
        [data.documents[row] for row in rows], np.array(weights),
    )  # fmt: skip
