"""Many inputs on all cores: what was tried and found is kept, so that a campaign goes on where it was stopped.

Each worker is a process of its own: one that is aborted, or hangs, tells on which input, and another takes its place.
"""

from __future__ import annotations

import base64
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from multiprocessing import connection, get_context
from pathlib import Path
from typing import Any

from fuzzing.known import known

BLOCK = 250  # inputs a worker is given at a time
PATIENCE = 60.0  # seconds after which an input counts as hanging
MEMORY = 8 << 30  # address space of a worker
EVERY = 10.0  # seconds between two writings of what was found


@dataclass
class Example:
    """The smallest input of a finding, and how often there was one like it."""

    kind: str
    form: str
    name: str
    data: str
    said: str
    due: str
    number: int
    count: int = 1

    def smaller(self, other: Example) -> Example:
        """The one with fewer bytes, counted for both."""
        least = min(self, other, key=lambda example: (len(example.data), example.number))
        return Example(**(asdict(least) | {"count": self.count + other.count}))


ENDED = {"abort", "hang"}  # what ends a process that tries it


@dataclass
class Tried:
    """What was tried and found: inputs by form and outcome, by level of change, and findings by signature.

    ``cured`` counts by kind and form the inputs of findings that are none any more: their smallest was tried again, later in the campaign.
    """

    inputs: int = 0
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    levels: Counter[str] = field(default_factory=Counter)
    findings: dict[str, Example] = field(default_factory=dict)
    cured: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tried) -> None:
        """Count what a block found."""
        self.inputs += other.inputs
        self.seconds += other.seconds
        self.outcomes.update(other.outcomes)
        self.levels.update(other.levels)
        for signature, example in other.findings.items():
            old = self.findings.get(signature)
            self.findings[signature] = example if old is None else old.smaller(example)

    def new(self) -> dict[str, Example]:
        """The findings that are not known."""
        return {signature: example for signature, example in self.findings.items() if not known(signature)}

    def as_json(self) -> dict[str, Any]:
        """For a file."""
        return {
            "inputs": self.inputs, "seconds": round(self.seconds, 1), "outcomes": dict(sorted(self.outcomes.items())),
            "levels": dict(sorted(self.levels.items())), "findings": {key: asdict(found) for key, found in self.findings.items()},
            "cured": dict(sorted(self.cured.items())),
        }  # fmt: skip

    @classmethod
    def of_json(cls, kept: dict[str, Any]) -> Tried:
        """From a file."""
        findings = {key: Example(**found) for key, found in kept["findings"].items()}
        counts = (Counter(kept.get(name, {})) for name in ("outcomes", "levels", "cured"))
        outcomes, levels, cured = counts
        return cls(kept["inputs"], kept["seconds"], outcomes, levels, findings, cured)

    def try_again(self, seed: int, folder: Path) -> None:
        """Try the smallest input of each finding once more, as the package may be mended since, and count those that are cured."""
        from fuzzing.checks import check
        from fuzzing.inputs import made

        for signature, example in list(self.findings.items()):
            number = example.number
            again = [] if example.kind in ENDED else check(made(seed, number), folder, number, Counter())[1]
            if not again and (example.kind not in ENDED or _ends_well(seed, number)):
                self.cured[f"{example.kind}, {example.form}"] += example.count
                del self.findings[signature]


def _ends_well(seed: int, number: int) -> bool:
    """Whether an input that once ended a process passes, in a process of its own."""
    command = [sys.executable, "-m", "fuzzing", "--seed", str(seed), "--one", str(number)]
    root = Path(__file__).resolve().parents[1]
    try:
        return (
            subprocess.run(command, cwd=root, capture_output=True, timeout=10 * PATIENCE, check=False).returncode == 0
        )
    except subprocess.TimeoutExpired:
        return False


# --- in a worker ------------------------------------------------------------------------------------


def try_block(seed: int, block: int, folder: Path, current: Any, without: frozenset[int] = frozenset()) -> Tried:
    """Try the inputs of a block; ``current`` always holds the number of the one being tried."""
    from fuzzing.checks import check
    from fuzzing.inputs import made

    tried, started = Tried(), time.perf_counter()
    for number in range(block * BLOCK, (block + 1) * BLOCK):
        if number in without:
            continue
        current.value = number
        given = made(seed, number)
        outcome, findings = check(given, folder, number, tried.levels)
        tried.inputs += 1
        tried.outcomes[f"{given.form} | {outcome}"] += 1
        tried.levels.update({*given.steps} or {"nothing"})
        if given.packed:
            tried.levels[given.packed] += 1
        for found in findings:
            data = base64.b64encode(given.file).decode()
            example = Example(
                found.kind, given.form, given.name, data, _told(found.said, folder), _told(found.due, folder), number
            )
            old = tried.findings.get(found.signature)
            tried.findings[found.signature] = example if old is None else old.smaller(example)
    tried.seconds = time.perf_counter() - started
    return tried


def _told(text: str, folder: Path) -> str:
    return text.replace(f"{folder}/", "")[:400]


