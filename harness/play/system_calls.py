"""The system calls that the kernel refuses to a sandboxed bot, and a session keyring for each bot.

Namespaces separate files, processes and networks. Keyrings belong to users and sessions instead: a bot would find
there what an earlier one stored. Other refused calls reach the host (AF_VSOCK), or have a history of bugs.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
from collections.abc import Iterator
from functools import cache, partial
from typing import IO, Any

REFUSED = (
    *("add_key", "keyctl", "request_key"),
    *("bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp"),
    *("mount", "umount2", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr"),
    *("pivot_root", "chroot", "setns", "open_by_handle_at", "quotactl", "swapon", "swapoff", "acct"),
    *("init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "syslog"),
    *("settimeofday", "clock_settime", "iopl", "ioperm", "lookup_dcookie", "vhangup"),
)
"""Refused with EPERM."""

SOCKET_FAMILIES = (1, 2, 10, 16)
"""Unix, IPv4, IPv6, and netlink, from which runtimes read network addresses; no others."""

KEYCTL = {"x86_64": 250, "aarch64": 219}
"""The number of the system call `keyctl`, by processor."""

_GET_ID, _JOIN_SESSION_KEYRING, _LINK = 0, 1, 8
_OF_THREAD, _OF_SESSION = -1, -3


@cache
def filter_program() -> bytes | None:
    """Return the filter as the kernel runs it (BPF); None without libseccomp or its binding, `pyseccomp`."""
    with contextlib.suppress(ImportError, RuntimeError, AttributeError, OSError):  # or libseccomp is too old
        import pyseccomp

        reading, writing = os.pipe()  # which holds the kilobyte that it takes
        with os.fdopen(reading, "rb") as program:
            with os.fdopen(writing, "wb") as file:
                _filter(pyseccomp).export_bpf(file)
            return program.read()
    return None


def _filter(pyseccomp: Any) -> Any:
    calls = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    calls.set_attr(pyseccomp.Attr.ACT_BADARCH, pyseccomp.ERRNO(errno.ENOSYS))
    second = {"x86_64": pyseccomp.Arch.X86, "aarch64": pyseccomp.Arch.ARM}.get(os.uname().machine)
    if second:  # 32-bit programs run as well, and a 64-bit one can make 32-bit calls
        calls.add_arch(second)
    refusal = pyseccomp.ERRNO(errno.EPERM)
    for name in REFUSED:
        if pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name) >= 0:  # negative: not on this processor
            calls.add_rule(refusal, name)
    last = max(SOCKET_FAMILIES)
    for family in set(range(last)) - set(SOCKET_FAMILIES):
        calls.add_rule(refusal, "socket", pyseccomp.Arg(0, pyseccomp.EQ, family))
    calls.add_rule(refusal, "socket", pyseccomp.Arg(0, pyseccomp.GT, last))
    return calls


def pipes_of_sandbox() -> Iterator[IO[bytes]]:
    """Yield ends of pipes: bubblewrap's status, not blocking, and its other end; the filter, if there is one."""
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
    """Give the calling thread a new session keyring, which the processes that it starts inherit.

    Refusals are ignored: the kernel, or a container around the judge, may have no keyrings.
    """
    if number := KEYCTL.get(os.uname().machine):
        keyctl = partial(ctypes.CDLL(None).syscall, number)
        if keyctl(_GET_ID, _OF_THREAD, 0) < 0:
            # Not inherited: keys of an encrypted home or AFS, without which the judge could not write the result.
            keyctl(_LINK, _OF_SESSION, _OF_THREAD)
        keyctl(_JOIN_SESSION_KEYRING, None)
