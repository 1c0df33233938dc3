"""The bot's processes behind the page: who is served when, and what becomes of those whose asker has gone."""

from __future__ import annotations

import asyncio
import sys
import textwrap

import psutil
import pytest

from nonobot.harness.page import solves
from nonobot.harness.page.solves import BusyError, LateError, Solves

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


@pytest.fixture(autouse=True)
def _scripted(monkeypatch, tmp_path):
    path = tmp_path / "scripted.py"
    path.write_text(textwrap.dedent(BOT))
    monkeypatch.setattr(solves, "COMMAND", (sys.executable, "-S", str(path)))

    async def nothing(_):
        pass

    monkeypatch.setattr(Solves, "_compile_ahead", nothing)


def held(scenario, count=1):
    """Carry a scenario out with so many processes, and see that none is left."""

    async def play():
        pool = Solves(count)
        pool.start()
        try:
            return await asyncio.wait_for(scenario(pool), 120)
        finally:
            pids.extend(pool.pids)
            await pool.close()

    pids: list[int] = []
    outcome = asyncio.run(play())
    assert not any(map(psutil.pid_exists, pids))
    return outcome


async def until(true):
    while not true():
        await asyncio.sleep(0.01)


async def until_busy(pool):
    """Wait until a process has the one board that was asked about."""
    await asyncio.sleep(0)  # by then who asks has a process, or waits for one
    await until(lambda: pool._all and not pool._idle and not pool._waiting)


def test_tabs_are_served_by_turns():
    async def scenario(pool):
        served = []

        async def ask(tab, number):
            await pool.ask(tab, {"do": "solve"}, 9)
            served.append(tab + str(number))

        await asyncio.gather(*(ask(tab, number) for tab in "abc" for number in range(3)))
        return served

    assert held(scenario) == ["a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2"]


@pytest.mark.parametrize("count", [1, 2])
def test_a_hundred_boards_of_ten_tabs_all_end_with_few_processes(count):
    async def scenario(pool):
        async def ask(number):
            answer = await pool.ask(f"tab {number % 10}", {"do": "solve", "name": number}, 60)
            return answer["name"], len(pool.pids) <= count

        return await asyncio.gather(*map(ask, range(100)))

    assert held(scenario, count) == [(number, True) for number in range(100)]


def test_who_goes_takes_the_process_along_and_another_takes_its_place():
    async def scenario(pool):
        hanging = asyncio.create_task(pool.ask("a", {"do": "hang"}, 900))
        await until_busy(pool)
        [first] = pool.pids
        await asyncio.sleep(0.05)
        hanging.cancel()
        answer = await pool.ask("b", {"do": "solve", "name": "next"}, 9)
        [second] = pool.pids
        return answer["name"], first != second, psutil.pid_exists(first)

    assert held(scenario) == ("next", True, False)


def test_who_goes_as_the_answer_comes_takes_nothing_from_who_is_next():
    async def scenario(pool):
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
        return (await following)["name"], going.cancelled()

    assert held(scenario) == ("next", True)


def test_who_goes_while_waiting_gives_up_the_place():
    async def scenario(pool):
        hanging = asyncio.create_task(pool.ask("a", {"do": "hang"}, 900))
        await until_busy(pool)
        waiting = asyncio.create_task(pool.ask("b", {"do": "solve"}, 9))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        hanging.cancel()
        return (await pool.ask("c", {"do": "solve", "name": "third"}, 9))["name"]

    assert held(scenario) == "third"


def test_who_has_gone_while_waiting_takes_no_room_of_who_stays():
    async def scenario():
        pool = Solves(1)  # not started: whoever asks, waits
        gone = [asyncio.create_task(pool.ask("a", {}, 9)) for _ in range(solves.MOST_WAITING_OF_TAB)]
        await asyncio.sleep(0)
        with pytest.raises(BusyError):
            await pool.ask("a", {}, 9)
        for task in gone:
            task.cancel()
        await asyncio.wait(gone)
        assert not pool._waiting
        staying = asyncio.create_task(pool.ask("a", {}, 9))
        await asyncio.sleep(0)
        waits = not staying.done()
        staying.cancel()
        await asyncio.wait([staying])
        return waits

    assert asyncio.run(scenario())


@pytest.mark.parametrize(
    ("do", "why"), [("hang", "the time is up"), ("die", "the bot ended"), ("rubbish", "the bot ended: ")]
)
def test_a_process_that_does_not_answer_is_replaced(do, why, monkeypatch):
    monkeypatch.setattr(solves, "SECONDS_TO_SPARE", 0.2)

    async def scenario(pool):
        with pytest.raises(LateError, match=f"^{why}"):
            await pool.ask("a", {"do": do}, 0.1)
        return (await pool.ask("a", {"do": "solve", "name": "again"}, 60))["name"]

    assert held(scenario) == "again"


def test_compiling_is_given_time_and_is_not_lost_with_who_asked(monkeypatch, capsys):
    monkeypatch.setattr(solves, "SECONDS_TO_SPARE", 0.2)

    async def scenario(pool):
        answer = await pool.ask("a", {"do": "compile", "seconds": 0.5}, 0.1)
        [first] = pool.pids
        compiling = asyncio.create_task(pool.ask("a", {"do": "compile", "seconds": 0.3}, 9))
        await until(lambda: any(process.is_compiling for process in pool._all))
        compiling.cancel()
        await pool.ask("b", {"do": "solve"}, 9)
        return answer["did"], [first] == pool.pids

    assert held(scenario) == ("compile", True)
    assert "the bot compiles all, once" in capsys.readouterr().err


def test_a_process_that_has_grown_makes_way_for_another(monkeypatch):
    monkeypatch.setattr(solves, "MOST_MEMORY_BYTES", 50 << 20)

    async def scenario(pool):
        await pool.ask("a", {"do": "solve"}, 9)
        [first] = pool.pids
        await pool.ask("a", {"do": "large"}, 9)
        await pool.ask("a", {"do": "solve"}, 9)
        return [first] != pool.pids

    assert held(scenario)


def test_too_many_who_wait_are_told_so(monkeypatch):
    monkeypatch.setattr(solves, "MOST_WAITING_OF_TAB", 2)

    async def scenario(pool):
        tasks = [asyncio.create_task(pool.ask("a", {"do": "solve"}, 9)) for _ in range(4)]
        outcome = await asyncio.gather(*tasks, return_exceptions=True)
        other = await pool.ask("b", {"do": "solve"}, 9)
        return [type(one) for one in outcome], other["did"]

    assert held(scenario) == ([dict, dict, BusyError, BusyError], "solve")


def test_a_bot_that_does_not_start_is_no_reason_to_wait(monkeypatch):
    monkeypatch.setattr(solves, "COMMAND", (sys.executable, "-c", "raise SystemExit(3)"))

    async def scenario(pool):
        with pytest.raises(LateError, match="the bot does not start: the bot ended"):
            await pool.ask("a", {"do": "solve"}, 9)

    held(scenario)
