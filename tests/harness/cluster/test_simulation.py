"""The simulation of many workers, against what can be reckoned."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonobot.harness.cluster.simulation import Cluster, Job, league, main, simulate, steady_rate, survey


def cluster(workers=1, **figures):
    values = {"start_seconds": 0, "task_seconds": 0, "scheduler_seconds": 0, "home_seconds": 0, **figures}
    return Cluster(workers, **values)


def alike(tasks, seconds):
    return Job(tasks, seconds, lambda task: seconds)


spans = st.floats(0.01, 10)


@given(
    tasks=st.integers(1, 200),
    workers=st.integers(1, 300),
    seconds=spans,
    start=spans,
    beside=st.floats(0, 10),
    asked=st.floats(0, 1),
    taken=st.floats(0, 1),
)
def test_tasks_pass_the_scheduler_a_worker_and_the_reading_of_results(
    tasks, workers, seconds, start, beside, asked, taken
):
    free, scheduler, home = [start] * workers, start, start
    for _ in range(tasks):
        first = min(range(workers), key=free.__getitem__)
        scheduler = max(scheduler, free[first]) + asked
        free[first] = scheduler + seconds + beside
        home = max(home, free[first]) + taken
    costs = {"task_seconds": beside, "scheduler_seconds": asked, "home_seconds": taken}
    simulated = simulate(alike(tasks, seconds), cluster(workers, start_seconds=start, **costs))
    assert simulated.seconds == pytest.approx(home)
    assert simulated.work_seconds == pytest.approx(tasks * seconds)
    assert (simulated.failures, simulated.lost_seconds) == (0, 0.0)
    assert simulated.tail_seconds == pytest.approx(home - scheduler)
    assert simulated.scheduler_share == pytest.approx(tasks * asked / home)
    assert simulated.home_share == pytest.approx(tasks * taken / home)


@pytest.mark.parametrize("workers", [1, 7])
@pytest.mark.parametrize(("seconds", "recovery"), [(100.0, 10.0), (3600.0, 60.0)])
def test_failures_cost_what_the_formula_says(workers, seconds, recovery):
    rate, tasks = 1 / 3600, 4000
    failing = cluster(workers, failures_an_hour=1, recovery_seconds=recovery)
    simulated = simulate(alike(tasks, seconds), failing, seed=3)
    deaths = tasks * math.expm1(rate * seconds)
    expected = deaths * (1 / rate + recovery) / workers
    assert simulated.seconds == pytest.approx(expected, rel=0.05)
    assert steady_rate(failing, seconds) == pytest.approx(tasks / expected)
    assert simulated.failures == pytest.approx(deaths, rel=0.1)
    lost = deaths / rate - tasks * seconds  # all time at work, but for what was done
    assert simulated.lost_seconds == pytest.approx(lost, rel=0.15)
    assert simulated.work_seconds == pytest.approx(tasks * seconds)


@pytest.mark.parametrize(
    "figures",
    [
        {},
        {"scheduler_seconds": 0.2},
        {"home_seconds": 0.3},
        {"failures_an_hour": 200.0, "recovery_seconds": 2.0},
        {"task_seconds": 0.5, "scheduler_seconds": 0.01, "failures_an_hour": 99.0, "recovery_seconds": 5.0},
    ],
)
def test_a_job_reckoned_for_the_most_part_is_like_one_simulated(figures):
    job = survey(600_000, 0.01, 1e-3, 1.0, task_seconds=1.0)
    assert job.tasks > 5000
    whole, part = (simulate(job, cluster(8, **figures), most_simulated=most) for most in (10**6, 500))
    for name in ("seconds", "work_seconds", "scheduler_share", "home_share"):
        assert getattr(part, name) == pytest.approx(getattr(whole, name), rel=0.05), name
    assert part.failures == pytest.approx(whole.failures, rel=0.15)


def test_surveys_and_leagues_have_the_tasks_and_limits_that_they_should():
    job = survey(100_003, 0.01, 1e-3, 5.0, task_seconds=1.5)
    assert job.mean_seconds == pytest.approx(1.5, rel=0.01)
    total = sum(map(job.seconds, range(job.tasks)))
    assert total == pytest.approx(100_003 * 0.015, rel=0.1)
    assert job.seconds(7) == job.seconds(7)
    light = survey(100_003, 0.01, 0.0, 5.0, task_seconds=1.5)
    assert sum(map(light.seconds, range(light.tasks))) == pytest.approx(1000.03)
    job = league(20, 30, 7200.0)
    runs = [job.seconds(run) for run in range(job.tasks)]
    assert len(runs) == 600
    assert max(runs) == 7200.0 == sorted(runs)[540]
    assert min(runs) > 0
    simulated = simulate(job, cluster(1000))
    assert simulated.seconds == 7200.0


def test_the_program_prints_a_line_for_each_number_of_workers(capsys):
    for job in ("league", "survey"):
        assert main([job, "--workers", "1,100", "--boards", "100000", "--price", "2", "--failures", "0"]) == 0
        head, one, hundred = capsys.readouterr().out.splitlines()
        assert head.split()[:2] == ["workers", "task"]
        assert one.split()[0] == "1"
        assert hundred.split()[0] == "100"
        assert one.endswith("the workers")
    with pytest.raises(SystemExit):
        main(["league", "--workers", "none"])
