"""The steps carried out one by one."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator

from nonobot.harness.check.lab import Lab
from nonobot.harness.check.step import Level, ShortfallError, Step, StepResult, StepVerdict, Test
from nonobot.harness.check.steps import PROCESS, STEPS

__all__ = ["carried_out", "selected"]


def selected(only: Collection[int]) -> list[int]:
    """Return the numbers of the steps to carry out: those of `only`, or all, and those that they need."""
    wanted = set(only) or set(range(1, len(STEPS) + 1))
    number_of = {step.test: number for number, step in enumerate(STEPS, 1)}
    waiting = [1, *wanted]  # the first is needed by all
    found: set[int] = set()
    while waiting:
        number = waiting.pop()
        found.add(number)
        waiting += [number_of[test] for test in STEPS[number - 1].needs]
    return sorted(found)


def carried_out(numbers: Collection[int], lab: Lab, on_start: Callable[[int], None]) -> Iterator[StepResult]:
    """Carry out the steps `numbers` in order and yield what came of each.

    Parameters
    ----------
    numbers : collection of int
    lab : Lab
    on_start : callable
        Called with the number of a step before it is carried out.

    Raises
    ------
    StartError
        If the bot's command cannot be run.
    """
    missed: dict[Test, int] = {}
    for number in numbers:
        step = STEPS[number - 1]
        cause = next((missed[test] for test in (STEPS[0].test, *step.needs) if test in missed), None)
        if cause is None:
            on_start(number)
            result = _result(number, step, lab)
            # A minor shortfall keeps no other step from telling something.
            failed = result.verdict is StepVerdict.FAILED
        else:
            result = _blank(number, step, StepVerdict.SKIPPED)
            result.remark = f"needs step {cause}, which did not pass"
            failed = True
        if failed:
            missed[step.test] = number
        yield result


def _blank(number: int, step: Step, verdict: StepVerdict) -> StepResult:
    return StepResult(number=number, name=step.name, title=step.title, level=step.level, verdict=verdict)


def _result(number: int, step: Step, lab: Lab) -> StepResult:
    result = _blank(number, step, StepVerdict.PASSED)
    lab.transcript.clear()
    began = time.monotonic()
    try:
        result.remark = step.test(lab)
    except ShortfallError as short:
        is_failure = step.level is Level.MUST and not short.minor
        result.verdict = StepVerdict.FAILED if is_failure else StepVerdict.WARNING
        result.sent, result.expected, result.got, result.advice = (
            short.sent,
            short.expected,
            short.got,
            short.advice,
        )
        page = "docs/check.md" if step.section == PROCESS else "docs/protocol.md"
        result.rule = f"{page}, {step.section}"
    result.took_seconds = time.monotonic() - began
    result.transcript = list(lab.transcript)
    return result
