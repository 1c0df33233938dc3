"""Workers that do parts of a job: cores of this machine, or matching workers of a dask cluster.

dask.distributed is an extra and slow to load: it is imported only for a command that uses workers.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import platform
import re
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import nonobot
from nonobot.arguments import missing
from nonobot.harness import UnusableError
from nonobot.harness.process.bot_files import modules_digest
from nonobot.harness.process.interrupts import Interrupts
from nonobot.harness.process.machine import machine_facts, version_of
from nonobot.harness.ranking.comparability import MachineKind, kind_of
from nonobot.harness.results.conditions import Machine
from nonobot.system import usable_cores

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

WHERE_HELP = (
    "local (all cores of this machine), local:N, or a dask scheduler's address such as tcp://10.0.0.1:8786"
)

SECONDS_TO_CONNECT = 6.0  # time for a scheduler to answer; with the time for loading, less than 10 s

SECONDS_TO_HEED = 0.2  # between two looks at signals
SECONDS_TO_GREET = 4.0  # time for a scheduler to accept a connection, and then for its first bytes
GREETING_BYTES, LONGEST_GREETING_BYTES = 8, 1 << 20

SECONDS_TO_CLOSE = 5.0

Facts = Callable[[], Mapping[str, str]]  # returns facts that must be the same on all workers


class SchedulerLostError(UnusableError):
    """The scheduler is gone, or a new scheduler without the tasks has replaced it."""


@contextlib.contextmanager
def talking() -> Iterator[None]:
    """Turn every error of a scheduler that does not answer into a SchedulerLostError."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:  # dask raises any of these
        raise SchedulerLostError(f"the scheduler does not answer any more: {error}") from error


# --- the connection -------------------------------------------------------------------------------------------


def where(text: str) -> str:
    """Return `text` if it names a place for work, for argparse."""
    if re.fullmatch(r"local(:[1-9][0-9]{0,3})?|tcp://([^\s:/]+|\[[^\s\]]+\])(:[0-9]{1,5})?", text):
        return text
    raise argparse.ArgumentTypeError(f"{text!r} is not local, local:N or an address such as tcp://10.0.0.1:8786")


@contextlib.contextmanager
def connected(place: str, facts: Facts | None = None) -> Iterator[Client]:
    """Provide a client of the workers at `place`, each with one task at a time, within the block.

    Workers on this machine run only within the block, each on its own core if possible. UnusableError if
    dask.distributed is missing, no scheduler or worker answers, or a worker lacks one of the `facts` (default:
    :func:`software`); SchedulerLostError if the scheduler is lost.
    """
    try:
        import distributed
    except ImportError:
        raise UnusableError(missing("--on", "distributed")) from None
    # The commands report in one line what these loggers would. The level stays: a connection that is still
    # closing may fail when the process ends. After the import, which sets the levels of most of them.
    for name in ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    if not place.startswith("local"):
        _require_scheduler(place)
    with contextlib.ExitStack() as stack:
        with _uninterrupted():
            address = place
            try:
                if place.startswith("local"):
                    address = stack.enter_context(_own_workers(place)).scheduler_address
                client = distributed.Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
            except RuntimeError as error:  # such as for one that was killed
                raise UnusableError(f"the workers of {place} cannot be started: {error}") from None
            except (OSError, TimeoutError, ValueError) as error:
                raise UnusableError(f"no scheduler answers at {address}: {error or 'no answer in time'}") from None
            stack.enter_context(contextlib.closing(client))
            with talking():
                if address is not place:
                    client.register_plugin(_settler(distributed, local_cores(place)))
                try:
                    client.wait_for_workers(1, timeout=SECONDS_TO_CONNECT)
                except TimeoutError:
                    raise UnusableError(
                        f"the scheduler at {place} has no workers; to start one: dask worker {place} --nthreads 1"
                    ) from None
                unfit = FitWorkers(client, facts or software).look()
            if unfit:
                raise UnusableError("\n  ".join([f"not all workers at {place} can be used:", *unfit]))
        yield client


