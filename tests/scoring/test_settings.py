"""The settings of a project: what each can be, whose they are, where they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankscope.errors import InputError
from rankscope.panels.tolerance import Defaults
from rankscope.scoring.policies import POLICIES
from rankscope.scoring.settings import SETTINGS, Settings, settings_of


def written(folder: Path, text: str) -> str:
    place = folder / "settings.toml"
    place.write_text(text)
    return str(place)


def test_every_policy_is_a_setting_and_its_default_is_one_of_its_values() -> None:
    assert set(POLICIES) <= set(SETTINGS)
    for name, policy in POLICIES.items():
        assert policy.default is None or SETTINGS[name].accepts(policy.default), name
        assert not SETTINGS[name].accepts([[]]), name


def test_a_verb_gets_its_own_settings_above_those_of_all(tmp_path: Path) -> None:
    text = 'alpha = 0.1\ncorrection = "bh"\ntolerance = 0.2\n[gate]\nalpha = 0.01\n[compare]\ndepth = 5\n'
    settings = settings_of(written(tmp_path, text))
    assert settings.of("gate").options == {"alpha": 0.01, "tolerance": 0.2}
    assert settings.of("compare").options == {"alpha": 0.1, "correction": "bh", "depth": 5}


@pytest.mark.parametrize(
    ("text", "metrics"),
    [("", None), ('primary = "AP"', "AP"), ('metrics = "RR"', ["RR"]), ('primary = "AP"\nmetrics = ["RR"]', ["RR"])],
)  # fmt: skip
def test_the_metrics_are_those_listed_else_the_main_one(tmp_path: Path, text: str, metrics: object) -> None:
    settings = settings_of(written(tmp_path, text))
    assert settings.metrics == metrics
    assert settings.options == {}


def test_files_are_named_from_the_folder_of_the_settings(tmp_path: Path) -> None:
    text = 'slices = "kinds.csv"\nweights = "/else/where.csv"\ndialect = "lightgbm"'
    options = settings_of(written(tmp_path, text)).options
    assert options == {"slices": str(tmp_path / "kinds.csv"), "weights": "/else/where.csv", "dialect": "lightgbm"}  # fmt: skip


def test_the_nearest_project_holds(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.rankscope]\nseed = 7\n[tool.rankscope.tolerance]\nRR = 0.1\n")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    settings = settings_of(start=below)
    assert (settings.place, settings.file) == ("pyproject.toml [tool.rankscope]", str(tmp_path / "pyproject.toml"))  # fmt: skip
    assert settings.values == {"seed": 7, "tolerance": {"RR": 0.1}}
    assert isinstance(settings.values["tolerance"], Defaults)
    (below / "pyproject.toml").write_text("[project]\n")
    assert settings_of(start=below) == Settings(file=str(below / "pyproject.toml"))


def test_a_misspelled_name_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no setting is called shade: there are primary, metrics, .* and experiment$"):
        settings_of(written(tmp_path, "shade = 1"))


@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.7, 1.2])
def test_alpha_is_above_0_and_below_a_half(tmp_path: Path, alpha: float) -> None:
    with pytest.raises(InputError, match=r"a number above 0 and below 0\.5, like 0\.05"):
        settings_of(written(tmp_path, f"alpha = {alpha}"))
