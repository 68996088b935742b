"""Charts: a ``Chart`` as a Vega-Lite specification and its data, as SVG and as PNG, with no browser and no network."""

from __future__ import annotations

from rankscope.show.charts.data import data_of as data_of
from rankscope.show.charts.spec import pdf_of as pdf_of
from rankscope.show.charts.spec import pictures_of as pictures_of
from rankscope.show.charts.spec import png_of as png_of
from rankscope.show.charts.spec import prepare_runtime as prepare_runtime
from rankscope.show.charts.spec import runtime as runtime
from rankscope.show.charts.spec import spec_of as spec_of
from rankscope.show.charts.spec import svg_of as svg_of
from rankscope.show.charts.theme import config_of as config_of
from rankscope.show.charts.theme import themes as themes
