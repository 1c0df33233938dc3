"""Where work is done: on cores of this machine, or by the workers of a dask cluster.

dask.distributed belongs to an extra, and takes longer to load than most commands last: nothing of it is imported
before somebody asks for a cluster.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import re
import signal
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from nonobot.arguments import missing
from nonobot.harness.cluster.fit_workers import Facts, software, talking, what_differs, workers_of
from nonobot.harness.errors import UnusableError
from nonobot.system import usable_cores

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

__all__ = ["WHERE_HELP", "connected", "local_cores", "where"]

WHERE_HELP = (
    "local (all cores of this machine), local:N, or a dask scheduler's address such as tcp://10.0.0.1:8786"
)

SECONDS_TO_CONNECT = 6.0
"""How long a scheduler may take to answer; with what loading takes, less than 10 s."""

SECONDS_TO_CLOSE = 5.0

NOISY = ("distributed", "tornado", "asyncio")
"""Loggers that report on stderr what the commands say in a line of their own."""


def where(text: str) -> str:
    """Return `text` if it names a place where work can be done, for argparse."""
    if re.fullmatch(
        r"local(:[1-9][0-9]{0,3})?|tcp://[^\s:/]+(:[0-9]{1,5})?|tcp://\[[^\s\]]+\](:[0-9]{1,5})?", text
    ):
        return text
    raise argparse.ArgumentTypeError(f"{text!r} is not local, local:N or an address such as tcp://10.0.0.1:8786")


@contextlib.contextmanager
def connected(place: str, facts: Facts | None = None) -> Iterator[Client]:
    """Return a client of the workers at `place`, each of which does one thing at a time; close all in the end.

    Workers on this machine are started for the time of the block, each a process with a core of its own where
    there are enough. Those of a cluster are there already, and stay.

    Parameters
    ----------
    place : str
        As :func:`where` takes it.
    facts : callable, optional
        What has to be the same on all workers as here (default: :func:`software`).

    Raises
    ------
    UnusableError
        If dask.distributed is missing, no scheduler or worker answers, or a worker is not fit: it does several
        things at a time, or a fact differs. The message names each, with what differs. SchedulerLostError if the
        scheduler goes meanwhile.
    """
    _keep_quiet()
    with contextlib.ExitStack() as stack:
        distributed = _distributed()
        if place.startswith("local"):
            address = stack.enter_context(_own_workers(place)).scheduler_address
        else:
            address = place
        client = stack.enter_context(contextlib.closing(_client(distributed, address)))
        if address is not place:
            client.register_plugin(_settler(distributed, local_cores(place)))
        with talking():
            try:
                client.wait_for_workers(1, timeout=SECONDS_TO_CONNECT)
            except TimeoutError:
                raise UnusableError(
                    f"the scheduler at {place} has no workers; to start one: dask worker {place} --nthreads 1"
                ) from None
            unfit = what_differs(client, workers_of(client), facts or software)
        if any(unfit.values()):
            lines = [line for found in unfit.values() for line in found]
            raise UnusableError("\n  ".join([f"not all workers at {place} can be used:", *lines]))
        yield client


def local_cores(place: str) -> list[list[int]]:
    """Return for each worker that `local` or `local:N` asks for the cores that it may use: its own is the last.

    Those that no worker has for its own are for all of them, for what goes on beside the work. With more workers
    than cores, none has one of its own.
    """
    usable = usable_cores()
    count = int(place.partition(":")[2] or len(usable))
    if count > len(usable):
        return [usable] * count
    shared, own = usable[: len(usable) - count], usable[len(usable) - count :]
    return [[*shared, core] for core in own]


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise UnusableError(missing("--on", "distributed")) from None
    return distributed


@contextlib.contextmanager
def _own_workers(place: str) -> Iterator[LocalCluster]:
    import dask
    from distributed import LocalCluster

    # Spawned, since this process has threads. Those variables change how malloc works, in bots too.
    settings: dict[str, object] = {
        "distributed.worker.multiprocessing-method": "spawn",
        "distributed.nanny.pre-spawn-environ": {},
        # Idle processes are to be idle: these two wake each of them 50 and 100 times a second.
        "distributed.admin.tick.interval": "1s",
        "distributed.worker.profile.enabled": False,
    }
    with dask.config.set(settings):
        cluster = LocalCluster(
            n_workers=len(local_cores(place)),
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # it has a server for its state all the same
            memory_limit=None,
            silence_logs=logging.CRITICAL,
        )
        try:
            yield cluster
        finally:
            with contextlib.suppress(TimeoutError):
                cluster.close(timeout=SECONDS_TO_CLOSE)


def _client(distributed: Any, address: str) -> Client:
    try:
        return distributed.Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise UnusableError(f"no scheduler answers at {address}: {error or 'no answer in time'}") from None


def _settler(distributed: Any, cores: Sequence[Sequence[int]]) -> Any:
    class Settler(distributed.WorkerPlugin):
        """Settles each worker as it starts, and the one that is started in place of one that died."""

        name = "settler"

        def setup(self, worker: Any) -> None:
            _settle(cores[worker.name])

    return Settler()


def _settle(cores: Sequence[int]) -> None:
    """Hold this worker process on its cores, and leave a Ctrl-C to the command that started it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)
    signal.signal(signal.SIGINT, lambda *_: None)  # what it starts has the usual handler again


def _keep_quiet() -> None:
    """Keep what dask logs from stderr, for good: what it began to close may fail when the process ends."""
    for name in NOISY:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
