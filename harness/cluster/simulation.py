"""Simulation of large jobs on any number of workers: their time, their cost, and the part that limits them.

    python -m nonobot.harness.cluster.simulation league
    python -m nonobot.harness.cluster.simulation survey --workers 1,100,10000 --failures 0.05

It simulates discrete events. The scheduler gives one free worker after the other a task. The worker completes it,
or dies of it and another worker repeats it. Results are read one at a time. The middle of a very long job, in
which nothing changes, is calculated instead (`steady_rate`). docs/lab/cluster.md explains the measured figures,
and compares the simulation with runs.
"""

from __future__ import annotations

import heapq
import math
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from nonobot.arguments import Parser, count, number
from nonobot.harness.cli import add_option
from nonobot.harness.puzzles.board_jobs import MOST_TASKS_A_SECOND, TASK_SECONDS
from nonobot.harness.text import drawn, duration, new_table, on_terminal, percent

MOST_SIMULATED = 100_000  # tasks at the end of a job, where time is lost, that are simulated one by one


@dataclass(frozen=True, slots=True)
class Cluster:
    """Workers of one core each, and the costs around their tasks."""

    workers: int
    start_seconds: float = 2.0  # until the first worker is ready
    task_seconds: float = 0.0025  # of the worker for a task, in addition to its work
    scheduler_seconds: float = 0.0044  # of the scheduler for a task
    home_seconds: float = 0.0002  # for reading a result
    failures_an_hour: float = 0.0  # of one worker, at a constant rate
    recovery_seconds: float = 60.0  # until a worker is ready again after it died


@dataclass(frozen=True, slots=True)
class Job:
    """Independent tasks; `seconds` draws the time of a task by its number, the same time on every call."""

    tasks: int
    mean_seconds: float
    seconds: Callable[[int], float]


@dataclass(frozen=True, slots=True)
class Simulated:
    """The course of a job."""

    seconds: float  # until the last result was read
    work_seconds: float  # total of all tasks, each once
    lost_seconds: float  # work of the attempts that ended with the worker's death
    failures: int
    tail_seconds: float  # from the start of the last task to the end
    scheduler_share: float  # share of the time in which the scheduler worked
    home_share: float  # share of the time in which results were read


def steady_rate(cluster: Cluster, seconds: float) -> float:
    """Return the tasks per second in the middle of a job: the lowest of its limits.

    A worker that dies at rate f and returns after r needs (exp(f d) - 1) (1 / f + r) for a task of d seconds with
    all its attempts (Ross, Introduction to Probability Models, on renewal processes).
    """
    busy = seconds + cluster.task_seconds + cluster.scheduler_seconds
    rate = cluster.failures_an_hour / 3600
    each = math.expm1(rate * busy) * (1 / rate + cluster.recovery_seconds) if rate else busy
    limits = [cluster.workers / each]
    limits += [1 / spent for spent in (cluster.scheduler_seconds, cluster.home_seconds) if spent]
    return min(limits)


def simulate(job: Job, cluster: Cluster, seed: int = 0, most_simulated: int = MOST_SIMULATED) -> Simulated:
    """Return the course of a job with failures drawn from `seed`; only its last tasks are simulated one by one."""
    random = Random(seed)
    rate = cluster.failures_an_hour / 3600
    skipped = max(0, job.tasks - max(most_simulated, 20 * cluster.workers))
    each = job.mean_seconds + cluster.task_seconds
    deaths = skipped * math.expm1(rate * each)
    work = skipped * job.mean_seconds
    lost = deaths / rate - skipped * each if rate else 0.0
    failures = round(deaths)
    begun = skipped + failures
    now = cluster.start_seconds + skipped / steady_rate(cluster, job.mean_seconds)
    scheduler_free = home_free = last_begun = now
    to_do = deque(range(skipped, job.tasks))
    idle, missing = cluster.workers, len(to_do)
    # The time at which a worker is free or dies; a number that orders simultaneous events; the task that died with
    # it; otherwise the seconds of the completed task, or not a number after a recovery.
    events: list[tuple[float, int, int | None, float]] = []
    while missing:
        while idle and to_do:
            task = to_do.popleft()
            idle -= 1
            begun += 1
            last_begun = scheduler_free = max(scheduler_free, now) + cluster.scheduler_seconds
            seconds = job.seconds(task)
            dies_after = random.expovariate(rate) if rate else math.inf
            if dies_after < seconds + cluster.task_seconds:
                lost += dies_after
                heapq.heappush(events, (scheduler_free + dies_after, begun, task, 0.0))
            else:
                end = scheduler_free + seconds + cluster.task_seconds
                heapq.heappush(events, (end, begun, None, seconds))
        now, order, died_of, seconds = heapq.heappop(events)
        if died_of is not None:
            failures += 1
            to_do.appendleft(died_of)
            heapq.heappush(events, (now + cluster.recovery_seconds, order, None, math.nan))
            continue
        idle += 1
        if not math.isnan(seconds):
            missing -= 1
            work += seconds
            home_free = max(home_free, now) + cluster.home_seconds
    end = max(home_free, now)
    return Simulated(
        seconds=end,
        work_seconds=work,
        lost_seconds=lost,
        failures=failures,
        tail_seconds=end - last_begun,
        scheduler_share=begun * cluster.scheduler_seconds / end,
        home_share=job.tasks * cluster.home_seconds / end,
    )


