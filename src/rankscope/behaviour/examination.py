"""The examination curve for code that models behaviour. It is an array by rank, so metrics take it as a discount as well."""

from __future__ import annotations

from rankscope.lists.examination import SCHEMA, Examination

__all__ = ["SCHEMA", "Examination"]
