"""A bot under limits: its start with its terms, its pipes, its figures and its end; its stderr, limited in size.

One selector loop serves all three pipes, because a bot may fill one while it does not read another. The child
leads its own session, so a Ctrl-C reaches only the judge.
"""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import resource
import selectors
import shutil
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import IO

from msgspec import UNSET
from msgspec.structs import replace

from nonobot.harness import StartError
from nonobot.harness.process.access import Access
from nonobot.harness.process.bot_environment import made_environment
from nonobot.harness.process.cgroup import made_group, with_memory_limit
from nonobot.harness.process.exchange_folder import ExchangeFolder
from nonobot.harness.process.interrupts import Standstill, uninterrupted
from nonobot.harness.process.machine import off_cores, on_cores, require_cores
from nonobot.harness.process.process_tree import ProcessTree
from nonobot.harness.process.sandbox import OWN_PROCESSES, Sandbox, built_sandbox, variables_file, working_options
from nonobot.harness.process.start_fault import start_fault
from nonobot.harness.process.system_calls import join_new_keyring, pipes_of_sandbox
from nonobot.harness.results.conditions import PROCESS_LIMIT, Configuration, Contain, FileNames
from nonobot.harness.results.run_result import EndReason, Usage
from nonobot.harness.text import last_line
from nonobot.system import printable, reason_of
from nonobot.tournament_data import SetPuzzle

PIPE_BYTES = 1 << 20
"""Capacity of the answer pipe, where the system allows it, and most bytes of a read. A bot can write its next
answer while the judge checks one."""

MARK = "NONOBOT_RUN"  # variable with a word that nobody can guess, by which a later judge knows the bot
SECONDS_TO_OBEY = 1.5  # time between SIGTERM and SIGKILL: 2 s after a limit, the bot's processes are gone
SECONDS_BETWEEN_REAPINGS = 0.05
MOST_SECONDS_OF_A_WAIT = 3600.0  # longest wait of one call of the selector


DEFAULT_LIMITS = Configuration(process_limit=PROCESS_LIMIT)
NOTHING_MORE = Access()


def settled(command: Sequence[str], limits: Configuration, access: Access) -> tuple[Configuration, dict[str, str]]:
    """Return the limits and the judge's own variables with which a bot starts here, to be recorded.

    UnusableError if it cannot: no such core, a required sandbox is unavailable, a file to be shown is missing.
    """
    require_cores(limits.cores)
    sandboxed = built_sandbox(limits, access) is not None
    return with_memory_limit(limits), made_environment(command, UNSET, sandboxed)


def sandbox_note(contain: Contain) -> str | None:
    """Return a warning if bots run without a sandbox only because this machine cannot provide one."""
    why = working_options()[1] if contain is Contain.AUTO else None
    return f"bots run without a sandbox: {why}; --contain no hides this note" if why else None


