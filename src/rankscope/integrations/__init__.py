"""Metrics of rankscope where models are trained: LightGBM, XGBoost, and loops of PyTorch and others.

>>> from rankscope.integrations import LightGBMMetric, RankingMetric, XGBoostMetric

Nothing here imports those packages: it takes what they hand over.
"""

from rankscope.integrations.boosting import LightGBMMetric, XGBoostMetric
from rankscope.integrations.loops import RankingMetric

__all__ = ["LightGBMMetric", "RankingMetric", "XGBoostMetric"]
