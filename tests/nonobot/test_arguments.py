"""What all commands make of their arguments, and the hints of their messages."""

import argparse
import ast
import os
import re
import shlex
import subprocess
import sys
import tomllib
import venv
from itertools import product

import pytest

from nonobot.arguments import (
    Parser,
    byte_count,
    command_words,
    count,
    either,
    integer,
    missing,
    number,
    seconds,
    share,
    similar_names,
    size,
    size_up_to,
    variable,
)
from nonobot.arguments import whole_number as whole
from nonobot.harness import cli
from tests.helpers.places import REPOSITORY, quoted
from tests.helpers.talking import COMMAND

HOUSE = REPOSITORY
JUDGE = (sys.executable, "-m", "nonobot.harness")
EXTRAS = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]["optional-dependencies"]


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (size, "25x25", (25, 25)),
        (size, "9999x1", (9999, 1)),
        (size_up_to(62), "62x5", (62, 5)),
        (either("auto", None, size), "auto", None),
        (either("auto", None, size), "5x8", (5, 8)),
        (seconds, "0.25", 0.25),
        (seconds, "1e9", 1e9),
        (either("0", None, seconds), "0", None),
        (share, "0", 0.0),
        (share, "10", 10.0),
        (count, "1", 1),
        (whole(0, 9), "09", 9),
        (whole(0), "9" * 18, 10**18 - 1),
        (byte_count, "4G", 4 << 30),
        (byte_count, "9999999999999999G", 1 << 62),
        (variable, "_A1=b=c", ("_A1", "b=c")),
        (variable, "A=", ("A", "")),
        (integer, "-7", -7),
        (command_words, "a 'b c'", ["a", "b c"]),
    ],
)
def test_option_values_are_converted_from_text(read, text, value):
    assert read(text) == value


@pytest.mark.parametrize(
    ("read", "texts", "why"),
    [
        (size, ("25", "0x5", "5x", "-5x5", "5x5x5", "\u0665x\u0665", ""), "is not WIDTHxHEIGHT, such as 25x25"),
        (size_up_to(62), ("63x5", "5x63", "10000x1"), "is too large; the limit is 62x62"),
        (either("auto", None, size), ("Auto", "25"), "is not WIDTHxHEIGHT, such as 25x25, or auto"),
        (seconds, ("0", "-1", "nan", "inf", "1e10", "soon", ""), "is not a number of seconds above 0"),
        (share, ("-0.1", "10.1", "nan", "5 %"), "is not a fraction from 0 to 10, such as 0.05 for 5%"),
        (number(0.5, 0.9, "such a thing"), ("0.4", "1"), "is not such a thing"),
        (count, ("0", "-1", "1.0", "1_0", "\u0665", "9" * 19, ""), "is not a whole number of 1 or more"),
        (whole(1, 9, "a number of things"), ("0", "10"), "is not a number of things from 1 to 9"),
        (byte_count, ("4T", "-1", "0"), "is not a number of bytes, such as 500M or 4G"),
        (variable, ("A", "=b", "A=\0", ""), "expected NAME=VALUE, such as OMP_NUM_THREADS=1"),
        (integer, ("x", "1.0", ""), "is not a whole number"),
        (command_words, ("a 'b",), "No closing quotation"),
        (command_words, ("a \\",), "Nothing after the last backslash"),
        (variable, ("A B=c", "1A=b", "A-1=b"), "is not a variable's name; use letters, digits and _"),
    ],
)
def test_an_unreadable_option_value_is_reported_with_the_expected_form(read, texts, why):
    for text in texts:
        with pytest.raises(argparse.ArgumentTypeError) as raised:
            read(text)
        assert why in str(raised.value)


# Arguments that argparse refuses


