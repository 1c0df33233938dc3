"""The public surface: names and signatures of `import nonobot`, options of commands, fields of JSON and TOML.

`python -m tools.public_surface` writes it to golden/surface.txt, from which it must not change unnoticed
(see docs/compatibility.md).
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import inspect
import io
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

import nonobot
from nonobot.arguments import Parser
from nonobot.bot import cli as bot_cli
from nonobot.harness import cli as judge_cli
from nonobot.harness.bench.against import Compared
from nonobot.harness.bench.bisection import Finding
from nonobot.harness.bench.claims import Claim
from nonobot.harness.bench.measure import Measured
from nonobot.harness.check.self_test import CheckResult
from nonobot.harness.profiling.profile_data import Profile
from nonobot.harness.report.file_plots import Point
from nonobot.harness.results.result_files import SCHEMA_VERSION, write_json
from nonobot.harness.results.run_result import EndReason, RunResult, Verdict, VerifyResult
from nonobot.harness.tournament.definition import Tournament
from nonobot.protocol.formats import formats
from tests.helpers.judged import played
from tests.helpers.places import GOLDEN

FILE = GOLDEN / "surface.txt"


def names() -> Iterator[str]:
    """Yield the public names of `nonobot`, with the signatures of functions and the members of classes."""
    for name in sorted(nonobot.__all__):
        found = getattr(nonobot, name)
        if not inspect.isclass(found):
            yield f"nonobot.{name}{inspect.signature(found)}"
            continue
        yield f"nonobot.{name}({', '.join(base.__name__ for base in found.__bases__)})"
        own = [vars(base) for base in found.__mro__ if base.__module__.startswith("nonobot")]
        stored = {field.name for field in dataclasses.fields(found)} if dataclasses.is_dataclass(found) else set()
        for member in sorted({*stored, *(key for base in own for key in base if not key.startswith("_"))}):
            value = inspect.getattr_static(found, member, None)
            value = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            yield f"nonobot.{name}.{member}{inspect.signature(value) if inspect.isfunction(value) else ''}"


def options(parser: Parser) -> Iterator[str]:
    """Yield the arguments of a parser and of its commands."""
    for action in parser.actions:
        spellings = [option for option in action.option_strings if option not in ("-h", "--help")] or (
            [] if action.option_strings else [str(action.metavar or action.dest).upper()]
        )
        if spellings:
            kind = "flag" if action.nargs == 0 else "=" + "|".join(map(str, action.choices or ("VALUE",)))
            hidden = " hidden" if action.help == argparse.SUPPRESS else ""
            yield f"{parser.prog} {', '.join(spellings)} {kind}{hidden}"
    for name in sorted(parser.commands):
        yield f"{parser.prog} {name}"
        yield from options(parser.commands[name])


def fields(kind: Any) -> Iterator[str]:
    """Yield the fields of a struct and of all structs in it, with their JSON types."""
    parts = msgspec.json.schema(kind)["$defs"]
    for struct, part in sorted(parts.items()):
        for name, schema in sorted(part.get("properties", {}).items()):
            required = "" if name in part.get("required", ()) else "?"
            yield f"{kind.__name__}: {struct}.{name}{required} {_json_type(schema)}"


def _json_type(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return "|".join(map(_json_type, schema["anyOf"]))
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        return f"[{_json_type(schema['items'])}]"
    return str(schema.get("type") or json.dumps(schema.get("enum", "any")))


def printed() -> Iterator[str]:
    """Yield the paths of the JSON that some commands print about two runs of a bot, the second one slower."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name in ("before", "after"):
            Path(name).mkdir()
            result = played("perfect", Path(name))
            machine = replace(result.machine, usable_cores=1)  # CPU times are compared on one core
            result = replace(result, machine=machine)
            write_json(Path(name, "result.json"), result)
        puzzles = [replace(puzzle, took_seconds=1.0) for puzzle in result.score.puzzles]
        write_json(Path("after", "result.json"), replace(result, score=replace(result.score, puzzles=puzzles)))
        for command in ("table --format json before after", "compare --json before after", "data list --json"):
            out = io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
                judge_cli.run(command.split())
            paths = set(_paths(json.loads(out.getvalue())))
            yield from sorted(f"{command.partition(' --')[0]}: {path}" for path in paths)


def _paths(value: Any, place: str = "") -> Iterator[str]:
    if isinstance(value, list):
        for part in value:
            yield from _paths(part, f"{place}[]")
    elif isinstance(value, dict):
        for key, part in value.items():
            path = f"{place}.{key}" if key.isidentifier() else f"{place}.*"  # such as a name of a set
            yield path
            yield from _paths(part, path)


def surface() -> list[str]:
    """Return the public surface, a text line for each part, in a fixed order."""
    lines = [*names(), *options(bot_cli._parser()), *options(judge_cli._parser(*judge_cli.COMMANDS))]
    for kind in (RunResult, VerifyResult, CheckResult, Profile, Measured, Compared, Claim, Finding, Point):
        lines += fields(kind)
    lines += [*printed(), *fields(Tournament)]
    lines += [f"schema_version {SCHEMA_VERSION}"]
    lines += [f"verdict {verdict.value}" for verdict in Verdict] + [f"end {reason.value}" for reason in EndReason]
    lines += [f"format {format.name}" for format in formats()]
    return lines


if __name__ == "__main__":
    FILE.write_text("\n".join(surface()) + "\n", encoding="utf-8")
