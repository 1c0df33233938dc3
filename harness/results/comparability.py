"""Which conditions must be equal to compare times of runs, or to resume one, and their differences in words."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from msgspec import UNSET
from msgspec.structs import astuple
from msgspec.structs import replace as replaced

from nonobot.harness.results.conditions import BUSY_SHARE, Machine, digest_of_variable
from nonobot.harness.results.run_result import UNKNOWN, RunResult
from nonobot.harness.results.terms import TERMS
from nonobot.harness.text import first_of, megabytes, percent, ranges
from nonobot.protocol.clues import count

Fact = Callable[[RunResult], object]
Labelled = tuple[str, RunResult]  # a run with the label of its bot or version in the output
SHOWN_LABELS = 5  # most bots or versions named in a line on busy machines
MachineKind = tuple[str, ...]  # the facts `KIND` of a machine

MACHINE: dict[str, Callable[[Machine], object]] = {
    "CPU": lambda machine: machine.cpu,
    "system": lambda machine: machine.system,
    "cores of the machine": lambda machine: machine.logical_cores,
    "usable cores": lambda machine: machine.usable_cores,
    "memory": lambda machine: megabytes(machine.memory_bytes),
    "governor": lambda machine: machine.governor or UNKNOWN,
    "Python": lambda machine: machine.python,
    "numpy": lambda machine: machine.numpy or "none",
    "numba": lambda machine: machine.numba or "none",
}
"""Facts of a machine, without its load, which always differs."""

KIND = ("CPU", "system", "cores of the machine", "governor")
"""Facts that machines of one kind have in common."""


def _stated(name: str, run: RunResult) -> str:
    return TERMS[name].in_words(run.term(name))


STATED: dict[str, Fact] = {term.words: partial(_stated, name) for name, term in TERMS.items() if term.words}
"""Terms of a run, as they were requested."""

ONLY_TO_RESUME = {term.words for term in TERMS.values() if not term.compared}

CONFIGURATION: dict[str, Fact] = {
    "number of cores": lambda run: run.core_count,
    **{words: fact for words, fact in STATED.items() if words not in ONLY_TO_RESUME},
    "input and output": lambda run: "files" if run.files else "pipes",
    "sandbox": lambda run: run.sandboxed,
    "filter of system calls": lambda run: run.filtered,
    "figures measured by cgroup": lambda run: run.cgroup_measures,
}
"""Conditions of a run, apart from its machine and its environment: as they were, however they were requested."""


def _of_machine(name: str, run: RunResult) -> object:
    return MACHINE[name](run.machine)


MACHINE_AND_CONFIGURATION: dict[str, Fact] = {
    **{name: partial(_of_machine, name) for name in KIND},
    **CONFIGURATION,
    "environment": lambda run: environment_of([run])(run),
}
"""Conditions that must be equal to compare the times of two bots."""

SOFTWARE: dict[str, Fact] = {
    "judge": lambda run: run.judge_version,
    **{name: partial(_of_machine, name) for name in ("Python", "numpy", "numba")},
    "start": lambda run: _start(run),
}
"""Conditions that must also be equal to compare two versions of one bot."""


PLAYED: dict[str, Fact] = {
    **{
        name: of
        for name, of in MACHINE_AND_CONFIGURATION.items()
        if name not in ("number of cores", "input and output")
    },
    "cores": lambda run: ranges(run.configuration.cores) or "any",
    "bot": lambda run: run.bot,
    "command": lambda run: shlex.join(run.command),
    "files": lambda run: " ".join(filter(None, astuple(run.files))) if run.files else "none",
    "set": lambda run: run.set,
}
"""Facts of a run, in words; if one differs, it is another run. A sandbox changes no answer."""

CONTINUED: dict[str, Fact] = {
    **PLAYED,
    **STATED,
    "hidden files": lambda run: shlex.join(run.hide or ()) or "none",
}
"""Facts of a run that must also be the same to resume it: what the bot may do."""


def changed_facts(recorded: RunResult, now: RunResult, facts: dict[str, Fact], core_named: bool) -> list[str]:
    """Return each of `facts` that a recorded run and what is to be played `now` do not share, with both values.

    A core that nobody named counts as any other; so does the default of a limit, which depends on the machine.
    """
    own, its = now.configuration, recorded.configuration
    alike: dict[str, Any] = {}
    if own.memory_limit_bytes is UNSET:
        alike["memory_limit_bytes"] = UNSET
    if not core_named and len(own.cores) == len(its.cores):
        alike["core"] = own.core
    was = replaced(recorded, configuration=replaced(its, **alike))
    changes = {name: (str(of(was)), str(of(now))) for name, of in facts.items()}
    return [f"{name} {old}, now {new}" for name, (old, new) in changes.items() if old != new]


def environment_of(runs: Iterable[RunResult]) -> Fact:
    """Return the condition `environment` of several runs: the values of all variables that were given to any."""
    return partial(_variables, names=sorted({name for run in runs for name in run.configuration.digests}))


def _variables(run: RunResult, names: Sequence[str]) -> str:
    own = {name: value for name, value in run.environment.items() if name in names}
    known = {**{name: digest_of_variable(name, value) for name, value in own.items()}, **run.configuration.digests}
    shown = (f"{name} (digest {known[name]})" if name in known else f"{name} not set" for name in names)
    return ", ".join(shown) or "nothing added"


def differences(runs: Sequence[Labelled], facts: dict[str, Fact]) -> list[str]:
    """Return a text line for each of `facts`, and the environment, that differs: its known values with labels."""
    lines = []
    for name, value_of in {**facts, "environment": environment_of(run for _, run in runs)}.items():
        owners: dict[str, dict[str, None]] = {}
        for label, run in runs:
            if (value := str(value_of(run))) != UNKNOWN:
                owners.setdefault(value, {})[label] = None
        if len(owners) > 1:
            values = "; ".join(f"{value} ({', '.join(labels)})" for value, labels in owners.items())
            lines.append(f"not the same {name}: {values}")
    return lines


def kind_of(machine: Machine) -> MachineKind:
    """Return the properties of `machine` that all machines of its kind share."""
    return tuple(str(MACHINE[name](machine)) for name in KIND)


def busy_lines(runs: Sequence[Labelled]) -> list[str]:
    """Return a text line if runs started on a busy machine: how many, the loads and, unless all, which."""
    loads = [(label, run.machine.busy_share) for label, run in runs]
    busy = [(label, share) for label, share in loads if share is not None and share >= BUSY_SHARE]
    if not busy:
        return []
    shares = dict.fromkeys(percent(pick(share for _, share in busy)) for pick in (min, max))
    line = (
        f"the machine was busy at the start of {len(busy)} of {count(len(runs), 'run')}: "
        f"others used {' to '.join(shares)} of its CPU time"
    )
    whose = list(dict.fromkeys(label for label, _ in busy))
    if len(busy) < len(runs):
        line += f" ({first_of(whose, SHOWN_LABELS)})"
    return [line]


def conditions(run: RunResult) -> str:
    """Return the machine, cores, feed and limit of `run` in one text line."""
    limits = run.configuration
    cores = count(run.core_count, "core")
    return f"{run.machine.cpu}, {cores}, {limits.feed} feed, {limits.wall_limit_seconds:g} s for the set"


def _start(run: RunResult) -> str:
    if run.warm_up_seconds is None:
        return "perhaps cold" if run.started else UNKNOWN
    return "warmed up"
