"""The click models (Chuklin, Markov and de Rijke, 2015): each has a way to look and a source of attraction."""

from __future__ import annotations

from typing import Any

from rankscope.behaviour import browsing
from rankscope.click_models.base import ClickModel


class GCTR(ClickModel):
    """Global click-through rate: every item is clicked with the same probability."""

    attracts = "all"


class RCTR(ClickModel):
    """Click-through rate by rank: each place has its own probability of a click."""

    attracts = "place"


class DCTR(ClickModel):
    """Click-through rate by document: each item, for its query, has its own probability of a click."""


class PBM(ClickModel):
    """Position-based model: a click needs examination, which depends on the place, and attraction."""

    browsing = browsing.PositionBased()
    source = "Richardson, Dominowska and Ragno, Predicting clicks, WWW 2007; Craswell et al., WSDM 2008"


class CM(ClickModel):
    """Cascade model: users read from the top to the first click, and stop there."""

    browsing = browsing.FirstClick()
    source = "Craswell, Zoeter, Taylor and Ramsey, An experimental comparison of click position-bias models, WSDM 2008"


class DCM(ClickModel):
    """Dependent click model: after a click users go on with a probability that depends on the place."""

    browsing = browsing.DependentClicks()
    source = "Guo, Liu and Wang, Efficient multiple-click models in web search, WSDM 2009"


class CCM(ClickModel):
    """Click chain model: users go on with one probability after no click, and with others after a click, by its relevance."""

    browsing = browsing.ClickChain()
    source = "Guo et al., Click chain model in web search, WWW 2009"


class UBM(ClickModel):
    """User browsing model: examination depends on the place and on the last click above."""

    browsing = browsing.UserBrowsing()
    source = "Dupret and Piwowarski, A user browsing model to predict search engine click data from past observations, SIGIR 2008"


class DBN(ClickModel):
    """Dynamic Bayesian network: users read on with one probability, until an item that they clicked satisfies them."""

    browsing = browsing.DynamicBayesian()
    source = "Chapelle and Zhang, A dynamic Bayesian network click model for web search ranking, WWW 2009"


class SDBN(ClickModel):
    """Simplified DBN: users read on until an item that they clicked satisfies them."""

    browsing = browsing.UntilSatisfied()
    source = "Chapelle and Zhang, A dynamic Bayesian network click model for web search ranking, WWW 2009"


MODELS = ClickModel.catalogue


def find_click_model(model: Any) -> ClickModel:
    """Read a click model by its name, with parameters in brackets."""
    return ClickModel.read(model)
