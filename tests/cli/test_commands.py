"""Laws over the table of commands: what is declared once is said alike wherever it is met."""

from __future__ import annotations

import inspect
import re
import shlex
from typing import Any

import click
import pytest

import rankscope
import rankscope as rs
from rankscope.cli.app import app
from rankscope.cli.commands import POLICIES as ALL_POLICIES
from rankscope.cli.commands import Command, Option, ScoringOptions
from rankscope.cli.table import COMMANDS
from rankscope.scoring.policies import POLICIES
from rankscope.show.result import Result

VERBS = [command for command in COMMANDS if command.verb]
INPUTS = {
    "original",
    "mine",
    "qrels",
    "runs",
    "baseline",
    "candidate",
    "name",
    "metrics",
    "metric",
    "progress",
    "command",
}


def name(command: Command) -> str:
    return command.name


def keywords(command: Command) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(command.function).parameters)


def options(command: Command, *readers: str) -> list[Option]:
    return [one for one in command.parameters if isinstance(one, Option) and one.to in readers]


def help_of(command: Command) -> str:
    built = command.build()
    return " ".join(built.get_help(click.Context(built, info_name=command.name)).split())


def results_of(command: Command) -> list[type[Result]]:
    """The classes that a verb says it returns."""
    returns = str(inspect.signature(command.function).return_annotation).split(" | ")
    module = inspect.getmodule(inspect.unwrap(command.function))
    classes = [getattr(module, one) for one in returns if one != "PartialScores"]  # which is no result yet
    assert classes
    return classes


@pytest.mark.parametrize("command", VERBS, ids=name)
def test_python_has_every_option_under_the_same_name(command: Command) -> None:
    taken = keywords(command)
    any_option = any(one.kind is one.VAR_KEYWORD for one in taken.values())
    of_report = {**keywords(by_name("compare")), **keywords(by_name("estimate"))}
    other = {"report": of_report, "simulate": inspect.signature(rs.simulate_aa).parameters}
    for option in options(command, "verb"):
        assert option.name in taken or option.name in other.get(command.name, {}), option.name
    for option in options(command, "policy"):
        assert option.name in taken or any_option, option.name


@pytest.mark.parametrize("name", [name for name, policy in POLICIES.items() if policy.values])
def test_every_value_of_a_policy_is_read_as_what_it_is(name: str) -> None:
    (option,) = (one for one in options(by_name("evaluate"), "policy") if one.name == name)
    for value in POLICIES[name].values:
        read = option.read(str(value)) if option.read else None
        assert (read, type(read)) == (value, type(value))


def by_name(wanted: str) -> Command:
    return next(command for command in COMMANDS if command.name == wanted)


@pytest.mark.parametrize("command", VERBS, ids=name)
def test_the_command_line_has_every_keyword(command: Command) -> None:
    there = {one.name for one in command.parameters}
    # on the command line a name that several runs have; and what goes with a plain list, which no file holds
    by_file = {"systems", "known", "run", "train", "test", "tables", "tokeniser"}
    missing = {
        one.name
        for one in keywords(command).values()
        if one.kind is not one.VAR_KEYWORD and one.name not in there | INPUTS | by_file
    }
    assert missing == set()


@pytest.mark.parametrize("command", VERBS, ids=name)
def test_defaults_are_those_of_the_verb(command: Command) -> None:
    taken = keywords(command)
    for option in options(command, "verb", "policy"):
        if option.show_default and option.name in taken:
            assert option.default == taken[option.name].default, option.name


@pytest.mark.parametrize("command", [c for c in COMMANDS if ALL_POLICIES in c.takes], ids=name)
def test_every_policy_is_an_option_with_its_words(command: Command) -> None:
    text = help_of(command)
    for policy in POLICIES.values():
        assert f"--{policy.name.replace('_', '-')}" in text
        assert policy.help in text
    for value in (str(value) for policy in POLICIES.values() for value in policy.values if value != "list"):
        assert value in text


def test_commands_on_rankings_take_all_policies_or_say_which() -> None:
    every = {
        command.name for command in VERBS for one in command.takes if isinstance(one, ScoringOptions) and not one.only
    }
    partly = {command.name for command in VERBS if options(command, "policy")} - every
    assert partly == {"ties", "reconcile", "advise", "merge", "fuse", "agree", "interleave"}


@pytest.mark.parametrize("command", [c for c in VERBS if c.name not in {"report", "fuse", "interleave"}], ids=name)
def test_formats_are_those_of_the_result(command: Command) -> None:
    (form,) = (one for one in command.parameters if one.name == "form")
    chosen = form.type.choices  # type: ignore[attr-defined]
    for result in results_of(command):
        assert set(chosen) <= set(result.formats), result
        if command.name != "metrics":
            assert set(result.formats) <= set(chosen), result


@pytest.mark.parametrize("command", COMMANDS, ids=name)
def test_examples_can_be_typed(command: Command) -> None:
    assert command.examples
    for example in command.examples:
        typed = re.split(r"\s{2,}|\s>", example)[0]
        first, *rest = shlex.split(typed)
        assert first == command.name
        command.build().make_context(command.name, rest)


@pytest.mark.parametrize("command", VERBS, ids=name)
def test_the_face_has_every_verb_and_its_results(command: Command) -> None:
    assert inspect.unwrap(getattr(rankscope, command.function.__name__)) is command.function
    for result in results_of(command):
        assert getattr(rankscope, result.__name__) is result


def test_names_in_help_are_those_of_the_catalogue() -> None:
    from rankscope.inference.base import Correction, Interval, PairedTest

    text = help_of(by_name("compare"))
    for kind in (PairedTest, Interval, Correction):
        ours = {one for one in kind.catalogue.values() if one.__module__.startswith("rankscope.")}
        for cls in {
            one for one in ours if getattr(one, "of", "") != "units"
        }:  # those compare systems without shared units
            assert cls.__name__ in text


def test_the_group_lists_every_command() -> None:
    context: Any = click.Context(app, info_name="rankscope")
    listed = app.get_help(context)
    for command in COMMANDS:
        assert f"  {command.name} " in listed
        assert command.about.split()[-1] in listed
        assert app.get_command(context, command.name) is not None
