"""`nonojudge new-bot`: write a small, complete bot to start from, in Python or C++."""

from __future__ import annotations

import argparse
import os
import shlex
from importlib.resources import files

from nonobot.arguments import Parser, new_path
from nonobot.harness import UnusableError
from nonobot.harness.user_files import write_output
from nonobot.system import printable, with_file

EXAMPLES = """\
examples:
  nonojudge new-bot python mybot
  nonojudge new-bot c++ mybot-cpp

The folder gets the bot of docs/first-bot.md and a README with the commands that compile it, check it, play with it
and rehearse the tournament. An existing file is never overwritten.

Exit status: 0 written, 2 unusable arguments.
"""

BOTS = {
    "python": ("Python", "mybot.py", "python3 mybot.py", ""),
    "c++": ("C++", "mybot.cpp", "./mybot", "g++ -O2 -std=c++17 -o mybot mybot.cpp\n"),
}
"""For each language its name, the bot's file, and the commands that start and compile it."""

OTHER_NAMES = {"py": "python", "python3": "python", "cpp": "c++", "cxx": "c++", "cc": "c++", "c": "c++"}
_README = """\
# A nonogram bot

It reads puzzles of 25x25 from stdin and writes answers to stdout; `{start} 10` plays boards of 10x10. It paints
lines, guesses a cell where that does not help, and gives a puzzle up after five seconds. In this folder:

```sh
{compile}nonojudge check -- {start}
nonojudge run --set boardgen:25x25x20:seed=1:p2=0.5 -- {start}
nonojudge profile boardgen:25x25x20:seed=1:p2=0.5 -- {start}
nonojudge rehearse -- {start}
```

`check` tests whether the bot follows the protocol, `run` plays 20 easy boards, `profile` shows which puzzles take
the time, and `rehearse` says whether the bot is ready to hand in.

The documents of nonobot continue from here: docs/first-bot.md, docs/compare.md, docs/tournament.md.
"""


def add_to(parser: Parser) -> None:
    about = "language of the bot: python (or py), or c++ (or cpp, cxx, c)"
    parser.add_argument("language", type=_language, metavar="LANGUAGE", help=about)
    parser.add_argument("folder", type=new_path, metavar="FOLDER", help="new folder for it")


def _language(text: str) -> str:
    name = OTHER_NAMES.get(text.lower(), text.lower())
    if name not in BOTS:
        raise argparse.ArgumentTypeError(f"{text!r} is not available; choose python (py) or c++ (cpp, cxx, c)")
    return name


def carry_out(arguments: argparse.Namespace) -> int:
    folder = arguments.folder
    language, name, start, compilation = BOTS[arguments.language]
    program = files("nonobot.harness.new_bot").joinpath(f"{name}.txt").read_text(encoding="utf-8")
    readme = _README.format(start=start, compile=compilation)
    texts = {folder / name: program, folder / "README.md": readme}
    if there := [path for path in texts if os.path.lexists(path)]:
        raise UnusableError(f"{there[0]} exists; choose another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise UnusableError(f"{error.filename} exists; choose another folder") from None
    except OSError as error:
        raise UnusableError(f"cannot write {with_file(error, folder)}") from None
    for path, text in texts.items():
        write_output(path, text.encode())
    go = shlex.join(["cd", str(folder)])
    print(printable(f"{folder / name}: a bot in {language}; next: {go}, and the commands in README.md"))
    return 0
