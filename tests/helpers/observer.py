"""Observer of the judge's processes: what each of them reads, writes, executes and starts, as lines of JSON.

A copy of this file is `sitecustomize` in the PYTHONPATH of the judge, so each of its Python processes loads it.
Bots have an environment of their own and are not observed.
"""

import contextlib
import json
import os
import sys

LOG, OBSERVED = "NONOBOT_TEST_LOG", "NONOBOT_TEST_OBSERVED"  # variables: a file, and folders separated by colons

LISTS = {"os.listdir", "os.scandir"}
WRITES = {"os.chmod", "os.chown", "os.link", "os.mkdir", "os.rename", "os.setxattr", "os.symlink", "os.truncate"}
WRITES |= {"os.removexattr", "os.utime"}
RUNS = {"ctypes.dlopen", "exec", "import"}
UNPICKLES = {"pickle.find_class"}
STARTS = {"os.exec", "os.posix_spawn", "os.spawn", "os.startfile", "os.system", "subprocess.Popen"}

OPENINGS = ("list", "read", "write")

IGNORED = ("object.", "sys.", "compile", "code.", "marshal.", "cpython.", "os.chdir", "os.remove", "os.rmdir")
IGNORED += ("_posixsubprocess.", "glob.", "pathlib.", "shutil.", "tempfile.")
"""Beginnings of events that name no file or remove it, or that come with other events about what they do."""


def kind_of(event, arguments):
    """Return how a process uses what it names in an audit event, or the event itself if that is unknown."""
    if event == "open":
        _, mode, flags = arguments
        is_read = flags & os.O_ACCMODE == os.O_RDONLY if isinstance(flags, int) else mode in ("r", "rb")
        return "read" if is_read else "write"
    names = {"list": LISTS, "write": WRITES, "run": RUNS, "start": STARTS, "unpickle": UNPICKLES}
    return next((kind for kind, events in names.items() if event in events), event)


def texts(value):
    """Yield the texts in an argument of an event: words, paths, and the file of compiled code."""
    if isinstance(value, (str, bytes, os.PathLike)):
        with contextlib.suppress(TypeError):
            yield os.fsdecode(value)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from texts(part)
    elif hasattr(value, "co_filename"):
        yield value.co_filename


def absolute(path):
    return os.path.abspath(path)  # noqa: PTH100 - links stay


def removes_a_folder():
    """Return whether this happens within `shutil.rmtree`, which opens folders to remove what is in them."""
    frame = sys._getframe(2)
    while frame and frame.f_code.co_name != "rmtree":
        frame = frame.f_back
    return frame is not None


def observe(log, folders):
    """Write each event that concerns the folders, and each start of a program, to a descriptor from now on."""
    is_busy = False

    def note(event, arguments):
        nonlocal is_busy
        if is_busy or event.startswith(IGNORED):
            return
        is_busy = True
        try:
            kind = kind_of(event, arguments)
            if kind in ("list", "read") and removes_a_folder():
                return
            if kind == "start":
                program, command, folder, *_ = (*arguments, None, None)
                folder = folder if event == "subprocess.Popen" and folder else os.curdir
                lines = [[kind, absolute(os.fsdecode(folder)), *texts(command or program)]]
            elif kind == "unpickle":
                lines = [[kind, ".".join(arguments)]]
            else:
                named = arguments[:1] if event == "open" else arguments
                paths = {absolute(path) for path in texts(named) if kind in OPENINGS or os.sep in path}
                lines = [[kind, path] for path in paths if path.startswith(folders)]
            for line in lines:
                os.write(log, json.dumps(line).encode() + b"\n")
        finally:
            is_busy = False

    sys.addaudithook(note)


if LOG in os.environ:
    observe(
        os.open(os.environ[LOG], os.O_WRONLY | os.O_APPEND | os.O_CREAT), tuple(os.environ[OBSERVED].split(":"))
    )
