"""Record launches, and find out which offline metric predicts which online one."""

from rankscope.verbs.launches import launches as launches
