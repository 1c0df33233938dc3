"""Attacks on the bot and the judge, for the days before a release: `python -m tools.siege [ATTACK ...]`.

    python -m tools.siege                          every attack, about two hours
    python -m tools.siege boards results --seed 7  two of them, other random choices
    python -m tools.siege --tries 20 --minutes 5   each attack 20 times, or for five minutes

Each attack is repeated with random choices, and stops at its number of tries or at its time. The same seed makes
the same attacks; attacks on processes meet them at other moments. Nothing leaves this machine. Each failure is
printed with what shows it, and the exit status is then 1.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path

import msgspec

from nonobot.bot.champion import ChampionStrategy
from nonobot.harness import cli, options
from nonobot.harness.opponents.sat import clauses_by_line
from nonobot.harness.play.journal import journal_path
from nonobot.harness.play.match import Bot, play
from nonobot.harness.play.run_state import records_of
from nonobot.harness.process.bot_process import sandbox_note
from nonobot.harness.process.cgroup import made_group
from nonobot.harness.results.conditions import Configuration, Contain
from nonobot.harness.results.result_files import read_result
from nonobot.protocol import Puzzle
from nonobot.protocol.verify import mismatches
from nonobot.tournament_data import load_set
from tests.helpers import mutated_formats
from tests.helpers.boards import broken, random_clues, random_grid, shuffled
from tests.helpers.clusters import definition
from tests.helpers.judged import RECIPE, SCRIPTED_BOT, remove, verdicts
from tests.helpers.judges_side import COMMANDS, Layout, breaches_in
from tests.helpers.places import DOUBLES, sparse

Failures = Iterator[str | None]
"""An item for each try: None, or what went wrong."""

HOSTILE_BOT = DOUBLES / "hostile_bot.py"
MULTIPLIES = ("fork_bomb", "fork_bomb_in_new_sessions", "shell_bomb", "thread_bomb")
STAYS = ("detached", "deaf", "stopped", "opens_files", "floods_stderr")
FILLS_MEMORY = ("fills_heap", "fills_memfd", "fills_scratch", "fills_shm")
LIMIT_SECONDS = 5
JUDGE = [sys.executable, "-P", "-m", "nonobot.harness"]


# The bot


def boards(rng: random.Random) -> Failures:
    """Solve odd boards, and ask a SAT solver how many solutions each has."""
    strategy = ChampionStrategy()
    strategy.prepare()
    while True:
        puzzle = odd_board(rng)
        result = strategy.solve(puzzle, solutions=2)
        wrong = [solution for solution in result.solutions if list(mismatches(puzzle, solution))]
        solutions = solutions_by_sat(puzzle)
        expected = ("unsolvable", "unique", "multiple")[solutions]
        right = result.verdict == expected and not wrong and len(set(result.solutions)) == solutions
        yield None if right else f"{result.verdict}, by SAT {expected}: {puzzle!r}"


def odd_board(rng: random.Random) -> Puzzle:
    """Return a board that is long, or empty, or full, or has many solutions or none."""
    longest = rng.choice([3, 8, 8, 12, 12, 16])
    width, height = (rng.choice([1, rng.randint(1, longest), longest]) for _ in range(2))
    if width == 1:
        height = rng.randint(1, 100)
    density = rng.choice([None, None, 0.0, 0.1, 0.5, 0.9, 1.0])
    puzzle = Puzzle.from_grid(random_grid(rng, width, height, density))
    if width * height > 150:  # a proof that there is no solution takes the SAT solver too long
        return puzzle
    return rng.choice([puzzle, broken(rng, puzzle), shuffled(rng, puzzle), random_clues(rng, width, height)])


def solutions_by_sat(puzzle: Puzzle) -> int:
    from pysat.solvers import Solver

    with Solver(name="glucose4") as solver:
        for clauses in clauses_by_line(puzzle):
            solver.append_formula(clauses)
        for number in range(2):
            if not solver.solve():
                return number
            solver.add_clause([-literal for literal in solver.get_model()[: puzzle.width * puzzle.height]])
    return 2


# The judge and hostile bots


def hostile(rng: random.Random) -> Failures:
    """Run hostile bots under a time limit, with and without a sandbox."""
    contained = ["no"] if sandbox_note(Contain.AUTO) else ["yes", "no"]
    for number in count():
        behaviour = (*MULTIPLIES, *STAYS)[number // len(contained) % 9]
        contain = contained[number % len(contained)]
        yield end_of(behaviour, {"process-limit", "time-limit"}, "--contain", contain, "--process-limit", "64")


def memory(rng: random.Random) -> Failures:
    """Run bots that fill memory, in a cgroup of 1.2 GB around judge and bot; in a sandbox, also in files."""
    ways = FILLS_MEMORY[:2] if sandbox_note(Contain.AUTO) else FILLS_MEMORY
    for number in count():
        group = made_group(Configuration(memory_limit_bytes=1_200_000_000))
        if group is None or not group.cgroup_measures.memory:
            raise SystemExit("no cgroup limits memory here: the attack `memory` is not possible")
        with group.entered():
            yield end_of(ways[number % len(ways)], {"memory-limit"}, "--time-limit", "60")
        remove(group)


def end_of(behaviour: str, reasons: set[str], *options: str) -> str | None:
    """Run a hostile bot; return what is wrong with its end."""
    with tempfile.TemporaryDirectory(prefix="siege-") as folder:
        path = Path(folder, "result.json")
        limits = ["--time-limit", str(LIMIT_SECONDS), *options]
        arguments = ["run", "--quiet", "--set", str(RECIPE), "--result", str(path), *limits]
        bot = [sys.executable, "-S", str(HOSTILE_BOT), behaviour]
        command = [*JUDGE, *arguments, "--", *bot]
        judge = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        case = f"{behaviour} {' '.join(options)}"
        if judge.returncode != 1 or "Traceback" in judge.stderr or not path.exists():
            return f"{case}: status {judge.returncode}, {judge.stderr[-300:]!r}"
        result = read_result(path)
        seconds = result.usage.wall_seconds
        if result.end.reason not in reasons or ("--time-limit" not in options and seconds > LIMIT_SECONDS + 2):
            return f"{case}: ended by {result.end.reason} after {seconds:.1f} s"
    return None


def kills(rng: random.Random) -> Failures:
    """Kill the judge of a tournament at a random moment, and give the same command again."""
    bots = {"good": "perfect", "lingers": "never_end", "sleeps": "dawdle"}
    while True:
        with tempfile.TemporaryDirectory(prefix="siege-") as folder:
            path = definition(Path(folder), bots)
            command = [*JUDGE, "tournament", str(path), "--results", f"{folder}/results"]
            moment = rng.uniform(0.3, 8)
            judge = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
            with contextlib.suppress(subprocess.TimeoutExpired):
                judge.wait(moment)
            judge.send_signal(signal.SIGKILL)
            judge.wait()
            again = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
            results = {file.name: verdicts(read_result(file)) for file in Path(folder, "results").glob("*.json")}
            right = list(results.values()) == [["right"] * 5] * 3
            left = list(Path(folder, "results").glob("*.jsonl"))
            interrupted = "interrupted" in again.stderr
            bad = again.returncode or interrupted or left or not right
            yield f"killed after {moment:.2f} s: {again.returncode}, {results}, {again.stderr!r}" if bad else None


# The judge's side


def judges_side(rng: random.Random) -> Failures:
    """Let the judge work in the folder of a stranger, with further traps, links and damaged files in it."""
    commands = [name for name in COMMANDS if name not in ("bisect", "duel")]  # slow, and the same as `run`
    while True:
        with tempfile.TemporaryDirectory(prefix="siege-") as folder:
            layout = Layout(Path(folder).resolve())
            changes = [change_of_stranger(rng, layout) for _ in range(3)]
            command = rng.choice(commands)
            for arguments in COMMANDS[command]:
                try:
                    found = breaches_in(layout, command, layout.observed(arguments, statuses=range(4)))
                except (AssertionError, subprocess.TimeoutExpired) as error:
                    found = [str(error)]
                yield f"{command} {arguments}, {changes}: {found}" if found else None


def change_of_stranger(rng: random.Random, layout: Layout) -> str:
    """Make a random change to what a stranger brought; return it in words."""
    folder = rng.choice([path for path in (layout.theirs, *layout.theirs.rglob("*")) if is_own_folder(path)])
    files = [path for path in layout.theirs.rglob("*") if path.is_file() and ".git" not in path.parts]
    file, result = rng.choice(files), layout.theirs / "results" / rng.choice(["old.json", "more.json"])
    kind = rng.choice(("module", "program", "settings", "clone", "link", "pipe", "result"))
    if kind == "module":
        name = rng.choice([*sorted(sys.stdlib_module_names), "nonobot", "msgspec", "yaml", "dask", "jinja2"])
        layout.write(place := folder / f"{name}.py", layout.module)
    elif kind == "program":
        layout.write(place := folder / rng.choice([*PROGRAMS]), layout.program)
    elif kind == "settings":
        layout.write(place := folder / rng.choice([*SETTINGS]), rng.choice([*SETTINGS.values()]).format(folder))
    elif kind == "clone":
        shutil.rmtree(folder / ".git", ignore_errors=True)
        layout.write(place := folder / ".git", rng.choice(CLONES).format(layout.theirs))
    elif kind == "link":
        file.unlink()
        targets = ["/dev/null", "/dev/zero", layout.ran, layout.mine, file]  # nothing that an attack may break
        (place := file).symlink_to(rng.choice(targets))
    elif kind == "pipe":
        # Not in place of a set, which the user names, nor of a bot's file: it is the bot that would wait.
        place = rng.choice([path for path in files if path.parent.name not in ("sets", "one", "two", "own")])
        place.unlink()
        os.mkfifo(place)
    else:
        (place := result).unlink(missing_ok=True)
        result.write_bytes(mutated_json(rng, (layout.folder / "made" / "result.json").read_bytes()))
    return f"{kind} {place.relative_to(layout.theirs)}"


PROGRAMS = ("git", "bwrap", "sh", "chmod", "rm", "env", "python", "python3", "cat", "fc-list", "gcc", "ldconfig")
PROGRAMS += ("nonobot",)
SETTINGS = {
    "pyvenv.cfg": "home = {0}\n",
    "traps.pth": "import trap\n",
    "python311._pth": "{0}\nimport site\n",
    "matplotlibrc": "backend: module://trap\n",
    ".numba_config.yaml": "- cache_dir: {0}\n",
    "dask.yaml": "distributed: {{preload: [trap]}}\n",
    ".gitconfig": "[core]\n\tfsmonitor = {0}/git\n",
    ".gitattributes": "* filter=trap diff=trap\n",
    "pyproject.toml": "[tool.nonobot]\n",
    ".env": "PYTHONPATH={0}\n",
}
"""Files that programs or libraries read where they run, and what may be in one of them."""

CLONES = ("gitdir: {0}/.git\n", "gitdir:  {0}/bots/one/.git\n", "gitdir: ../../.git", "ref: HEAD\n", "", "\0")


def is_own_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and ".git" not in path.parts


# Files of results


def results(rng: random.Random) -> Failures:
    """Read damaged results with the commands that read results."""
    with tempfile.TemporaryDirectory(prefix="siege-") as folder:
        sample = sample_run(Path(folder))[0]
        good = Path(folder, "good.json")
        good.write_bytes(sample)
        damaged = Path(folder, "damaged.json")
        for number in count():
            content = mutated_json(rng, sample)
            damaged.write_bytes(content)
            command = (["table"], ["table", "--format", "csv"], ["compare"], [])[number % 4]
            arguments = [*command, str(good), str(damaged)] if command else sample_resumed(damaged)
            yield outcome(arguments, content)


TRAPS: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "endless": lambda path: path.symlink_to("/dev/zero"),
    "large": sparse,
    "a gigabyte": lambda path: sparse(path, 1 << 30),
    "folder": Path.mkdir,
    "circle": lambda path: path.symlink_to(path),
    "mine": lambda path: path.symlink_to(path.parent.with_name("mine")),
    "another name of mine": lambda path: path.hardlink_to(path.parent.with_name("mine")),
    "nothing": lambda path: path.symlink_to(path.parent.with_name("gone")),
    "kernel's log": lambda path: path.symlink_to("/proc/kmsg"),
    "short lines": lambda path: path.write_bytes(b"$1\n" * 6_000_000),
    "deep": lambda path: path.write_bytes(b"[" * 10_000_000),
}
"""What may lie in place of a file that the judge reads: to wait for, to fill its memory, or to lead elsewhere."""

WAITING = ("verify {set}", "render {set} --answers", "run --set", "tournament", "profile")
"""Commands that read a pipe if the user names one."""

READERS = (*WAITING, "run --set {set} --force --result", "page --export", "table", "report -o page.html")
READERS += ("compare x.json", "history", "data import", "run --resume")


def traps(rng: random.Random) -> Failures:
    """Put traps where the commands read files, and see that each ends with a line, and changes no other file."""
    while True:
        with tempfile.TemporaryDirectory(prefix="siege-") as folder:
            theirs, mine = Path(folder, "theirs"), Path(folder, "mine")
            theirs.mkdir()
            mine.write_text("mine")
            names = rng.sample(["x.json", "x.journal.jsonl", "x.stderr.txt", "x.log"], 2)
            kinds = {name: rng.choice([*TRAPS]) for name in names}
            for name, kind in kinds.items():
                TRAPS[kind](theirs / name)
            command, file = rng.choice(READERS), rng.choice(["x.json", names[0], "."])
            if kinds.get(file) == "pipe" and command in WAITING:
                continue
            arguments = [*command.format(set=RECIPE).split(), file]
            limited = ["sh", "-c", 'ulimit -v 4000000; exec "$@"', "sh", *JUDGE, *arguments]
            given = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL, "cwd": theirs}
            case = f"{' '.join(arguments)} with {kinds}"
            try:
                judge = subprocess.run(limited, check=False, timeout=120, **given)  # type: ignore[call-overload]
            except subprocess.TimeoutExpired:
                yield f"{case}: it did not end"
                continue
            bad = judge.returncode not in range(4) or "Traceback" in judge.stderr or mine.read_text() != "mine"
            bad = bad or mine.with_name("gone").exists()
            yield f"{case}: status {judge.returncode}, {judge.stderr[-300:]!r}" if bad else None


def truncated(rng: random.Random) -> Failures:
    """Cut journals and results anywhere, and resume the runs."""
    with tempfile.TemporaryDirectory(prefix="siege-") as folder:
        whole, journal = sample_run(Path(folder))
        path = Path(folder, "cut.json")
        while True:
            path.unlink(missing_ok=True)
            journal_path(path).unlink(missing_ok=True)
            file, content = rng.choice([(path, whole), (journal_path(path), journal)])
            content = content[: rng.randrange(len(content))]
            file.write_bytes(content)
            yield outcome(sample_resumed(path), content) or outcome(["table", str(path)], content)


def sample_run(folder: Path) -> tuple[bytes, bytes]:
    """Return a result and the journal that it would have come from."""
    path = folder / "sample.json"
    result = play(
        load_set(str(RECIPE)), Bot("short", sample_bot(folder)), options.configuration_of({}, None), path
    )
    return path.read_bytes(), b"".join(msgspec.json.encode(record) + b"\n" for record in records_of(result))


def sample_bot(folder: Path) -> list[str]:
    (folder / "solutions.txt").touch()
    return [sys.executable, "-S", str(SCRIPTED_BOT), "ends_after_2", str(folder / "solutions.txt")]


def sample_resumed(path: Path) -> list[str]:
    """Return the command that resumes the run of a file: the judge then reads all of it."""
    options = ["--quiet", "--set", str(RECIPE), "--name", "short", "--core", "any", "--resume", str(path)]
    return ["run", *options, "--", *sample_bot(path.parent)]


def mutated_json(rng: random.Random, sample: bytes) -> bytes:
    """Return a damaged result: its bytes are changed, or a value of it."""
    if rng.random() < 0.5:
        return mutated_formats.mutated(rng, [("json", sample)])[1]
    tree = json.loads(sample)
    place: object = tree
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))  # type: ignore[arg-type]
        key = rng.choice(keys)
        value = place[key]  # type: ignore[index]
        if not isinstance(value, dict | list) or not value or rng.random() < 0.2:
            break
        place = value
    odd = [None, True, -1, 1e308, 10**30, "", "\x1b[2J", "x" * 100_000, [], {}, "\ud800", "../../x"]
    place[key] = rng.choice(odd)  # type: ignore[index]
    text = json.dumps(tree).encode()
    deep = b"[" * 100_000 + b"]" * 100_000
    return text.replace(b"null", deep, 1) if rng.random() < 0.05 else text


def outcome(arguments: Sequence[str], content: bytes) -> str | None:
    """Carry out a command of the judge on a damaged file; return what is wrong with what comes of it."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = cli.run(arguments)
    except BaseException as error:  # whatever it is, a user would see it
        return f"{' '.join(arguments)}: {error!r}\n{content[:2000]!r}"
    lines = [*out.getvalue().splitlines(), *err.getvalue().splitlines()]
    bad = [line for line in lines if not line.isprintable() or len(line) > 2000]
    if status not in (0, 1, 2, 3) or bad:
        return f"{' '.join(arguments)}: status {status}, {bad[:1]!r}\n{content[:2000]!r}"
    return None


