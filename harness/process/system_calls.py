"""The system calls that Linux refuses to a sandboxed bot, and a session keyring for each bot.

Namespaces separate files, processes and networks. Keyrings belong to users and sessions instead: without a new
one, a bot could read what an earlier bot stored. Other refused calls reach the host (AF_VSOCK), hold up its
programs, or have a history of bugs.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterator
from functools import cache, partial
from typing import IO

REFUSED = (
    *("add_key", "keyctl", "request_key"),
    *("bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp"),
    *("mount", "umount2", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr"),
    *("pivot_root", "chroot", "setns", "open_by_handle_at", "quotactl", "swapon", "swapoff", "acct"),
    *("init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "syslog"),
    *("settimeofday", "clock_settime", "iopl", "ioperm", "lookup_dcookie", "vhangup"),
    *("inotify_init", "inotify_init1", "fanotify_init", "mq_open"),  # few for all processes of a user
    *("shmget", "msgget"),  # memory of no process: without a cgroup, the judge would not measure it
)
"""System calls refused with EPERM."""

FILE_COMMANDS = {"F_SETLEASE": 1024, "F_NOTIFY": 1026}
"""Commands of `fcntl` refused with EPERM. With a lease on a file that it can only read, a bot would hold up each
program that opens the file, for up to 45 s; the other command sends signals at each use of a folder."""

SET_OWNER, SET_GROUP = 0o4000, 0o2000  # bits of a mode: such a program runs with the rights of its owner or group
MODES = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "creat": 1, "mknod": 1, "mknodat": 2}
"""Calls with which a warm-up could leave such a program to other users, and the argument that is the mode."""

FLAGS_AND_MODES = {"open": (1, 2), "openat": (2, 3)}  # calls with such an argument, if the flags say so
CREATING = (0o100, 0o20000000)  # flags: O_CREAT, and that of O_TMPFILE

SOCKET_FAMILIES = (1, 2, 10, 16)  # Unix, IPv4, IPv6, and netlink, from which runtimes read network addresses
KEYCTL = {"x86_64": 250, "aarch64": 219}  # number of the system call `keyctl`, by processor
_GET_ID, _JOIN_SESSION_KEYRING, _LINK = 0, 1, 8
_OF_THREAD, _OF_SESSION = -1, -3

_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
_NO_CALL = -1
_OTHER_PROCESSOR, _UNKNOWN_CALL = 2, 0x00050000 | errno.ENOSYS
_EQUAL, _GREATER, _EQUAL_IN_BITS = 4, 6, 7  # comparisons of an argument, as the values above from <seccomp.h>


class _Comparison(ctypes.Structure):
    """`struct scmp_arg_cmp` of <seccomp.h>: restricts a rule to calls with such an argument."""

    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operation", ctypes.c_int),
        ("value", ctypes.c_uint64),  # for `_EQUAL_IN_BITS`: the bits to compare
        ("value_of_bits", ctypes.c_uint64),
    )


@cache
def filter_program() -> bytes | None:
    """Return the filter as BPF code, made by libseccomp; None without the library or if a rule fails."""
    try:
        library = ctypes.CDLL("libseccomp.so.2")  # a search would start a compiler and ldconfig
        library.seccomp_init.restype = ctypes.c_void_p
    except (OSError, AttributeError):  # a library of this name that is another one
        return None
    calls = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(_ALLOW)))
    reading, writing = os.pipe()  # the filter's kilobyte fits into the pipe
    with os.fdopen(reading, "rb") as program:
        with os.fdopen(writing, "wb") as file:
            is_whole = (
                not any(_rules_added(library, calls)) and library.seccomp_export_bpf(calls, file.fileno()) == 0
            )
        library.seccomp_release(calls)
        return program.read() if is_whole else None


def _rules_added(library: ctypes.CDLL, calls: ctypes.c_void_p) -> Iterator[int]:
    """Add the rules, and yield what each function of libseccomp returns: 0, or an error."""
    yield library.seccomp_attr_set(calls, _OTHER_PROCESSOR, ctypes.c_uint32(_UNKNOWN_CALL))
    if second := {"x86_64": b"x86", "aarch64": b"arm"}.get(os.uname().machine):
        # 32-bit programs run too, and a 64-bit program can make 32-bit calls.
        yield library.seccomp_arch_add(calls, library.seccomp_arch_resolve_name(second))

    def refuse(name: str, *comparisons: _Comparison, how: int = _REFUSE) -> int:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number == _NO_CALL:  # libseccomp is older than the call
            return 0
        array = (_Comparison * len(comparisons))(*comparisons)
        error: int = library.seccomp_rule_add_array(calls, ctypes.c_uint32(how), number, len(comparisons), array)
        return error

    yield from map(refuse, REFUSED)
    last = max(SOCKET_FAMILIES)
    for family in set(range(last)) - set(SOCKET_FAMILIES):
        yield refuse("socket", _Comparison(0, _EQUAL, family))
    yield refuse("socket", _Comparison(0, _GREATER, last))
    for call in ("fcntl", "fcntl64"):  # the latter in 32 bits
        for command in FILE_COMMANDS.values():  # Linux reads 32 bits of it
            yield refuse(call, _Comparison(1, _EQUAL_IN_BITS, 0xFFFFFFFF, command))
    yield refuse("openat2", how=_UNKNOWN_CALL)  # its flags are in memory, which no filter reads
    for bit in (SET_OWNER, SET_GROUP):
        for call, argument in MODES.items():
            yield refuse(call, _Comparison(argument, _EQUAL_IN_BITS, bit, bit))
        for call, (flags, mode) in FLAGS_AND_MODES.items():
            for flag in CREATING:
                yield refuse(
                    call,
                    _Comparison(flags, _EQUAL_IN_BITS, flag, flag),
                    _Comparison(mode, _EQUAL_IN_BITS, bit, bit),
                )


def pipes_of_sandbox() -> Iterator[IO[bytes]]:
    """Yield ends of pipes: bubblewrap's status (non-blocking), its other end, and the filter if there is one."""
    status, to_status = os.pipe()
    os.set_blocking(status, False)
    yield os.fdopen(status, "rb", buffering=0)
    yield os.fdopen(to_status, "wb", buffering=0)
    if program := filter_program():
        reading, writing = os.pipe()
        yield os.fdopen(reading, "rb", buffering=0)
        with os.fdopen(writing, "wb") as file:
            file.write(program)


def join_new_keyring() -> None:
    """Give the calling thread a new session keyring, which the processes that it starts inherit."""
    if number := KEYCTL.get(os.uname().machine):
        keyctl = partial(ctypes.CDLL(None).syscall, number)
        if keyctl(_GET_ID, _OF_THREAD, 0) < 0:
            # For this thread alone: keys of an encrypted home or AFS, which the judge needs to write the result.
            keyctl(_LINK, _OF_SESSION, _OF_THREAD)
        keyctl(_JOIN_SESSION_KEYRING, None)  # may fail: the kernel or a container may not offer keyrings
