"""The base class of formats of runs and judgments: one class per format, in the module of its reader."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from rankscope.files.parts import RunParts
from rankscope.files.raw import Raw
from rankscope.tables import Qrels, Run


class RunFormat(ABC):
    """A format of runs and judgments in files: how to recognise it and how to read it.

    ``name`` is the format in messages and settings, ``endings`` are those of its files. ``holds`` is the kind of file that it is written
    in, if other formats are written in the same (lists of documents are JSON lines).
    """

    name: ClassVar[str]
    endings: ClassVar[tuple[str, ...]] = ()
    holds: ClassVar[str] = ""

    @abstractmethod
    def recognises(self, raw: Raw) -> bool:
        """Return True if a file is certainly of this format. Formats are asked in the order of the catalogue."""

    @abstractmethod
    def read(self, raw: Raw, what: str, name: str | None) -> Run | Qrels:
        """Read a file; ``what`` is "run" or "qrels", ``name`` the run's name if the caller gave one."""

    def parts(self, raw: Raw, name: str | None) -> RunParts | None:
        """Return a large run to be read in parts; None if the format, or this file, is read whole."""
        return None
