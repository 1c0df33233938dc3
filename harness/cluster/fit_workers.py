"""The workers of a scheduler: who is there, and who has what is here; that it is gone is one error."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nonobot
from nonobot.harness.errors import UnusableError
from nonobot.harness.play.machine import machine_facts, version_of
from nonobot.harness.ranking.comparability import MachineKind, kind_of

if TYPE_CHECKING:
    from distributed import Client

__all__ = [
    "Facts",
    "FitWorkers",
    "SchedulerLostError",
    "differing",
    "software",
    "talking",
    "what_differs",
    "workers_of",
]

Facts = Callable[[], Mapping[str, str]]
"""Returns what has to be the same here and on all workers, by name; a function that can be pickled."""


class SchedulerLostError(UnusableError):
    """The scheduler is gone, or another one is in its place, which knows nothing."""


@contextlib.contextmanager
def talking() -> Iterator[None]:
    """Let whatever says that the scheduler does not answer be a SchedulerLostError."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:  # dask raises all of them, for that
        raise SchedulerLostError(f"the scheduler does not answer any more: {error}") from error


def workers_of(client: Client) -> Mapping[str, Any]:
    """Return what the scheduler knows of its workers, by their addresses."""
    workers: Mapping[str, Any] = client.scheduler_info(n_workers=-1)["workers"]
    return workers


def software() -> dict[str, str]:
    """Return what has to be the same wherever parts of one job are done, by name."""
    return {
        "nonobot": f"{nonobot.__version__}, sources {_sources_digest()[:8]}",
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": version_of("numpy") or "none",
        "numba": version_of("numba") or "none",
    }


def what_differs(client: Client, workers: Mapping[str, Any], facts: Facts) -> dict[str, list[str]]:
    """Return for each worker a line for each thing that makes it unfit; none for one that is fit.

    Parameters
    ----------
    client : Client
    workers : dict
        As :func:`workers_of` returns them, or some of them.
    facts : callable
        Called here and on each worker.
    """
    here = facts()
    found = client.run(facts, workers=list(workers), on_error="return") if workers else {}
    lines = {}
    for address, known in workers.items():
        lines[address] = differing(address, here, found.get(address, ConnectionError("it left")))
        if known["nthreads"] != 1:
            lines[address].append(f"{address}: {known['nthreads']} threads; start it with --nthreads 1")
    return lines


def differing(address: str, here: Mapping[str, str], there: Mapping[str, str] | BaseException) -> list[str]:
    """Return a line for each value of `here` that is not the same `there`; an exception says why there is none."""
    if isinstance(there, ModuleNotFoundError):
        return [f"{address}: {there}; nonobot {nonobot.__version__} has to be installed there"]
    if isinstance(there, BaseException):
        return [f"{address}: {there}"]
    return [
        f"{address}: {name} {there.get(name, 'unknown')}, here {value}"
        for name, value in here.items()
        if there.get(name) != value
    ]


class FitWorkers:
    """Who is there, and who of them can be used, as they come and go.

    Parameters
    ----------
    client : Client
    facts : callable
        As for :func:`what_differs`.
    say : callable
        Told in a line of each worker that is not used.

    Attributes
    ----------
    there : set of str
        Addresses of all.
    fit : dict of str to MachineKind
        Those that can be used, with the kinds of their machines.
    """

    def __init__(self, client: Client, facts: Facts, say: Callable[[str], None]) -> None:
        self.there: set[str] = set()
        self.fit: dict[str, MachineKind] = {}
        self._client = client
        self._facts = facts
        self._say = say
        self._unfit: set[str] = set()
        self._scheduler = client.scheduler_info()["id"]

    def look(self) -> None:
        """See who came and went; who came is looked at."""
        info = self._client.scheduler_info(n_workers=-1)
        if info["id"] != self._scheduler:
            raise ConnectionError("another scheduler is in its place")
        workers = info["workers"]
        self.there = set(workers)
        running = {address: known for address, known in workers.items() if known["status"] == "running"}
        self.fit = {address: kind for address, kind in self.fit.items() if address in running}
        new = {address: running[address] for address in running.keys() - self.fit.keys() - self._unfit}
        for address, lines in what_differs(self._client, new, self._facts).items():
            for line in lines:
                self._say(f"not used: {line}")
            if lines:
                self._unfit.add(address)
        fit = list(new.keys() - self._unfit)
        kinds = self._client.run(_kind, workers=fit, on_error="return") if fit else {}
        self.fit |= {address: kind for address, kind in kinds.items() if isinstance(kind, tuple)}

    def put_aside(self, address: str, why: str) -> None:
        """Use a worker no more."""
        self._say(f"not used any more: {address}: {why}")
        self._unfit.add(address)
        self.fit.pop(address, None)


def _kind() -> MachineKind:
    return kind_of(machine_facts(()))


@cache
def _sources_digest() -> str:
    """Return a digest of all modules: in a clone, one version has many states."""
    digest = hashlib.sha256()
    folder = Path(nonobot.__file__).parent
    for path in sorted(Path(name) / one for name, _, ones in os.walk(folder, followlinks=True) for one in ones):
        if path.suffix == ".py":
            digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return digest.hexdigest()