def small_parser() -> Parser:
    """Return a parser with an argument of each kind."""
    parser = Parser(prog="some")
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("-o", "--output", metavar="OUT", type=whole(0), help="about it")
    group = parser.group("colours")
    group.add_argument("--as", required=True, choices=("ink", "paper"))
    rivals = group.exclusive()
    rivals.add_argument("--dark", action="store_true")
    rivals.add_argument("--light", nargs="?", const="1")
    parser.add_argument("--darken", action="append")
    return parser


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("--as ink", "missing FILE"),
        ("", "missing FILE, --as"),
        ("x", "missing --as"),
        ("x --aas ink", "unknown option '--aas' (similar: --as)"),
        ("x --as", "--as needs a value"),
        ("x --as --dark", "--as needs a value"),
        ("x --as ink -o", "--output needs a value"),
        ("x --as ink -o -1", "--output: '-1' is not a whole number of 0 or more"),
        ("x --as ink --out=x", "--output: 'x' is not a whole number of 0 or more"),
        ("x --as pen", "--as: unknown value 'pen'; choose ink or paper"),
        ("x --as pap", "--as: unknown value 'pap' (similar: paper)"),
        ("x --as ink --light --dark", "--dark cannot be combined with --light; remove one"),
        ("x --as ink --dark --darken a --light 2", "--light cannot be combined with --dark; remove one"),
        ("x --as ink y --zzz", "unknown option y --zzz"),
        ("--as ink -- -x -y", "unknown option -y"),
    ],
)
def test_argument_errors_have_our_own_wording(line, why, capsys):
    with pytest.raises(SystemExit) as end:
        small_parser().parse_args(line.split())
    assert (end.value.code, *capsys.readouterr()) == (2, "", f"some: {why}; see some --help\n")


def test_the_parser_accepts_all_forms_that_argparse_accepts():
    given = small_parser().parse_args(["--dark", "--dark", "--as=paper", "-o7", "--darken", "a b", "--", "-x"])
    expected = {"file": "-x", "output": 7, "as": "paper", "dark": True, "light": None, "darken": ["a b"]}
    assert vars(given) == expected
    assert small_parser().parse_args(["x", "--as", "ink", "--light", "-o", "1"]).light == "1"


OTHER_SENTENCES = """
import gettext, re
gettext.gettext = lambda text: re.sub(r"(%(?:[(]\\w+[)])?[rsd])|[a-z]", lambda found: found[1] or "x", text)
gettext.ngettext = lambda one, several, number: gettext.gettext(several)
from tests.harness.commands.test_messages import messages, said_among_samples
lines = [pair for pair in messages("$") if pair[1].endswith("--help")]
assert len(lines) > 30
for line, said in lines:
    assert said_among_samples(line) == f"{said}\\n", said_among_samples(line)
"""


