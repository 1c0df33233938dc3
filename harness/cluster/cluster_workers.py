"""Workers that do parts of a job: cores of this machine, or those of a dask cluster with the same software.

dask.distributed is an extra and slow to load: it is imported only for a command that uses workers.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import logging
import os
import platform
import re
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

import nonobot
from nonobot.arguments import missing
from nonobot.harness import UnusableError
from nonobot.harness.process.bot_files import modules_digest
from nonobot.harness.process.interrupts import Interrupts
from nonobot.harness.process.machine import machine_facts, version_of
from nonobot.harness.results.comparability import MachineKind, kind_of
from nonobot.harness.results.conditions import Machine
from nonobot.system import reason_of, usable_cores

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

WHERE_HELP = (
    "local (all cores of this machine), local:N, or a dask scheduler's address such as tcp://10.0.0.1:8786"
)

SECONDS_TO_CONNECT = 6.0  # time for a scheduler to answer; with the time for loading, less than 10 s
SECONDS_TO_HEED = 0.2  # between two looks at signals
SECONDS_TO_GREET = 4.0  # time for a scheduler to accept a connection and to send its first bytes
GREETING_BYTES, LONGEST_GREETING_BYTES = 8, 1 << 20
SECONDS_OF_SILENCE = 20.0  # time after which a scheduler is lost; a living one answers a small question at once
SECONDS_TO_DISCONNECT = 0.4  # time to close a connection; otherwise it ends with this process
SECONDS_TO_CLOSE = 5.0  # time for the workers of this machine to end
DEFAULT_PORT = 8786

Facts = Callable[[], Mapping[str, str]]  # returns facts that must be the same on all workers

T = TypeVar("T")


class SchedulerLostError(UnusableError):
    """The scheduler is gone, or a new scheduler without the tasks has replaced it."""


@contextlib.contextmanager
def talking() -> Iterator[None]:
    """Turn every error of a scheduler that does not answer into a SchedulerLostError."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:  # dask raises any of these
        raise SchedulerLostError(f"the scheduler does not answer any more: {_in_words(error)}") from error


def _in_words(error: Exception) -> str:
    return str(error) or "no answer in time"  # dask's errors without a text are those


class SilenceError(TimeoutError):
    """A call of dask did not end in time, or the scheduler was silent for too long."""


def result_of(call: Callable[[], T], seconds: float | None = None, client: Client | None = None) -> T:
    """Return the result of a call of dask; raise KeyboardInterrupt within a second of a signal to stop.

    SilenceError if the call takes longer than `seconds` (default: SECONDS_OF_SILENCE). With a client it may take
    longer, as long as the scheduler answers questions. dask itself may wait for ever and ignore signals: such a
    call keeps its thread until this process ends.
    """
    if client:
        import asyncio  # only here, where dask has loaded it: that takes half as long as the start of a command

    seconds = seconds or SECONDS_OF_SILENCE
    outcome: concurrent.futures.Future[T] = concurrent.futures.Future()

    def carry_out() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=carry_out, daemon=True).start()
    question: concurrent.futures.Future[None] | None = None
    silence = 0.0  # by the waits: a clock would count the time for which a Ctrl-Z stops this process
    while not concurrent.futures.wait([outcome], SECONDS_TO_HEED).done:
        Interrupts.raise_if_stopped()
        silence += SECONDS_TO_HEED
        if client and (question is None or question.done()):
            if question and not question.exception():
                silence = 0.0
            question = asyncio.run_coroutine_threadsafe(_ask(client), client.loop.asyncio_loop)
        if silence >= seconds:
            raise SilenceError(f"nothing came within {seconds:g} s")
    return outcome.result()


async def _ask(client: Client) -> None:
    await client.scheduler.identity(n_workers=0)


# --- the connection -------------------------------------------------------------------------------------------


def where(text: str) -> str:
    """Return `text` if it names a place for work, for argparse."""
    named = re.fullmatch(
        r"local(:[1-9][0-9]{0,3})?|tcp://([^\s:/]+|\[[^\s\]]+\])(:(?P<port>[1-9][0-9]{0,4}))?", text
    )
    if named and int(named["port"] or DEFAULT_PORT) < 1 << 16:
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
        hint = "in a clone: pip install -e '.[cluster]'"
        raise UnusableError(f"{missing('--on', 'distributed')} ({hint})") from None
    # The commands report in one line what these loggers would. The level stays: a connection that is still
    # closing may fail when the process ends. After the import, which sets the levels of most of them.
    for name in ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    local = place.startswith("local")
    if not local:
        place = place if re.search(r":\d+$", place) else f"{place}:{DEFAULT_PORT}"
        _require_scheduler(place)
    with contextlib.ExitStack() as stack:
        with _uninterrupted():
            try:
                address = stack.enter_context(_own_workers(place)).scheduler_address if local else place
                client = result_of(partial(_client, distributed, address), SECONDS_TO_CONNECT)
            except RuntimeError as error:  # such as for one that was killed
                raise UnusableError(f"the workers of {place} cannot be started: {error}") from None
            except (OSError, ValueError) as error:
                raise UnusableError(f"no scheduler answers at {place}: {_in_words(error)}") from None
            stack.callback(_close, client)
            with talking():
                if local:
                    result_of(
                        partial(client.register_plugin, _settler(distributed, local_cores(place))), client=client
                    )
                try:
                    result_of(partial(client.wait_for_workers, 1, timeout=SECONDS_TO_CONNECT), client=client)
                except SilenceError:
                    raise
                except TimeoutError:
                    raise UnusableError(
                        f"the scheduler at {place} has no workers; to start one: dask worker {place} --nthreads 1"
                    ) from None
                unfit = FitWorkers(client, facts or software).look()
            if unfit:
                raise UnusableError("\n  ".join([f"not all workers at {place} can be used:", *unfit]))
        yield client