class BotProcess:
    """A started bot command; when its `with` block ends, the bot and everything it started are gone.

    The constructor raises StartError if the command cannot be run, and UnusableError as :func:`settled` does.
    `stderr` gets the bot's stderr and is closed at the end.

    - `limits`: the cores and the sandbox are enforced here; memory and processes too, if there is a cgroup. The
      caller enforces the others (:meth:`limit_reached`). They also contain extra environment variables.
    - `access`: what the bot sees and writes in a sandbox.
    - `exchange`: the folder, file names and puzzles of a bot that works on files. It runs in that folder, its
      stdin is closed, its output is its answer file, and its stdout goes to `stderr`.

    `look` measures the bot with everything that it started, for its `usage` and the limits. `pid` is the number of
    the process, its group and its session; `started` is `time.monotonic()` just before the start, and `standstill`
    looks from then on.
    """

    def __init__(
        self,
        command: Sequence[str],
        stderr: StderrLog | LastWords,
        limits: Configuration = DEFAULT_LIMITS,
        access: Access = NOTHING_MORE,
        exchange: tuple[Path, FileNames, Sequence[SetPuzzle]] | None = None,
    ) -> None:
        self.limits = with_memory_limit(limits)
        self.exchange = ExchangeFolder(*exchange) if exchange else None
        if self.exchange:
            command = self.exchange.command(command)
        sandbox = built_sandbox(self.limits, access, exchange[0] if exchange else None)
        if fault := start_fault(*command):
            raise StartError(f"cannot start {command[0]!r}: {fault}")
        self.mark = os.urandom(16).hex()
        self.exited = False  # whether the process has ended
        self.left_running = 0  # processes that it had started and that still ran at its end
        self.output_closed = False  # whether its stdout has reached its end
        self._to_send = memoryview(b"")
        self._input_ends = False
        self._log = stderr
        self._stopped = self._ended = math.inf
        self._group_gone = False
        self.sandboxed = sandbox is not None
        self.refused = False  # whether bubblewrap ended without running the command; known after the `with` block
        self._most_processes = self.limits.process_limit  # in the tree, with those of the sandbox
        if sandbox and self._most_processes is not None:
            self._most_processes += OWN_PROCESSES
        group = made_group(replace(self.limits, process_limit=self._most_processes))
        self._tree = tree = ProcessTree(group, limits.cores, self.sandboxed)  # with everything it started
        self.look, self.signal, self.ran_out_of_memory = tree.look, tree.signal, tree.ran_out_of_memory
        self.cgroup_measures, self.cores_taken = tree.cgroup_measures, tree.cores_taken
        self.unmeasured = tree.unmeasured
        self._judges_cores = off_cores(limits.cores)
        try:
            with contextlib.ExitStack() as undo:
                undo.callback(tree.close)
                undo.enter_context(self._judges_cores)
                self._pipes_of_sandbox = [*map(undo.enter_context, pipes_of_sandbox() if sandbox else ())]
                self.filtered = len(self._pipes_of_sandbox) > 2
                with uninterrupted():  # a process that is started and not known would run on
                    self._child = self._start(command, sandbox)
                    self.pid = self._child.pid
                    undo.callback(tree.kill)
                    # This closes its pipes and waits for it, as no other thread does yet.
                    undo.enter_context(self._child)
                    undo.callback(self._child.kill)
                self._serve(undo)
                undo.pop_all()
        except (OSError, ValueError, RuntimeError, subprocess.SubprocessError) as error:
            # For example a NUL byte in an argument, or too many open files or threads.
            raise StartError(f"cannot start {command[0]!r}: {reason_of(error)}") from None

    def _start(self, command: Sequence[str], sandbox: Sandbox | None) -> subprocess.Popen[bytes]:
        """Return the started process; with a sandbox it is bubblewrap, and the bot is its descendant."""
        passed = [pipe.fileno() for pipe in self._pipes_of_sandbox[1:]]
        environment = made_environment(command, self.limits.environment, self.sandboxed) | {MARK: self.mark}
        arguments = [shutil.which(command[0]) or command[0], *command[1:]]  # in the judge's PATH, not the bot's
        with contextlib.ExitStack() as during_start:
            if sandbox:
                passed.insert(0, during_start.enter_context(variables_file(environment)).fileno())
                arguments = sandbox.around(arguments, environment, *passed)
                environment = {}
                join_new_keyring()
            during_start.enter_context(self._tree.joined())
            during_start.enter_context(on_cores(self.limits.cores))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # inherited: a bot that aborts leaves no core file
            self.started = time.monotonic()
            self.standstill = Standstill()
            return subprocess.Popen(
                arguments,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self.exchange.folder if self.exchange else None,
                env=environment,
                pass_fds=passed,
                start_new_session=True,
            )

    def _serve(self, undo: contextlib.ExitStack) -> None:
        """Set up the pipes, the selector that watches them, and the thread that waits for the end."""
        self._pipes = [pipe for pipe in (self._child.stdin, self._child.stdout, self._child.stderr) if pipe]
        self._stdin, self._stdout, self._stderr = self._pipes
        for pipe in self._pipes:
            os.set_blocking(pipe.fileno(), False)
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            with contextlib.suppress(OSError):  # more than the system allows: keep the default
                fcntl.fcntl(self._stdout, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._selector = selectors.PollSelector()  # epoll has a limit for all processes of a user
        self._logged_pipes = [self._stderr, self._stdout] if self.exchange else [self._stderr]
        for pipe in self._logged_pipes:
            self._selector.register(pipe, selectors.EVENT_READ, partial(self._log_output, pipe))
        if self.exchange:
            self._stdin.close()
        else:
            self._selector.register(self._stdout, selectors.EVENT_READ, partial(self._read_some, self._stdout))
        end_seen, end_noted = os.pipe()
        self._end_seen = undo.enter_context(os.fdopen(end_seen, "rb", buffering=0))
        self._selector.register(self._end_seen, selectors.EVENT_READ, self._note_end)
        self._reaper = threading.Thread(target=self._reap, args=(end_noted,), daemon=True)
        self._tree.grow_from(self._child.pid)  # last: from here on, only this thread may reap it
        self._reaper.start()

    def __enter__(self) -> BotProcess:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.ExitStack() as at_last:  # also after a Ctrl-C
            at_last.push(self._judges_cores)
            for used in (*self._pipes_of_sandbox, self._selector, self._end_seen, *self._pipes, self._log):
                at_last.callback(used.close)
            self._kill()
            self._reaper.join()
            self._tree.close()
            for pipe in self._logged_pipes:
                if pipe in self._selector.get_map():
                    self._log_output(pipe)  # the last words of a killed bot
            if self._pipes_of_sandbox:
                status = self._pipes_of_sandbox[0].read(PIPE_BYTES) or b""
                self.refused = self.exit_status == 1 and b'"exit-code"' not in status

    @property
    def exit_status(self) -> int:
        """The exit status, or -n for signal n; known after the `with` block."""
        status = int(self._child.returncode)
        # Bubblewrap reports a signal like a shell.
        return 128 - status if self.sandboxed and status - 128 in set(signal.Signals) else status

    @property
    def signal_name(self) -> str | None:
        """Name of the signal that ended the bot, if any; known after the `with` block."""
        number, names = -self.exit_status, {member.value: member.name for member in signal.Signals}
        return names.get(number, f"signal {number}") if number > 0 else None

    @property
    def usage(self) -> Usage:
        """Usage so far, or until the bot ended or the judge began to stop it; complete after the `with` block."""
        end = min(self._ended, self._stopped, time.monotonic())
        return Usage(end - self.started, self._tree.cpu_seconds, self._tree.peak_memory_bytes)

    def limit_reached(self) -> EndReason | None:
        """Return the limit that was reached, if any; the cgroup may have ended the bot before the judge looked."""
        most_bytes, most_processes = self.limits.most_memory_bytes, self._most_processes
        if most_bytes is not None and self._tree.exceeds_memory(most_bytes):
            return EndReason.MEMORY_LIMIT
        if most_processes is not None and self._tree.exceeds_processes(most_processes):
            return EndReason.PROCESS_LIMIT
        return None

    def send(self, data: bytes, last: bool = False) -> None:
        """Queue `data` for stdin, which :meth:`read` writes while it waits; the `last` data closes stdin."""
        if not self._stdin.closed:
            self._to_send = memoryview(bytes(self._to_send) + data)
            self._input_ends = last
            if self._stdin not in self._selector.get_map():
                self._selector.register(self._stdin, selectors.EVENT_WRITE, self._write_input)

    @property
    def has_taken_input(self) -> bool:
        """Whether the bot has read all that was sent, as far as the system tells."""
        if self._to_send or self._stdin.closed:
            return not self._to_send
        return not any(fcntl.ioctl(self._stdin.fileno(), termios.FIONREAD, bytes(4)))

    def read(self, until: float) -> bytes:
        """Wait for output of the bot, serve its other pipes meanwhile, and return the output.

        The output is empty if the bot ended (`exited`) or closed its stdout (`output_closed`), the monotonic clock
        reached `until`, or an hour passed. Output from before the end of the process is returned first.
        """
        while True:
            closed_before = self.output_closed
            output = b""
            timeout = 0.0 if self.exited else min(max(0.0, until - time.monotonic()), MOST_SECONDS_OF_A_WAIT)
            if self.exchange:
                timeout = min(timeout, self.exchange.answers.seconds_to_next_look)
            ready = self._selector.select(timeout)
            for key, _ in ready:
                output += key.data() or b""
            if self.exchange:  # after the end of the process: earlier output is complete
                output += self.exchange.answers.look(self.exited)
            # Check the clock even if something was ready: stderr may always be ready.
            at_end = self.exited or self.output_closed != closed_before
            over = not ready and not self.exchange  # a file is polled until then
            if output or at_end or over or time.monotonic() >= until:
                return output

    def stop(self, at_once: bool = False) -> None:
        """End the bot and all that it started, by SIGTERM and later, or `at_once`, SIGKILL; drop its output."""
        self._stopped = time.monotonic()
        if at_once:
            self._kill()
        # Not to bubblewrap, which would exit at once and end the bot with it.
        self._tree.signal(signal.SIGTERM, but=self.pid if self.sandboxed else None)
        until = self._stopped + SECONDS_TO_OBEY
        while not self.exited and time.monotonic() < until:
            self.read(min(until, time.monotonic() + SECONDS_BETWEEN_REAPINGS))
            self._tree.reap_orphans()  # a bot that keeps forking would use up all process numbers
        self._kill()
        self._reaper.join()

    def _reap(self, end_noted: int) -> None:
        with contextlib.suppress(ChildProcessError):  # a start that was interrupted has waited for it
            status = self._tree.wait_for(self._child.pid)
            self._ended = time.monotonic()
            self._child.returncode = os.waitstatus_to_exitcode(status)
        os.close(end_noted)

    def _kill(self) -> None:
        # The group's id stays reserved while a member is left, even after its leader has ended. Once all are
        # killed, another group may get it.
        if not self._group_gone:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, signal.SIGKILL)
            self._group_gone = self.exited
        self._tree.kill()

    def _note_end(self) -> None:
        self._selector.unregister(self._end_seen)
        self.exited = True
        of_sandbox = 1 if self.sandboxed else 0  # bubblewrap's first process inside: it may end a moment later
        self.left_running = max(0, self._tree.running() - of_sandbox)
        self._kill()  # what it left running

    def _write_input(self) -> None:
        try:
            self._to_send = self._to_send[os.write(self._stdin.fileno(), self._to_send) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # the bot closed its stdin or is gone: its output shows which
            self._to_send, self._input_ends = memoryview(b""), True
        if not self._to_send:
            self._selector.unregister(self._stdin)
            if self._input_ends:
                self._stdin.close()

    def _log_output(self, pipe: IO[bytes]) -> None:
        self._log.write(self._read_some(pipe))

    def _read_some(self, pipe: IO[bytes]) -> bytes:
        try:
            data = os.read(pipe.fileno(), PIPE_BYTES)
        except BlockingIOError:
            return b""
        if not data:
            self._selector.unregister(pipe)
            self.output_closed |= pipe not in self._logged_pipes
        return data


BEGINNING_BYTES = 1 << 20
END_BYTES = 1 << 16


class StderrLog:
    """A file of bounded size for a bot's stderr, created with the first byte, or continued."""

    def __init__(self, path: Path, received_bytes: int = 0) -> None:
        self.received_bytes = received_bytes  # kept or dropped; more than 0 continues a file
        self._path = path
        self._end = b""
        self._left_out_bytes = 0
        self._tail = LastWords()
        self._is_cut = False  # whether the file lacks something: a full disk does not end the run

    def write(self, data: bytes) -> None:
        """Write the next bytes to the file; once it is full, keep only the last ones."""
        room = max(0, BEGINNING_BYTES - self.received_bytes)
        self.received_bytes += len(data)
        self._tail.write(data)
        self._add(data[:room])
        end = self._end + data[room:]
        self._end = end[-END_BYTES:]
        self._left_out_bytes += len(end) - len(self._end)

    def close(self) -> None:
        """Write the kept end, after a line that states how many bytes were dropped."""
        if self._left_out_bytes:
            self._add(b"\n[%d bytes left out here]\n" % self._left_out_bytes)
        self._add(self._end)
        if self._is_cut:
            with contextlib.suppress(OSError):
                self._overwrite_end()

    def _add(self, data: bytes) -> None:
        try:
            if data:
                with open(self._path, "ab", opener=_opened) as file:
                    file.write(data)
        except OSError:
            self._is_cut = True

    def _overwrite_end(self) -> None:
        """Replace the end of a file that could not grow by the end of stderr: that names the cause of a crash."""
        with open(self._path, "r+b", opener=_opened) as file:
            size = file.seek(0, os.SEEK_END)
            end = b"\n[the disk was full: bytes left out here]\n" + self._tail.data
            file.seek(max(0, size - len(end)))
            file.write(end[-size:] if size else b"")


def _opened(path: str, flags: int) -> int:
    """Open a file, but not through a link, which a stranger's folder of results may contain; wait for no pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)


TAIL_BYTES = 4096


class LastWords:
    """The end of a bot's stderr, in memory, as `data`."""

    data = b""

    @property
    def last_line(self) -> str:
        """The last line that is not blank; empty if there is none."""
        return last_line(self.data)

    def write(self, data: bytes) -> None:
        """Keep the end of everything so far."""
        self.data = (self.data + data)[-TAIL_BYTES:]

    def close(self) -> None:
        """Do nothing."""


class PassedOn(StderrLog):
    """A bot's stderr, bounded as in a file; the judge prints whole lines, so that no progress bar breaks.

    `live`: stderr is a terminal without a progress bar, and also shows the state of a line that is not complete.
    """

    def __init__(self, live: bool = False) -> None:
        super().__init__(Path(os.devnull))
        self._live = live
        self._rest = b""
        self._shown = ""  # state of the incomplete line on the terminal

    def _add(self, data: bytes) -> None:
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-TAIL_BYTES:]
        for line in lines:
            self._print(_last_state(line), "\n")
        if self._live and (state := _last_state(rest)[: shutil.get_terminal_size().columns - 1]) != self._shown:
            self._print(state, "")

    def _print(self, text: str, end: str) -> None:
        start = "\r" if self._shown else ""
        print(f"{start}{text:<{len(self._shown)}}", end=end, file=sys.stderr, flush=True)
        self._shown = "" if end else text

    def close(self) -> None:
        """Print the rest, including an incomplete last line."""
        super().close()
        if self._rest:
            self._add(b"\n")


def _last_state(line: bytes) -> str:
    """Return what a terminal would show of a line that its program has overwritten."""
    return printable(line.rstrip(b"\r").rpartition(b"\r")[2].decode("utf-8", "replace").expandtabs())