def test_error_messages_do_not_depend_on_the_wording_of_argparse():
    done = subprocess.run([sys.executable, "-c", OTHER_SENTENCES], cwd=HOUSE, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


# Hints


def test_empty_or_distant_names_suggest_no_similar_name():
    assert similar_names("", ["run"]) == similar_names("run", []) == similar_names("render", ["table"]) == ""


@pytest.mark.parametrize("has_pip", [True, False])
def test_a_missing_package_is_named_with_an_install_command_for_this_python(tmp_path, has_pip):
    venv.create(tmp_path / "my env", with_pip=False)
    python = tmp_path / "my env" / "bin" / "python"
    if has_pip:
        (tmp_path / "pip.py").touch()
    code = "from nonobot.arguments import missing; print(missing('a report', 'matplotlib', 'jinja2'))"
    environment = {"PYTHONPATH": f"{HOUSE}:{tmp_path}"}
    done = subprocess.run([python, "-c", code], env=environment, capture_output=True, text=True, check=True)
    own = quoted(python)
    command = f"{own} -m pip install matplotlib jinja2"
    if not has_pip:
        command = f"{own} -m ensurepip && {command}"
        assert subprocess.run(f"{own} -m ensurepip --version", shell=True).returncode == 0
    assert done.stdout == f"a report needs matplotlib and jinja2, not installed; install with: {command}\n"


def test_every_page_installs_tested_versions_of_extras_that_exist_into_the_environment_that_it_uses():
    commands = []
    for path in (HOUSE / "README.md", HOUSE / "CONTRIBUTING.md", *HOUSE.glob("docs/*.md")):
        commands += re.findall(r"(\S*)pip install\s+(-c constraints.txt )?(?:-e )?(\S+)", path.read_text())
    assert {program.lstrip("(`") for program, _, _ in commands} == {".venv/bin/"}
    named = set()
    for _, constraints, target in commands:
        if extra := re.search(r"'\.\[(.*)\]'", target):
            named.add(extra[1])
            assert constraints, f"{target}: with the versions that are tested, -c constraints.txt"
    assert {"judge", "data", "report", "page", "bench", "pictures", "cluster"} <= named <= EXTRAS.keys()


def test_every_library_that_a_message_names_is_in_an_extra():
    offered = {re.split("[>=]", requirement)[0] for extra in EXTRAS.values() for requirement in extra}
    named = set()
    for path in (*HOUSE.glob("nonobot/*.py"), *HOUSE.glob("harness/**/*.py"), *HOUSE.glob("tournament_data/*.py")):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and ast.unparse(call.func) in ("missing", "require_libraries"):
                named |= {argument.value for argument in call.args[1:] if isinstance(argument, ast.Constant)}
    assert {"Pillow", "pooch", "shtab", "matplotlib", "pyperf"} <= named <= offered


def completed(script: str, function: str, *arguments: str) -> list[str]:
    """Return what bash offers after some words, the last of which is begun."""
    line = shlex.join(arguments)
    program = (
        f'{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(arguments) - 1}; {function}; echo "${{COMPREPLY[@]}}"'
    )
    # bash would warn of a locale of the user that is not installed.
    done = subprocess.run(["env", "LC_ALL=C", "bash", "-c", program], cwd=HOUSE, capture_output=True, check=True)
    assert done.stderr == b""
    return done.stdout.decode().split()


def script_of(command: tuple[str, ...], shell: str = "bash") -> str:
    return subprocess.run([*command, "--completion", shell], capture_output=True, text=True, check=True).stdout


def test_bash_completes_commands_options_values_and_files():
    script = script_of(JUDGE)
    assert completed(script, "_shtab_nonojudge", "nonojudge", "re") == ["rehearse", "report", "render"]
    assert completed(script, "_shtab_nonojudge", "nonojudge", "render", "--the") == ["--theme"]
    assert completed(script, "_shtab_nonojudge", "nonojudge", "render", "--theme", "") == ["light", "dark"]
    assert completed(script, "_shtab_nonojudge", "nonojudge", "data", "f") == ["fetch"]
    for command in ("render", "report", "convert"):
        assert completed(script, "_shtab_nonojudge", "nonojudge", command, "READ") == ["README.md"]
    script = script_of(COMMAND)
    assert completed(script, "_shtab_nonobot", "nonobot", "--strat") == ["--strategy"]
    assert completed(script, "_shtab_nonobot", "nonobot", "--strategy", "") == ["champion", "papers"]
    assert completed(script, "_shtab_nonobot", "nonobot", "--watch", "READ") == ["README.md"]


@pytest.mark.parametrize(
    "shell", ["zsh", *(pytest.param(shell, marks=pytest.mark.slow) for shell in ("tcsh", "fish"))]
)
@pytest.mark.parametrize("command", [COMMAND, JUDGE])
def test_other_shells_get_a_script_too(command, shell):
    script = script_of(command, shell)
    assert "--strategy" in script or "--theme" in script


def test_completion_scripts_of_both_commands_can_be_loaded_together():
    program = (
        f'eval "$({shlex.join(COMMAND)} --completion bash; {shlex.join(JUDGE)} --completion bash)"; complete -p'
    )
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    names = [line.split()[-1] for line in done.stdout.splitlines()]
    assert {"nonobot", "nonojudge"} <= set(names)
    assert "#" not in done.stdout


def test_an_incompatible_shtab_is_a_one_line_error(monkeypatch, capsys):
    def moved(*_):
        raise AttributeError("no attribute '_actions'")

    monkeypatch.setattr("shtab.complete", moved)
    assert cli.run(["--completion", "bash"]) == 2
    why = "this shtab cannot read this Python's argparse (no attribute '_actions'); update shtab"
    assert capsys.readouterr() == ("", f"nonojudge: --completion: {why}\n")


def test_without_shtab_the_error_names_the_install_command(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert cli.run(["--completion", "bash"]) == 2
    assert capsys.readouterr() == ("", f"nonojudge: {missing('--completion', 'shtab')}\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")  # noqa: PTH110
@pytest.mark.parametrize(
    ("command", "option"),
    [*product((COMMAND, JUDGE), (["--version"], ["--completion", "bash"])), (JUDGE, ["data", "list"])],
)
def test_a_full_output_device_is_a_one_line_error(command, option):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run([*command, *option], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr.partition(": ")[2]) == (2, "No space left on device\n")
