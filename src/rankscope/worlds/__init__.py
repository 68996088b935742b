"""A made-up world of users, what they ask for and what they do with it: logs of which the truth is known."""