ATTACKS: dict[str, tuple[Callable[[random.Random], Failures], int]] = {
    "inputs": (lambda rng: mutated_formats.problems(rng, Counter()), 100_000),
    "boards": (boards, 50_000),
    "hostile": (hostile, 32),
    "memory": (memory, 20),
    "kills": (kills, 60),
    "results": (results, 2_000),
    "traps": (traps, 300),
    "truncated": (truncated, 400),
    "judge": (judges_side, 300),
}
"""The attacks, and how often each is tried."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out the attacks that the command line names; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("attacks", nargs="*", metavar="ATTACK", help=f"{', '.join(ATTACKS)} (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="of the random choices (default: %(default)s)")
    parser.add_argument("--tries", type=int, help="of each attack (default: its own number)")
    parser.add_argument("--minutes", type=float, default=60.0, help="for each attack (default: %(default)g)")
    given = parser.parse_args(arguments)
    if unknown := set(given.attacks) - set(ATTACKS):
        parser.error(f"no such attack: {', '.join(sorted(unknown))}")
    failed = 0
    for name in given.attacks or ATTACKS:
        attack, tries = ATTACKS[name]
        failed += besiege(name, attack(random.Random(given.seed)), given.tries or tries, given.minutes * 60)
    return int(failed > 0)


def besiege(name: str, attack: Failures, tries: int, most_seconds: float) -> int:
    """Carry out an attack, print what came of it, and return the number of failures."""
    began, tried, failed = time.monotonic(), 0, 0
    for failure in attack:
        tried += 1
        if failure:
            failed += 1
            print(f"{name}, try {tried}: {failure}", file=sys.stderr, flush=True)
        if tried == tries or time.monotonic() - began > most_seconds:
            break
    print(f"{name}: {failed} of {tried} failed ({time.monotonic() - began:.0f} s)", flush=True)
    return failed


if __name__ == "__main__":
    os.environ.pop("PYTHONUNBUFFERED", None)
    sys.exit(main())