def _require_scheduler(address: str) -> None:
    """Raise UnusableError if something else than a dask scheduler listens at an address.

    A scheduler speaks first: the length of its greeting in eight bytes, the lowest first. dask itself would wait
    for ever, deaf to a Ctrl-C, for a program that accepts connections and is silent.
    """
    host, _, port = address.removeprefix("tcp://").rpartition(":")
    if not port.isdigit():
        host, port = address.removeprefix("tcp://"), "8786"
    greeting = b""
    try:
        with socket.create_connection((host.strip("[]"), int(port)), SECONDS_TO_GREET) as connection:
            until = time.monotonic() + SECONDS_TO_GREET
            while len(greeting) < GREETING_BYTES:
                Interrupts.heed()
                if select.select([connection], [], [], SECONDS_TO_HEED)[0]:
                    more = connection.recv(GREETING_BYTES - len(greeting))
                    if not more:
                        break
                    greeting += more
                elif time.monotonic() > until:
                    raise TimeoutError
        problem = "it ended the connection"
    except TimeoutError:
        problem = f"nothing came within {SECONDS_TO_GREET:g} s"
    except (OSError, OverflowError):
        return  # dask tries again for a while, and says what is wrong
    if int.from_bytes(greeting, "little") > LONGEST_GREETING_BYTES:
        problem = "it speaks another protocol"
    elif len(greeting) == GREETING_BYTES:
        return
    raise UnusableError(f"no scheduler answers at {address}: {problem}")


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Defer a Ctrl-C until after the block: dask would later complain about incomplete work."""
    with Interrupts() as interrupts:
        try:
            yield
        finally:
            if interrupts.told:
                raise KeyboardInterrupt


def local_cores(place: str) -> list[list[int]]:
    """Return the cores of each worker that `local` or `local:N` starts: shared ones, and last its own."""
    usable = usable_cores()
    count = int(place.partition(":")[2] or len(usable))
    if count > len(usable):
        return [usable] * count
    shared, own = usable[: len(usable) - count], usable[len(usable) - count :]
    return [[*shared, core] for core in own]


@contextlib.contextmanager
def _own_workers(place: str) -> Iterator[LocalCluster]:
    import dask
    from distributed import LocalCluster

    # Spawned, since this process has threads. Those variables change how malloc works, in bots too.
    settings: dict[str, object] = {
        "distributed.worker.multiprocessing-method": "spawn",
        "distributed.nanny.pre-spawn-environ": {},
        # Idle processes must not use a core: these two wake each process 50 and 100 times a second.
        "distributed.admin.tick.interval": "1s",
        "distributed.worker.profile.enabled": False,
    }
    with contextlib.ExitStack() as stack:
        # Workers import modules from a folder in it; the one that dask would take may be another user's.
        settings["temporary-directory"] = stack.enter_context(TemporaryDirectory(prefix="nonojudge-"))
        stack.enter_context(dask.config.set(settings))
        stack.enter_context(_safe_path())
        cluster = LocalCluster(
            n_workers=len(local_cores(place)),
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # it still has a server for its state
            memory_limit=None,
            silence_logs=logging.CRITICAL,
        )
        try:
            yield cluster
        finally:
            with contextlib.suppress(TimeoutError):
                cluster.close(timeout=SECONDS_TO_CLOSE)


@contextlib.contextmanager
def _safe_path() -> Iterator[None]:
    """Keep each Python that starts in the block from importing modules of the working folder.

    The processes of multiprocessing would: they run `python -c`.
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        del os.environ["PYTHONSAFEPATH"]
        if before is not None:
            os.environ["PYTHONSAFEPATH"] = before


def _settler(distributed: Any, cores: Sequence[Sequence[int]]) -> Any:
    class Settler(distributed.WorkerPlugin):
        """Pins each worker that starts to its cores, and leaves a Ctrl-C to the command that started it."""

        name = "settler"

        def setup(self, worker: Any) -> None:
            if hasattr(os, "sched_setaffinity"):
                os.sched_setaffinity(0, cores[worker.name])
            signal.signal(signal.SIGINT, lambda *_: None)  # its child processes have the usual handler again

    return Settler()


# --- which workers fit ----------------------------------------------------------------------------------------


def software() -> dict[str, str]:
    """Return, by name, the versions that must be the same on all workers."""
    return {
        "nonobot": f"{nonobot.__version__}, sources {modules_digest()[:8]}",
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": version_of("numpy") or "none",
        "numba": version_of("numba") or "none",
    }


def differing(address: str, here: Mapping[str, str], there: Mapping[str, str] | BaseException) -> list[str]:
    """Return a line for each fact that differs `there`; an exception is the reason why there are no facts."""
    if isinstance(there, ModuleNotFoundError):
        return [f"{address}: {there}; nonobot {nonobot.__version__} has to be installed there"]
    if isinstance(there, BaseException):
        return [f"{address}: {there}"]
    other = {name: there.get(name, "unknown") for name, value in here.items() if there.get(name) != value}
    return [f"{address}: {name} {value}, here {here[name]}" for name, value in other.items()]


class FitWorkers:
    """The connected workers, and those that share `facts` with this process, as they come and go."""

    def __init__(self, client: Client, facts: Facts) -> None:
        self.there: set[str] = set()  # the addresses of all
        self.fit: dict[str, MachineKind] = {}  # the kinds of the machines of those that fit, by address
        self._client = client
        self._facts = facts
        self._unfit: set[str] = set()
        self._scheduler = client.scheduler_info()["id"]

    def look(self) -> list[str]:
        """Update both, and return a line for each reason why a new worker does not fit."""
        info = self._client.scheduler_info(n_workers=-1)
        if info["id"] != self._scheduler:
            raise ConnectionError("another scheduler is in its place")
        workers = info["workers"]
        self.there = set(workers)
        running = {address for address, worker in workers.items() if worker["status"] == "running"}
        self.fit = {address: kind for address, kind in self.fit.items() if address in running}
        new = [address for address in workers if address in running - self.fit.keys() - self._unfit]
        if not new:
            return []
        from distributed.comm import CommClosedError

        reasons: dict[str, list[str]] = {}
        here, there = self._facts(), self._client.run(self._facts, workers=new, on_error="return")
        for address, facts in there.items():
            if not isinstance(facts, CommClosedError):  # otherwise it has left
                reasons[address] = differing(address, here, facts)
                if (threads := workers[address]["nthreads"]) != 1:
                    reasons[address].append(f"{address}: {threads} threads; start it with --nthreads 1")
        self._unfit |= {address for address, lines in reasons.items() if lines}
        if fit := [address for address, lines in reasons.items() if not lines]:
            found = self._client.run(machine_facts, (), workers=fit, on_error="return")
            self.fit |= {
                address: kind_of(machine) for address, machine in found.items() if isinstance(machine, Machine)
            }
        return [line for lines in reasons.values() for line in lines]

    def put_aside(self, address: str) -> None:
        """Stop using a worker."""
        self._unfit.add(address)
        self.fit.pop(address, None)
