"""Warnings about recommenders (RS5xx): training data against test data."""

from __future__ import annotations

from rankscope.diagnostics.inputs import LEFT_OUT
from rankscope.diagnostics.rule import Rule

# fmt: off
TestInTrain = Rule("RS501", "TestInTrain", "Test interactions are in the training data as well", needs="train",
    why="The recommender has seen the answers: its number measures how well it remembers, not how well it recommends, and models that "
        "memorise win. If seen items are filtered from the ranking, such tests cannot be hit, and the number falls instead.",
    remedy="split again, so that no pair of user and item is in both parts",
    text="{count} of {total:relevant test item} ({share:%}) {count:=is} in the training data of the same user[; without them: {effect}]")

SeenRecommended = Rule("RS502", "SeenRecommended", "Items that a user already has in the training data are recommended again", needs="train",
    why="An item that the user already has cannot be a hit in a clean test, so each one wastes a rank. Frameworks differ in whether "
        "they filter seen items, and so do their numbers.",
    remedy="filter seen items for all systems alike (or for none, if people consume again), and report which",
    text="{run}: {share:%} of the top {cutoff} was in the training data of the same user[; without seen items: {effect}]")

TimeOrder = Rule("RS503", "TimeOrder", "Training interactions are later than the test interactions of the same user", needs="train",
    why="The recommender learns from events after the moment of the test. In use it cannot, so the number is higher than the one users "
        "will see.",
    remedy="split by time: for each user, or better at one moment for all, train before and test after",
    text="{number} of {total:user} have training interactions later than their first test interaction ({count:interaction})")

Cold = Rule("RS504", "Cold", "Users or items of the test were never seen in training", severity="information", needs="train",
    why="A model that learns a vector for each user and item cannot recommend an item it has never seen: new users get popular items at "
        "best, and new items are never hit. This limits the number, however good the model is.",
    remedy="report cold users and items separately, or leave them out and report it",
    text="{count} of {total} {noun} of the test ({share:%}) {count:=is} not in the training data" + LEFT_OUT)
