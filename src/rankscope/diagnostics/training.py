"""Warnings about recommenders (RS5xx): training data against test data."""

from __future__ import annotations

from rankscope.diagnostics.inputs import LEFT_OUT
from rankscope.diagnostics.rule import Rule

# fmt: off
TestInTrain = Rule("RS501", "TestInTrain", "Test interactions are in the training data as well", needs="train",
    why="The recommender has seen the answers: its number measures how well it remembers, not how well it recommends, and models that "
        "memorise win. If seen items are filtered from the ranking, these tests cannot be hit, and the number falls instead.",
    remedy="split again, so that no pair of user and item is in both parts",
    text="{count} of {total:relevant test item} ({share:%}) {count:=is} in the training data of the same user[; without them: {effect}]")

SeenRecommended = Rule("RS502", "SeenRecommended", "Items that a user already has in the training data are recommended again", needs="train",
    why="Items that the user already has cannot be hits in a clean test, so each wastes a rank. Frameworks differ in whether "
        "they filter seen items, and so do their numbers.",
    remedy="filter seen items for all systems alike (or keep them, if people consume again), and report which",
    text="{run}: {share:%} of the top {cutoff} was in the training data of the same user[; without seen items: {effect}]")

TimeOrder = Rule("RS503", "TimeOrder", "Training interactions are later than the test interactions of the same user", needs="train",
    why="The recommender learns from events after the moment of the test. In use it cannot, so the number is higher than the one users "
        "will see.",
    remedy="split by time: for each user, or better at one moment for all, train before and test after",
    text="{number} of {total:user} {number:=has} training interactions later than the user's first test interaction ({count:interaction})")

Cold = Rule("RS504", "Cold", "Users or items of the test were never seen in training", severity="information", needs="train",
    why="A model that learns a vector for each user and item cannot recommend an item it has never seen: new users get popular items at "
        "best, and new items are never hit. This limits the number, however good the model is.",
    remedy="report cold users and items separately, or leave them out and report it",
    text="{count} of {total} {noun} of the test ({share:%}) {count:=is} not in the training data" + LEFT_OUT)

OutOfReach = Rule("RS505", "OutOfReach", "Test items that no recommender can hit keep every number below its maximum", severity="information", needs="train",
    why="An item outside the catalogue or the training data is never shown, and an item that the user had before is filtered. The "
        "best possible list misses them, so 1 cannot be reached, and two splits with different bounds cannot be compared.",
    remedy="read each number as a share of the bound, which is the row oracle of rankscope evaluate --references, or leave these items out for all systems",
    text="{count} of {total:relevant test item} ({share:%}) cannot be hit ([{unknown} not in the {known}][{both:?}, ][{had} already had by the user])"
        "[; the best possible list scores {bounds}][; {run_shown} reaches {reached:%} of {metric}]")

FutureOfOthers = Rule("RS506", "FutureOfOthers", "Training interactions are later than tests of other users", severity="information", needs="train",
    why="Popularity, neighbours and factors then use data from after the moment of the recommendation: an item that became popular later is "
        "recommended before. In use a recommender has only the past, of all users.",
    remedy="split at one moment for all users, or report that the split has no common timeline",
    text="on average {share:%} of the training interactions are later than a test interaction[; {count} of {total:relevant test item} {count:=was} "
        "first met in training after the test]")

NoFeatures = Rule("RS507", "NoFeatures", "Items without features are shown", needs="items",
    why="An item without features is at distance 1 from all others and belongs to no group. Diversity rises with each, and calibration "
        "and fairness are about the rest of the list.",
    remedy="add the features, or report the share of items without them next to the number",
    text="{run}: {share:%} of its top {cutoff} has no {column} ({count:item}: {items:ids})")

UnknownItems = Rule("RS508", "UnknownItems", "The catalogue has features of items that are nowhere else", severity="information", needs="items",
    why="Coverage and Gini divide by the catalogue. Items that were removed, or whose ids are written differently, count there as items that the "
        "recommender fails to show.",
    remedy="leave out items that cannot be recommended, and compare the ids of the catalogue with the ids in runs and training data",
    text="{count} of {total:item} of {source} ({share:%}) {count:=is} in no run, judgment and training interaction ({items:ids})")
