"""Benchmarks as people and machines read them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from nonobot.harness.bench.against import CONFIDENCE, Against, Compared, Judgement
from nonobot.harness.bench.catalogue import BENCHMARKS
from nonobot.harness.bench.measure import Measured
from nonobot.harness.play.machine import machine_facts
from nonobot.harness.text import drawn, duration, new_table, percent, plain

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["against_as_json", "against_as_text", "as_json", "as_text", "listing"]

BENCH_SCHEMA_VERSION = 1
"""Of the JSON forms; raised by a change that old readers cannot take."""


def listing(terminal: bool) -> str:
    """Return which benchmarks there are."""
    table = new_table()
    for header in ("benchmark", "time of a", "what is measured"):
        table.add_column(header)
    for one in BENCHMARKS.values():
        table.add_row(one.name, one.unit, one.about)
    return drawn([table], terminal)


def as_text(found: Sequence[Measured], terminal: bool) -> str:
    """Return what was measured, for a screen."""
    from rich.text import Text

    table = new_table()
    for at, header in enumerate(("benchmark", "time of a", "mean", "deviation", "median", "least", "clock")):
        table.add_column(header, justify="right" if 2 <= at <= 5 else "left")
    for one in found:
        share = percent(one.deviation_seconds / one.mean_seconds)
        times = (one.median_seconds, one.least_seconds)
        table.add_row(
            one.name, one.unit, duration(one.mean_seconds), f"+- {share}", *map(duration, times), one.clock
        )
    parts: list[RenderableType] = [table]
    lines = [f"{one.name}: {warning}" for one in found for warning in one.warnings]
    if lines:
        parts += ["", *(Text(f"unstable: {line}", "yellow") for line in lines)]
        parts.append(
            Text(
                "A busy machine is the usual reason; the median and the least value bear more than the mean.",
                "dim",
            )
        )
    return drawn(parts, terminal)


def as_json(found: Sequence[Measured]) -> str:
    """Return what was measured as JSON text; `benchmarks` has an object for each name."""
    return _json("benchmarks", {"benchmarks": {one.name: msgspec.to_builtins(one) for one in found}})


def against_as_text(found: Against, terminal: bool) -> str:
    """Return how two sides compare, for a screen."""
    from rich.text import Text

    table = new_table()
    headers = ("benchmark", "time of a", found.plan.revision, "present", "ratio", "interval", "")
    for at, header in enumerate(headers):
        table.add_column(Text(plain(header)), justify="right" if 2 <= at <= 4 else "left")
    for one in found.compared:
        table.add_row(*_cells(one), style=_STYLES.get(one.judgement, ""))
    count = len(found.compared)
    all_of = f"all {count} intervals together" if count > 1 else "the interval"
    notes = [
        f"ratio: present to {found.plan.revision}, above 1 is slower; {percent(CONFIDENCE)} for {all_of}, "
        f"of {found.plan.rounds} pairs of runs",
    ]
    parts: list[RenderableType] = [table, "", *(Text(plain(note), "dim") for note in notes)]
    parts += [
        Text(plain(f"skipped: {name}: the bot of {found.plan.revision} cannot run it: {reason}"), "yellow")
        for name, reason in found.skipped.items()
    ]
    return drawn([*parts, "", _verdict(found)], terminal)


_STYLES = {Judgement.SLOWER: "bold red", Judgement.FASTER: "bold green"}


def _cells(one: Compared) -> tuple[str, ...]:
    return (
        one.name,
        one.unit,
        duration(one.before_seconds),
        duration(one.after_seconds),
        f"{one.ratio.estimate:.3f}",
        f"{one.ratio.low:.3f} to {one.ratio.high:.3f}",
        one.judgement.value,
    )


def _verdict(found: Against) -> RenderableType:
    from rich.text import Text

    slower = [one.name for one in found.compared if one.judgement is Judgement.SLOWER]
    tolerance = percent(found.plan.tolerance)
    if slower:
        return Text(f"slower by more than {tolerance}: {', '.join(slower)}", "bold red")
    if not found.compared:
        return Text("nothing could be compared", "bold yellow")
    return Text(f"nothing is slower by more than {tolerance}", "bold green")


def against_as_json(found: Against) -> str:
    """Return how two sides compare as JSON text; `benchmarks` has an object for each name."""
    return _json(
        "bench_against",
        {
            "worse": found.worse,
            "confidence": CONFIDENCE,
            "plan": msgspec.to_builtins(found.plan),
            "benchmarks": {one.name: msgspec.to_builtins(one) for one in found.compared},
            "skipped": found.skipped,
        },
    )


def _json(kind: str, content: dict[str, object]) -> str:
    machine = msgspec.to_builtins(machine_facts(()))
    head = {"kind": kind, "schema_version": BENCH_SCHEMA_VERSION, "machine": machine}
    return json.dumps({**head, **content}, indent=1, ensure_ascii=False) + "\n"
