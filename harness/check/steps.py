"""The steps of the self-test, in order, and how they are carried out: each with a bot started anew.

docs/check.md lists the same steps; a test compares the two.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator

from nonobot.harness.check import answer_steps, process_steps, question_steps
from nonobot.harness.check.session import Lab, ShortfallError
from nonobot.harness.check.step import PROCESS, Level, Step, StepResult, StepVerdict

__all__ = ["STEPS", "carried_out", "selected"]

STEPS: tuple[Step, ...] = (
    answer_steps.one_puzzle,
    answer_steps.official_form,
    answer_steps.only_answers,
    answer_steps.numbers_and_order,
    answer_steps.any_solution,
    answer_steps.writes_at_once,
    answer_steps.answers_before_the_next,
    process_steps.ends_with_its_input,
    answer_steps.large_batch,
    question_steps.odd_pieces,
    question_steps.crlf,
    question_steps.empty_columns,
    question_steps.empty_rows,
    question_steps.all_white,
    question_steps.all_black,
    question_steps.zero_clue,
    question_steps.spaces_for_tab,
    question_steps.spaces_around_the_number,
    question_steps.byte_order_mark,
    question_steps.blank_lines,
    question_steps.no_final_newline,
    question_steps.garbled_clue,
    question_steps.unsolvable_puzzle,
    process_steps.cut_off_input,
    process_steps.sigterm_idle,
    process_steps.sigterm_at_work,
    process_steps.stdout_closed,
    process_steps.leaves_nothing_behind,
    process_steps.stderr_unread,
    answer_steps.same_again,
    answer_steps.seconds_per_puzzle,
)


def selected(only: Collection[int]) -> list[int]:
    """Return the numbers of the steps to carry out: those of `only`, or all, and those that they need."""
    waiting = [STEPS[0]]  # which is needed by all
    waiting += [STEPS[number - 1] for number in only] if only else STEPS
    found: set[Step] = set()
    while waiting:
        step = waiting.pop()
        found.add(step)
        waiting += step.needs
    return [number for number, step in enumerate(STEPS, 1) if step in found]


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
    missed: dict[Step, int] = {}
    for number in numbers:
        step = STEPS[number - 1]
        cause = next((missed[needed] for needed in (STEPS[0], *step.needs) if needed in missed), None)
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
            missed[step] = number
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
