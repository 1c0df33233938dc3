"""How many planted bugs the tests find: `python -m tools.planted_bugs [NAME ...]`; all 60 take half an hour.

Each bug of planted_bugs.toml is planted by itself in a clone of the last commit. The tests likely to find it
run first, and the whole default suite only if they pass; if that finds a bug, it must pass without one. Exit
status 1 if a bug is missed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any

import psutil

from tests.helpers.places import REPOSITORY

SECONDS = 600  # for one run of tests: a bug that makes them hang is found


def plant(bug: dict[str, Any], clone: Path) -> None:
    """Put a bug into its file; ValueError: the text to replace does not occur exactly once."""
    path = clone / bug["file"]
    text = path.read_text(encoding="utf-8")
    occurrences = text.count(bug["old"])
    if occurrences != 1:
        raise ValueError(f"{bug['name']}: {bug['file']} contains the text {occurrences} times, not once")
    path.write_text(text.replace(bug["old"], bug["new"]), encoding="utf-8")


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True)


def failure(modules: list[str], clone: Path, cache: Path) -> str | None:
    """Return the first failure of tests in the clone, None if they pass; no modules: the default suite."""
    paths = [str(path) for name in modules for path in Path("tests").rglob(f"{name}.py")]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "2", *paths]
    environment = os.environ | {"PYTHONPATH": str(clone), "NONOBOT_CACHE_DIR": str(cache)}
    with tempfile.TemporaryFile("w+") as output:
        tests = psutil.Popen(command, cwd=clone, env=environment, stdout=output, stderr=output)
        try:
            if tests.wait(SECONDS) == 0:
                return None
        except psutil.TimeoutExpired:
            return f"no end within {SECONDS} s"
        finally:
            for process in [*tests.children(recursive=True), tests] if tests.is_running() else []:
                process.kill()
        output.seek(0)
        lines = output.read().splitlines()
    failures = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return (failures or lines[-1:] or ["no output"])[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="plant these bugs only")
    parser.add_argument("--list", type=Path, default=Path(__file__).with_suffix(".toml"), help="file of the bugs")
    parser.add_argument("--repository", type=Path, default=REPOSITORY, help="where to plant them")
    parser.add_argument("--only-plant", action="store_true", help="run no tests")
    arguments = parser.parse_args()
    bugs = tomllib.loads(arguments.list.read_text(encoding="utf-8"))["bug"]
    bugs = [bug for bug in bugs if not arguments.names or bug["name"] in arguments.names]
    found, late = 0, list[str]()
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        clone, cache = Path(folder, "clone"), Path(folder, "cache")
        git("clone", "--quiet", "--no-local", str(arguments.repository), str(clone))
        if (kernels := arguments.repository / "build/kernels").exists():
            shutil.copytree(kernels, clone / "build/kernels")  # without those for browsers, tests of the page skip
        for bug in bugs:
            plant(bug, clone)
            git("-C", str(clone), "checkout", "--quiet", ".")
        for bug in bugs if not arguments.only_plant else ():
            plant(bug, clone)
            began = time.monotonic()
            why = failure(bug["tests"], clone, cache)
            if why is None and (why := failure([], clone, cache)):
                late.append(bug["name"])
            found += why is not None
            verdict = f"found   {bug['name']}: {why}" if why else f"MISSED  {bug['name']}"
            print(f"{verdict} ({time.monotonic() - began:.0f} s)", flush=True)
            git("-C", str(clone), "checkout", "--quiet", ".")
        if late and (why := failure([], clone, cache)):
            print(f"tests fail without a bug, so {', '.join(late)} may be missed: {why}")
            return 1
    if arguments.only_plant:
        print(f"{len(bugs)} bugs can be planted")
        return 0
    print(f"{found} of {len(bugs)} planted bugs found")
    return 0 if found == len(bugs) else 1


if __name__ == "__main__":
    sys.exit(main())
