"""The filter of system calls: it refuses what would hold up other programs, and nothing that bots need."""

import os
import subprocess
import sys
import time

import pytest

from nonobot.harness.process.bot_process import BotProcess, LastWords
from nonobot.harness.process.system_calls import filter_program
from nonobot.harness.results.conditions import Configuration, Contain
from tests.helpers.sandboxes import sandbox_only
from tests.helpers.talking import PATIENCE_SECONDS
from tests.helpers.waiting import finished, next_line

filter_only = pytest.mark.skipif(not filter_program(), reason="no libseccomp")

FILTERED = """
import ctypes, sys
class Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))
program = bytes.fromhex(sys.argv.pop())
NO_NEW_PRIVILEGES, SECCOMP, BY_PROGRAM = 38, 22, 2
prctl = ctypes.CDLL(None).prctl
assert prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
assert prctl(SECCOMP, BY_PROGRAM, ctypes.byref(Filter(len(program) // 8, program))) == 0
"""
"""Puts a process under the filter that its last argument contains, without a sandbox."""

LEASE = """
import contextlib, ctypes, fcntl, os, sys
call, number = ctypes.CDLL(None).syscall, {"x86_64": 72, "aarch64": 25}.get(os.uname().machine)
file = os.open(sys.argv[1], os.O_RDONLY)
for command in (1024, 1024 | 1 << 32):  # of 64 bits, Linux reads 32
    if number:
        call(*map(ctypes.c_long, (number, file, command, fcntl.F_RDLCK)))
    elif command == 1024:
        with contextlib.suppress(OSError):
            fcntl.fcntl(file, command, fcntl.F_RDLCK)
print("leased", flush=True)
sys.stdin.read()
"""
"""Takes a lease on a file that it can only read, and keeps it until its input ends."""


def started(code, *arguments):
    command = [sys.executable, "-S", "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def said_under_the_filter(code, *arguments):
    with started(FILTERED + code, *arguments, filter_program().hex()) as process:
        said = finished(process)[0]
    assert process.returncode == 0
    return said


def opens_at_once(path):
    """Return whether nobody has a lease on a file: the opening would wait, and is refused as it must not."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    except BlockingIOError:
        return False
    return True


@pytest.fixture
def lent(tmp_path):
    file = tmp_path / "bot" / "lent"
    file.parent.mkdir()
    file.touch()
    return file


@filter_only
def test_the_filter_prevents_leases_that_block_other_processes(lent):
    with started(LEASE, lent) as process:
        assert next_line(process) == "leased\n"
        assert not opens_at_once(lent)  # without the filter
    with started(FILTERED + LEASE, lent, filter_program().hex()) as process:
        assert next_line(process) == "leased\n"
        assert opens_at_once(lent)


@sandbox_only
@filter_only
def test_a_bot_in_its_sandbox_has_no_lease(lent):
    command = [sys.executable, "-S", "-c", LEASE, str(lent)]
    with BotProcess(command, LastWords(), Configuration(contain=Contain.YES)) as bot:
        assert bot.read(time.monotonic() + PATIENCE_SECONDS) == b"leased\n"
        assert opens_at_once(lent)


LEASE_IN_32_BITS = """
import ctypes, mmap, os, sys
def call(number, *arguments):
    ebx, ecx, edx = (argument.to_bytes(4, "little") for argument in arguments)
    page = mmap.mmap(-1, 4096, prot=7)
    page.write(b"\\x53\\xb8" + number.to_bytes(4, "little") + b"\\xbb" + ebx + b"\\xb9" + ecx + b"\\xba" + edx)
    page.write(b"\\xcd\\x80\\x5b\\xc3")
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
for number in (55, 221):
    print(*(call(number, os.open(sys.argv[1], os.O_RDONLY), command, 0) for command in (1024, 1026, 1)))
"""
"""Asks by `int 0x80` for a lease, for signals, and for the flags of a file: with `fcntl`, and with `fcntl64`."""


@pytest.mark.skipif(os.uname().machine != "x86_64" or not filter_program(), reason="machine code; the filter")
def test_the_filter_prevents_leases_by_32_bit_calls(lent):
    with started(FILTERED + LEASE_IN_32_BITS, lent, filter_program().hex()) as process:
        said = finished(process)[0]
    assert said in ("-1 -1 1\n-1 -1 1\n", "")  # a kernel for 64 bits alone ends the program


SHARED = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def refused(result):
    return result < 0 and ctypes.get_errno() == 1
print(refused(libc.inotify_init()), refused(libc.inotify_init1(0)), refused(libc.fanotify_init(0x200, 0)))
print(refused(libc.mq_open(b"/queue", os.O_RDONLY)), refused(libc.msgget(0, 0)), refused(libc.shmget(0, 1, 0)))
print(refused(libc.fcntl(os.open("/", os.O_RDONLY), 1026, 1)))
"""
"""Asks for what Linux counts for all processes of a user together, few of each, for memory of no process, and for
signals from a folder."""


@filter_only
def test_the_filter_denies_scarce_and_unmeasured_kernel_resources():
    assert said_under_the_filter(SHARED) == "True True True\nTrue True True\nTrue\n"


ORDINARY = """
import fcntl, os, sqlite3
for lock in (fcntl.flock, fcntl.lockf):
    with open("own", "w") as file:
        lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        lock(file, fcntl.LOCK_UN)
file = os.open("own", os.O_RDWR)
os.set_blocking(file, False)
fcntl.fcntl(os.dup(file), fcntl.F_SETFD, fcntl.FD_CLOEXEC)
fcntl.fcntl(file, fcntl.F_OFD_SETLK, bytes(32))
with sqlite3.connect("base") as base:
    base.execute("create table board (row)")
    base.execute("insert into board values ('1 0 1')")
print(*base.execute("select * from board"))
"""


@filter_only
@pytest.mark.usefixtures("own_folder")
def test_the_filter_allows_locks_on_the_bots_own_files():
    assert said_under_the_filter(ORDINARY) == "('1 0 1',)\n"
