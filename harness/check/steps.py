"""All steps of the self-test, in order: selected, listed and summed up. docs/check.md lists the same steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from msgspec import Struct

from nonobot.harness.check import answer_steps, process_steps, question_steps
from nonobot.harness.check.step import Step, StepResult, StepVerdict
from nonobot.harness.results.run_result import SCHEMA_VERSION

__all__ = ["STEPS", "CheckResult", "list_of_steps", "selected", "summary"]

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
    *question_steps.QUESTION_STEPS,
    *process_steps.PROCESS_STEPS,
    answer_steps.same_again,
    answer_steps.seconds_per_puzzle,
)


class CheckResult(Struct, tag_field="kind", tag="check"):
    """The result of a check, as JSON."""

    command: list[str]
    size: tuple[int, int]
    patience_seconds: float
    start_seconds: float
    judge_version: str
    conforms: bool
    steps: list[StepResult]
    schema_version: int = SCHEMA_VERSION


def selected(only: Collection[int]) -> list[int]:
    """Return the numbers of the steps to carry out: those of `only`, or all, and those that they need."""
    waiting = [STEPS[0]]  # needed by all
    waiting += [STEPS[number - 1] for number in only] if only else STEPS
    chosen: set[Step] = set()
    while waiting:
        step = waiting.pop()
        chosen.add(step)
        waiting += step.needs
    return [number for number, step in enumerate(STEPS, 1) if step in chosen]


def list_of_steps() -> str:
    """Return the steps with their reasons, two lines each."""
    indent = " " * 13
    return "\n".join(
        f"{number:3}  {step.level:<6}  {step.title}\n{indent}{step.why}" for number, step in enumerate(STEPS, 1)
    )


def summary(results: Sequence[StepResult]) -> str:
    """Return how many steps had which verdict, and the conclusion."""
    counts = Counter(result.verdict for result in results)
    tally = ", ".join(f"{counts[verdict]} {verdict}" for verdict in StepVerdict if counts[verdict])
    failed = [str(one.number) for one in results if one.verdict is StepVerdict.FAILED]
    if failed:
        return f"{tally}: not ready for a tournament; see step{'s' if failed[1:] else ''} {', '.join(failed)}"
    return f"{tally}: every must is met"
