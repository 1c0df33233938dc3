"""The bot's processes behind the page: the order of requests, and the end of processes without one."""

from __future__ import annotations

import asyncio
import sys

import psutil
import pytest

pytest.importorskip("anyio", reason="the extra `page` is not installed")

from nonobot.harness.page import solves
from nonobot.harness.page.solves import BusyError, LateError, Solves

pytestmark = pytest.mark.anyio

BOT = """
import json, sys, time
for line in sys.stdin:
    request = json.loads(line)
    match request["do"]:
        case "hang":
            time.sleep(1000)
        case "die":
            sys.exit(3)
        case "compile":
            print(json.dumps({"compiling": "all"}), flush=True)
            time.sleep(request["seconds"])
        case "rubbish":
            print("{", flush=True)
            continue
        case "large":
            kept = bytearray(64 << 20)
    print(json.dumps({"did": request["do"], "name": request.get("name")}), flush=True)
"""


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
async def pool(request, monkeypatch):
    """Processes of the scripted bot, of which none is left at the end: one, unless a test says otherwise."""
    monkeypatch.setattr(solves, "COMMAND", (sys.executable, "-S", "-c", BOT))
    monkeypatch.setattr(solves, "SECONDS_TO_SPARE", 0.2)

    async def nothing(_):
        pass

    monkeypatch.setattr(Solves, "_compile_ahead", nothing)
    pool = Solves(getattr(request, "param", 1))
    pool.start()
    yield pool
    pids = pool.pids
    await pool.close()
    assert not any(map(psutil.pid_exists, pids))


async def until(true):
    while not true():
        await asyncio.sleep(0.01)


async def test_tabs_are_served_by_turns(pool):
    served = []

    async def ask(tab, number):
        await pool.ask(tab, {"do": "solve"}, 9)
        served.append(tab + str(number))

    await asyncio.gather(*(ask(tab, number) for tab in "abc" for number in range(3)))
    assert served == ["a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2"]


@pytest.mark.parametrize("pool", [1, 2], indirect=True)
async def test_a_hundred_boards_of_ten_tabs_all_end_with_few_processes(pool):
    async def ask(number):
        answer = await pool.ask(f"tab {number % 10}", {"do": "solve", "name": number}, 60)
        return answer["name"], len(pool.pids) <= pool._count

    assert await asyncio.gather(*map(ask, range(100))) == [(number, True) for number in range(100)]


async def test_a_request_that_is_cancelled_as_its_answer_comes_takes_nothing_from_the_next(pool):
    await pool.ask("a", {"do": "solve"}, 9)
    [process] = pool._all
    answered = process.ask

    async def ask(request, seconds):
        answer = await answered(request, seconds)
        if request["name"] == "going":
            going.cancel()
        return answer

    process.ask = ask
    going = asyncio.create_task(pool.ask("a", {"do": "solve", "name": "going"}, 9))
    following = asyncio.create_task(pool.ask("b", {"do": "solve", "name": "next"}, 9))
    await asyncio.gather(going, return_exceptions=True)
    assert ((await following)["name"], going.cancelled()) == ("next", True)


async def test_a_cancelled_request_gives_up_its_place_or_its_process_is_replaced(pool):
    task = asyncio.create_task(pool.ask("a", {"do": "hang"}, 900))
    await asyncio.sleep(0)  # by then it has a process, or waits for one
    await until(lambda: pool._all and not pool._idle and not pool._waiting)
    [first] = pool.pids
    waiting = asyncio.create_task(pool.ask("b", {"do": "solve"}, 9))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    task.cancel()
    assert (await pool.ask("c", {"do": "solve", "name": "third"}, 9))["name"] == "third"
    assert [first] != pool.pids
    assert not psutil.pid_exists(first)


async def test_requests_that_were_cancelled_take_no_room():
    pool = Solves(1)  # not started: every request waits
    gone = [asyncio.create_task(pool.ask("a", {}, 9)) for _ in range(solves.MOST_WAITING_OF_TAB)]
    await asyncio.sleep(0)
    with pytest.raises(BusyError):
        await asyncio.wait_for(pool.ask("a", {}, 9), 60)  # otherwise it would wait for ever
    for task in gone:
        task.cancel()
    await asyncio.wait(gone)
    assert not pool._waiting


@pytest.mark.parametrize(
    ("do", "why"), [("hang", "the time is up"), ("die", "the bot ended"), ("rubbish", "the bot ended: ")]
)
async def test_a_process_that_does_not_answer_is_replaced(pool, do, why):
    with pytest.raises(LateError, match=f"^{why}"):
        await pool.ask("a", {"do": do}, 0.1)
    assert (await pool.ask("a", {"do": "solve", "name": "again"}, 60))["name"] == "again"


async def test_compiling_is_given_time_and_is_not_lost_with_its_request(pool, capsys):
    answer = await pool.ask("a", {"do": "compile", "seconds": 0.5}, 0.1)
    assert answer["did"] == "compile"
    [first] = pool.pids
    compiling = asyncio.create_task(pool.ask("a", {"do": "compile", "seconds": 0.3}, 9))
    await until(lambda: any(process.is_compiling for process in pool._all))
    compiling.cancel()
    await pool.ask("b", {"do": "solve"}, 9)
    assert [first] == pool.pids
    assert "the bot compiles all, once" in capsys.readouterr().err


async def test_a_process_that_has_grown_makes_way_for_another(pool, monkeypatch):
    monkeypatch.setattr(solves, "MOST_MEMORY_BYTES", 50 << 20)
    await pool.ask("a", {"do": "solve"}, 9)
    [first] = pool.pids
    await pool.ask("a", {"do": "large"}, 9)
    await pool.ask("a", {"do": "solve"}, 9)
    assert [first] != pool.pids


async def test_too_many_that_wait_are_refused(pool, monkeypatch):
    monkeypatch.setattr(solves, "MOST_WAITING_OF_TAB", 2)
    asking = [pool.ask(tab, {"do": "solve"}, 9) for tab in "aaaab"]
    outcomes = await asyncio.gather(*asking, return_exceptions=True)
    assert list(map(type, outcomes)) == [dict, dict, BusyError, BusyError, dict]


async def test_a_bot_that_does_not_start_is_no_reason_to_wait(monkeypatch):
    monkeypatch.setattr(solves, "COMMAND", (sys.executable, "-c", "raise SystemExit(3)"))
    pool = Solves(1)
    pool.start()
    with pytest.raises(LateError, match="the bot does not start: the bot ended"):
        await pool.ask("a", {"do": "solve"}, 9)
    await pool.close()