def work(seed: int, pipe: connection.Connection, current: Any) -> None:
    """Try blocks as they are asked for, in a process of its own whose messages on stderr nobody reads."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("error")
    from fuzzing import checks  # noqa: F401  loaded before anything is timed

    gc.freeze()
    shared = Path("/dev/shm")  # noqa: S108  files in memory where there are some
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as folder:
        while (task := pipe.recv()) is not None:
            block, without = task
            pipe.send((block, try_block(seed, block, Path(folder), current, without)))


# --- the campaign -----------------------------------------------------------------------------------


class Worker:
    """A process and the block that it tries."""

    def __init__(self, seed: int) -> None:
        context = get_context("spawn")
        self.current = context.Value("q", -1, lock=False)
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(seed, theirs, self.current), daemon=True)
        self.process.start()
        theirs.close()
        self.block = -1
        self.without: frozenset[int] = frozenset()
        self.seen = (-1, time.monotonic(), 0.0)

    def give(self, block: int, without: frozenset[int] = frozenset()) -> None:
        """Begin a block, leaving out inputs that ended a worker."""
        self.block, self.without = block, without
        self.seen = (-1, time.monotonic(), self.worked)
        self.pipe.send((block, without))

    @property
    def hangs(self) -> bool:
        """Whether it has been trying one input for too long."""
        number = self.current.value
        if number != self.seen[0]:
            self.seen = (number, time.monotonic(), self.worked)
        waited = time.monotonic() - self.seen[1]
        return waited > PATIENCE and (self.worked - self.seen[2] > PATIENCE / 2 or waited > 10 * PATIENCE)

    @property
    def worked(self) -> float:
        """Seconds that the process had of a processor, where the system tells: on a busy machine it may wait for long; else all seconds."""
        try:
            times = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
            return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError):
            return time.monotonic()

    def end(self) -> None:
        """Let it finish, or end it."""
        with suppress(OSError, BrokenPipeError):
            self.pipe.send(None)
        self.process.join(1)
        self.process.kill()
        self.process.join()


@dataclass
class Campaign:
    """Inputs from 0 on that are made from a seed, tried on some processes, and kept in a file."""

    path: Path
    seed: int
    jobs: int
    done: int = 0  # blocks from 0 on that were tried
    beyond: set[int] = field(default_factory=set)  # blocks beyond them that were
    tried: Tried = field(default_factory=Tried)

    @classmethod
    def at(cls, path: Path, seed: int, jobs: int, fresh: bool = False) -> Campaign:
        """The campaign that a file keeps, or a new one where it keeps none, or one of another seed."""
        if path.exists() and not fresh:
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept["seed"] == seed:
                return cls(path, seed, jobs, kept["done"], set(kept["beyond"]), Tried.of_json(kept["tried"]))
        return cls(path, seed, jobs)

    def keep(self) -> None:
        """Write the file, whole or not at all."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        told = {"seed": self.seed, "done": self.done, "beyond": sorted(self.beyond), "tried": self.tried.as_json()}
        other = self.path.with_suffix(".part")
        other.write_text(json.dumps(told, indent=1), encoding="utf-8")
        other.replace(self.path)

    def run(self, seconds: float | None, inputs: int | None, say: Any = print) -> None:
        """Try inputs until so many seconds have passed or so many inputs were tried in all."""
        with tempfile.TemporaryDirectory() as folder:
            self.tried.try_again(self.seed, Path(folder))
        started, told = time.monotonic(), time.monotonic()
        end = None if inputs is None else -(-inputs // BLOCK)
        blocks = self._blocks(end)
        workers: list[Worker] = []
        try:
            workers += [worker for _ in range(self.jobs) if (worker := self._next(None, blocks)) is not None]
            while workers:
                connection.wait([worker.pipe for worker in workers], timeout=1)
                late = seconds is not None and time.monotonic() - started > seconds
                workers = [
                    new
                    for worker in workers
                    if (new := self._looked_after(worker, iter(()) if late else blocks)) is not None
                ]
                if time.monotonic() - told > EVERY:
                    told = time.monotonic()
                    self.keep()
                    say(
                        f"{self.tried.inputs:,} inputs, {len(self.tried.new())} new findings, {time.monotonic() - started:.0f} s",
                        flush=True,
                    )
        finally:
            for worker in workers:
                worker.process.kill()
            self.keep()

    def _blocks(self, end: int | None) -> Iterator[int]:
        block = self.done
        while end is None or block < end:
            if block not in self.beyond:
                yield block
            block += 1

    def _next(self, worker: Worker | None, blocks: Iterator[int]) -> Worker | None:
        """Give a worker, or a new one, the next block; None where there is none."""
        block = next(blocks, None)
        if block is None:
            if worker is not None:
                worker.end()
            return None
        worker = worker or Worker(self.seed)
        worker.give(block)
        return worker

    def _looked_after(self, worker: Worker, blocks: Iterator[int]) -> Worker | None:
        """Take what a worker has tried and give it more; put another in the place of one that ended or hangs."""
        if worker.pipe.poll():
            try:
                block, tried = worker.pipe.recv()
            except (EOFError, OSError):
                return self._replaced(worker, "abort")
            self._count(block, tried)
            return self._next(worker, blocks)
        if worker.hangs:
            return self._replaced(worker, "hang")
        return self._replaced(worker, "abort") if not worker.process.is_alive() else worker

    def _replaced(self, worker: Worker, kind: str) -> Worker:
        from fuzzing.inputs import made

        number = int(worker.current.value)
        worker.process.kill()
        worker.process.join()
        if number < 0:
            raise RuntimeError("a worker ended before its first input: python -m fuzzing --one 0 tells why")
        given = made(self.seed, number)
        said = f"ended the process with {worker.process.exitcode}" if kind == "abort" else f"took over {PATIENCE:.0f} s"
        data = base64.b64encode(given.file).decode()
        signature, example = (
            f"{kind} | {given.form}",
            Example(kind, given.form, given.name, data, said, "a table or one line", number),
        )
        ended = Tried(1, outcomes=Counter({f"{given.form} | {kind}": 1}), findings={signature: example})
        self.tried.add(ended)
        new = Worker(self.seed)
        new.give(worker.block, worker.without | {number})
        return new

    def _count(self, block: int, tried: Tried) -> None:
        self.tried.add(tried)
        self.beyond.add(block)
        while self.done in self.beyond:
            self.beyond.remove(self.done)
            self.done += 1