def league(bots: int = 20, sets: int = 30, limit_seconds: float = 7200.0, seed: int = 0) -> Job:
    """Return the runs of each bot on each set, with assumed times.

    The bots' usual times go from 10 s to three times the limit, on a logarithmic scale. A run takes about half to
    twice its bot's time, and at most the limit.
    """
    random = Random(seed)
    span = math.log(3 * limit_seconds / 10)
    runs = []
    for bot in (bot for bot in range(bots) for _ in range(sets)):
        seconds = 10 * math.exp(span * bot / max(1, bots - 1) + random.gauss(0, math.log(2)))
        runs.append(min(limit_seconds, seconds))
    random.shuffle(runs)
    return Job(len(runs), sum(runs) / len(runs), runs.__getitem__)


def survey(
    boards: int, board_seconds: float, hard_share: float, hard_seconds: float, task_seconds: float, seed: int = 0
) -> Job:
    """Return the tasks of a survey, each of as many boards as usually take `task_seconds`."""
    mean = board_seconds + hard_share * hard_seconds
    each = max(1, round(task_seconds / mean))
    tasks = math.ceil(boards / each)

    def seconds(task: int) -> float:
        number = min(each, boards - each * task)
        hard = _poisson(number * hard_share, Random(f"{seed} {task}"))
        return number * board_seconds + hard * hard_seconds

    return Job(tasks, boards * mean / tasks, seconds)


def _poisson(mean: float, random: Random) -> int:
    """Return a Poisson number: the count of exponential times that fit into `mean`."""
    happened, passed = 0, random.expovariate(1)
    while passed < mean:
        happened += 1
        passed += random.expovariate(1)
    return happened


COLUMNS = (
    *("workers", "task", "tasks", "time", "core hours", "cost", "at work", "died", "work lost", "tail"),
    *("scheduler", "home", "what limits it"),
)


def main(arguments: Sequence[str]) -> int:
    """Print the course of a job for each number of workers."""
    options = _parser().parse_args(arguments)
    table = new_table(COLUMNS, left=[len(COLUMNS) - 1], no_wrap=True)
    for workers in options.workers:
        task_seconds = options.task_seconds or max(TASK_SECONDS, workers / MOST_TASKS_A_SECOND)
        if options.job == "league":
            job = league(options.bots, options.sets, options.limit, options.seed)
        else:
            hard = options.hard_share, options.hard_seconds
            job = survey(options.boards, options.board_ms / 1e3, *hard, task_seconds, options.seed)
        cluster = Cluster(
            workers,
            task_seconds=(options.run_overhead if options.job == "league" else options.task_ms) / 1e3,
            scheduler_seconds=options.scheduler_ms / 1e3,
            home_seconds=options.home_ms / 1e3,
            failures_an_hour=options.failures,
            recovery_seconds=options.recovery,
        )
        outcome = simulate(job, cluster, options.seed)
        hours = workers * outcome.seconds / 3600
        table.add_row(
            f"{workers:,}",
            duration(job.mean_seconds),
            f"{job.tasks:,}",
            _clock(outcome.seconds),
            f"{hours:,.1f}",
            f"{hours * options.price:,.2f}",
            percent(outcome.work_seconds / (workers * outcome.seconds)),
            f"{outcome.failures:,}",
            percent(outcome.lost_seconds / outcome.work_seconds),
            duration(outcome.tail_seconds) if outcome.tail_seconds else "none",
            percent(outcome.scheduler_share),
            percent(outcome.home_share),
            _limit(outcome),
        )
    print(drawn([table], on_terminal()), end="")
    return 0


def _limit(outcome: Simulated) -> str:
    if outcome.scheduler_share > 0.9:
        return "the scheduler"
    if outcome.home_share > 0.9:
        return "results at home"
    return "the longest tasks" if outcome.tail_seconds > outcome.seconds / 2 else "the workers"


def _clock(seconds: float) -> str:
    for name, unit in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * unit:
            return f"{seconds / unit:,.1f} {name}"
    return duration(seconds)


def _workers(text: str) -> list[int]:
    return [count(part) for part in text.split(",")]


def _parser() -> Parser:
    first, _, rest = (__doc__ or "").partition("\n")
    parser = Parser(prog="python -m nonobot.harness.cluster.simulation", description=first, epilog=rest.strip())
    some = number(0.0, 1e9, "a number from 0 on")
    parser.add_argument("job", choices=["league", "survey"])
    add_option(parser, "--workers", "N,...", "(default: 1,100,10000)", _workers, default=[1, 100, 10_000])
    parser.add_argument("--seed", type=int, default=0, help="seed of the drawn numbers (default: %(default)s)")
    for name, value, what in (
        ("--price", 0.04, "price of a core for an hour"),
        ("--failures", 0.01, "deaths of a worker in an hour"),
        ("--recovery", 60.0, "seconds until a worker is back"),
        ("--task-ms", 2.5, "survey: overhead of a worker for a task, in ms"),
        ("--run-overhead", 750.0, "league: overhead of a worker for a run, in ms"),
        ("--scheduler-ms", 4.4, "time of the scheduler and its client for a task, in ms"),
        ("--home-ms", 0.2, "time to read a result, in ms"),
        ("--limit", 7200.0, "league: longest run, in seconds"),
        ("--board-ms", 3.0, "survey: time of a board that is not hard, in ms"),
        ("--hard-share", 0.0, "survey: share of boards that run into the limit"),
        ("--hard-seconds", 1.0, "survey: time of a hard board, in seconds"),
        ("--task-seconds", 0.0, "survey: intended time of a task; 0 for the rule of `nonojudge generate`"),
    ):
        add_option(parser, name, "X", f"{what} (default: %(default)s)", some, default=value)
    for name, whole, what in (("--bots", 20, "league"), ("--sets", 30, "league"), ("--boards", 10**9, "survey")):
        add_option(parser, name, "N", f"{what} (default: %(default)s)", count, default=whole)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
