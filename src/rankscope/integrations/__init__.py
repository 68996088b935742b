"""Metrics of rankscope in training: LightGBM, XGBoost, and loops of PyTorch and others.

>>> from rankscope.integrations import LightGBMMetric, RankingMetric, XGBoostMetric

Nothing here imports those packages: it takes their arrays.
"""

from rankscope.integrations.boosting import LightGBMMetric, XGBoostMetric
from rankscope.integrations.loops import RankingMetric

__all__ = ["LightGBMMetric", "RankingMetric", "XGBoostMetric"]