def _client(distributed: Any, address: str) -> Client:
    class OwnClient(distributed.Client):
        """A client whose end waits for nothing: only :func:`_close` closes it."""

        def __del__(self) -> None:
            pass

    return OwnClient(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)


def _close(client: Client) -> None:
    with contextlib.suppress(Exception):  # the scheduler may be gone or silent
        result_of(client.close, SECONDS_TO_DISCONNECT)


def _require_scheduler(address: str) -> None:
    """Raise UnusableError, with the cause, if no dask scheduler listens at an address.

    A scheduler speaks first: the length of its greeting in eight bytes, the lowest first.
    """
    host, _, port = address.removeprefix("tcp://").rpartition(":")
    try:
        greeting = result_of(partial(_greeting, host.strip("[]"), int(port)), SECONDS_TO_GREET)
    except (socket.gaierror, UnicodeError):
        problem = f"unknown host {host}"
    except OSError as error:
        problem = reason_of(error)
    else:
        if int.from_bytes(greeting, "little") > LONGEST_GREETING_BYTES:
            problem = "it speaks another protocol"
        elif len(greeting) < GREETING_BYTES:
            problem = "it ended the connection"
        else:
            return
    raise UnusableError(f"no scheduler answers at {address}: {problem}")


def _greeting(host: str, port: int) -> bytes:
    with socket.create_connection((host, port)) as connection:
        connection.settimeout(2 * SECONDS_TO_GREET)  # nobody waits for so long
        return connection.makefile("rb").read(GREETING_BYTES)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Defer a Ctrl-C until after the block: dask would later complain about incomplete work."""
    with Interrupts() as interrupts:
        try:
            yield
        finally:
            if interrupts.stop_requested:
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
        self._scheduler = result_of(client.scheduler_info, client=client)["id"]

    def look(self) -> list[str]:
        """Update both, and return a line for each reason why a new worker does not fit."""
        info = result_of(partial(self._client.scheduler_info, n_workers=-1), client=self._client)
        if info["id"] != self._scheduler:
            raise ConnectionError("another scheduler is in its place")
        workers = info["workers"]
        self.there = set(workers)
        running = {address for address, worker in workers.items() if worker["status"] == "running"}
        self.fit = {address: kind for address, kind in self.fit.items() if address in running}
        new = [address for address in workers if address in running - self.fit.keys() - self._unfit]
        return self._examine(new, workers) if new else []

    def _examine(self, new: list[str], workers: Mapping[str, Any]) -> list[str]:
        reasons = self._reasons(new, workers)
        self._unfit |= {address for address, lines in reasons.items() if lines}
        if fit := [address for address in reasons if address not in self._unfit]:
            found = self._run(machine_facts, (), workers=fit).items()
            self.fit |= {address: kind_of(machine) for address, machine in found if isinstance(machine, Machine)}
        return list(chain(*reasons.values()))

    def _reasons(self, new: list[str], workers: Mapping[str, Any]) -> dict[str, list[str]]:
        """Return by worker why it does not fit, empty if it does, without those that have left."""
        from distributed.comm import CommClosedError

        here, there = self._facts(), self._run(self._facts, workers=new)
        reasons = {}
        for address, facts in there.items():
            if not isinstance(facts, CommClosedError):
                reasons[address] = differing(address, here, facts)
                if (threads := workers[address]["nthreads"]) != 1:
                    reasons[address].append(f"{address}: {threads} threads; start it with --nthreads 1")
        return reasons

    def _run(self, function: Callable[..., Any], *arguments: object, workers: list[str]) -> dict[str, Any]:
        """Return the results of a function by worker; an error is the result of its worker."""
        call = partial(self._client.run, function, *arguments, workers=workers, on_error="return")
        return result_of(call, client=self._client)

    def put_aside(self, address: str) -> None:
        """Stop using a worker."""
        self._unfit.add(address)
        self.fit.pop(address, None)
