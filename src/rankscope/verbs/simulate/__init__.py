"""Make logs of users whose truth is known: to try things on, to plan by, to test with."""
