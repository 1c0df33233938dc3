"""The page's server as programs meet it: what it answers, what it refuses, how it starts and ends."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import itertools
import json
import socket
import threading
import tomllib
import webbrowser
from pathlib import Path

import psutil
import pytest

pytest.importorskip("starlette", reason="the extra `page` is not installed")
pytest.importorskip("uvicorn", reason="the extra `page` is not installed")

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from nonobot.harness import cli
from nonobot.harness.page import guard
from nonobot.harness.page import server as page_server
from nonobot.protocol.formats import read
from tests.judged import RECIPE, played
from tests.paged import Server
from tests.talking import PATIENCE_SECONDS, hard, wait_until

pytestmark = pytest.mark.usefixtures("compiled")

ROBOT = (Path(__file__).parent.parent / "docs/samples/robot.non").read_bytes()
ONE = {"rows": [[1]], "columns": [[1]]}
TWO = {"rows": [[1], [1]], "columns": [[1], [1]]}
NONE = {"rows": [[2], []], "columns": [[2], []]}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    played("perfect", folder)
    with Server("--results", str(folder)) as running:
        yield running
    assert running.process.returncode == 0
    assert [line for line in running.err.splitlines() if " the bot compiles " not in line] == []
    assert not [one for one in psutil.process_iter(["ppid"]) if one.info["ppid"] == running.process.pid]


@pytest.fixture(scope="module")
def robot(server):
    return server.ask("/api/read", ROBOT).json["board"]


def test_a_text_becomes_a_board_and_the_board_a_verdict(server, robot):
    answer = server.told("solve", robot)
    assert (answer["verdict"], answer["complete"], len(answer["solutions"])) == ("unique", True, 1)
    assert server.told("solve", TWO)["verdict"] == "multiple"
    assert server.told("solve", TWO, solutions=1)["solutions"] == ["0110"]
    answer = server.told("solve", NONE)
    assert (answer["verdict"], answer["conflict"]["wrong"]) == ("unsolvable", [["column", 1], ["column", 2]])
    given = server.told("solve", {**TWO, "cells": "11??"})
    assert (given["verdict"], given["without_start"]) == ("unsolvable", "multiple")


def test_every_format_and_both_pictures_are_taken_away(server, robot):
    for form in server.ask("/api/facts").json["formats"]:
        written = server.ask("/api/write", {"board": robot, "format": form["name"]})
        assert written.headers["content-type"].startswith("text/plain")
        [record] = read(written.body, form["name"])
        assert [list(clue) for clue in record.puzzle.rows] == robot["rows"]
    assert server.ask("/api/write", {"board": TWO, "format": "link"}).body == b"1:1-1:1\n"
    linked = server.ask("/api/write", {"board": {**TWO, "cells": "1???", "title": "A & b"}, "format": "link"})
    board = server.ask("/api/read", linked.body).json["board"]
    assert (board["rows"], board["cells"], board["title"]) == (TWO["rows"], "1???", "A & b")
    cells = server.told("solve", robot)["solutions"][0]
    for form, beginning in (("svg", b"<svg "), ("png", b"\x89PNG")):
        drawn = server.ask("/api/write", {"board": robot, "format": form, "cells": cells, "dark": True})
        assert drawn.body.startswith(beginning)


def test_the_tournament_is_sent_as_events_with_plots(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_SECONDS)
    connection.request("GET", "/api/live")
    response = connection.getresponse()
    assert response.headers["content-type"].startswith("text/event-stream")
    state = json.loads(response.readline().removeprefix(b"data: "))
    connection.close()
    assert state["rankings"][0]["title"] == str(RECIPE)
    pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
    plot = server.ask(f"/api/cactus/{state['plots'][0]['key']}")
    assert plot.headers["content-type"] == "image/svg+xml"
    assert plot.headers["content-security-policy"].startswith("default-src 'none'")
    assert b'xmlns="http://www.w3.org/2000/svg"' in plot.body


NOT_SERVED = ("/nowhere", "/static/../guard.py", "/static/%2e%2e/guard.py", "/static//etc/passwd")


@pytest.mark.parametrize("path", ["/", "/live", "/static/main.js", "/static/style.css", "/api/facts", *NOT_SERVED])
def test_nothing_else_is_served_and_every_answer_has_the_policy(server, path):
    answer = server.ask(path)
    assert answer.status == (404 if path in NOT_SERVED else 200)
    assert answer.headers["content-security-policy"] == guard.POLICY
    assert "unsafe" not in guard.POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "server" not in answer.headers


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:{port}"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "["}, 421),
        ({"Host": ""}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://["}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "https://127.0.0.1:{port}"}, 403),
        ({"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"}, 403),
        ({"Origin": "http://127.0.0.1:{port}", "Sec_Fetch_Site": "same-origin"}, 200),
        ({"Host": "localhost:{port}", "Origin": "http://localhost:{port}"}, 200),
        ({"Host": "LOCALHOST"}, 200),
        ({}, 200),
    ],
)
def test_other_hosts_and_other_sites_are_refused(server, headers, status):
    named = {name: value.format(port=server.port) for name, value in headers.items()}
    answer = server.ask("/api/solve", {"board": TWO}, **named)
    assert answer.status == status, answer
    assert "error" in answer.json or status == 200


def test_a_link_from_another_site_leads_here_and_nothing_else_does(server):
    link = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    for path in ("/?puzzle=1-1", "/live"):
        assert server.ask(path, **link).status == 200
        assert server.ask(path, **link, Sec_Fetch_Dest="document").status == 200
        assert server.ask(path, **link, Sec_Fetch_Dest="iframe").status == 403
    for path in ("/api/facts", "/api/sample", "/api/set?name=nothing", "/api/live", "/static/main.js"):
        assert server.ask(path, **link, Sec_Fetch_Dest="document").status == 403
    assert server.ask("/api/solve", {"board": TWO}, **link).status == 403


@pytest.mark.parametrize(
    ("path", "body", "status", "why"),
    [
        ("/api/solve", b"", 400, "not a request of the page"),
        ("/api/solve", b"[" * 100_000, 400, "not a request of the page"),
        ("/api/solve", b'{"tab": "\xff"}', 400, "not a request of the page"),
        ("/api/solve", {"board": {"rows": [[9]], "columns": [[1]]}}, 400, "needs 9 cells"),
        ("/api/solve", {"board": ONE, "solutions": 99}, 400, "not a request"),
        ("/api/hint", {"board": ONE, "cells": "xyz"}, 400, "cells that are not"),
        ("/api/write", {"board": ONE, "format": "x"}, 400, "no format 'x'"),
        ("/api/read?number=x", b"1-1", 400, "number is a number from 1"),
        ("/api/sample?number=0", None, 400, "number is a number from 1"),
        ("/api/cactus/9", None, 404, "there is no such plot"),
    ],
)
def test_what_cannot_be_answered_is_said_in_a_line(server, path, body, status, why):
    answer = server.ask(path, body)
    assert answer.status == status, answer
    assert why in answer.json["error"]
    assert "\n" not in answer.json["error"]


def test_a_body_that_is_too_large_is_refused_before_it_has_come_or_cut_off(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_SECONDS)
    connection.putrequest("POST", "/api/read")
    connection.putheader("Content-Length", str(100_000_000))
    connection.endheaders()
    response = connection.getresponse()  # nothing of the body was sent
    assert response.status == 413
    assert "more than 16 MiB" in json.loads(response.read())["error"]
    connection.close()
    for size, status in ((17, 413), *9 * [(1, 200)]):  # room for eight is kept for no longer than a request
        connection.request("POST", "/api/read", (b"x" * 1_000_000 for _ in range(size)), encode_chunked=True)
        assert connection.getresponse().status == status
        connection.close()
    assert server.ask("/api/facts").status == 200


def test_files_are_read_by_turns_and_too_many_are_told_so():
    class Request(asyncio.Event):
        async def receive(self):
            await self.wait()
            return {"type": "http.disconnect"}

    async def scenario():
        page, may_end = page_server._Page(None, None, 1.0), threading.Event()
        requests = [Request() for _ in range(page_server.MOST_READERS)]
        reading = [asyncio.ensure_future(page._selected(one, may_end.wait, 60.0)) for one in requests]
        await asyncio.sleep(0)
        with pytest.raises(HTTPException, match="too many files") as refused:
            await page._selected(Request(), may_end.wait, 60.0)
        requests[-1].set()
        with pytest.raises(ClientDisconnect):
            await reading.pop()
        reading.append(asyncio.ensure_future(page._selected(Request(), may_end.wait, 60.0)))  # in its place
        may_end.set()
        return refused.value.status_code, {one.status_code for one in await asyncio.gather(*reading)}

    assert asyncio.run(scenario()) == (503, {200})


def test_a_request_that_is_none_is_told_so(server):
    with socket.create_connection(("127.0.0.1", server.port)) as own:
        own.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
        assert own.recv(100).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--port", "{port}"], "is in use; --port N takes another"),
        (["--host", "no.such.host.invalid"], "cannot serve a page at no.such.host.invalid"),
        (["--host", "192.0.2.1"], "cannot serve a page at 192.0.2.1"),
        (["--results", "nowhere"], "there is no folder nowhere"),
    ],
)
def test_what_cannot_be_served_is_one_line(server, options, why, capsys):
    assert cli.run(["page", "--no-browser", *(one.format(port=server.port) for one in options)]) == 2
    out, err = capsys.readouterr()
    assert (out, why in err, err.count("\n")) == ("", True, 1)


def test_without_a_browser_or_the_extra_a_line_says_so(monkeypatch, capsys):
    def no_browser():
        raise webbrowser.Error

    monkeypatch.setattr("webbrowser.get", no_browser)
    monkeypatch.setattr(page_server, "serve", lambda own, *rest: (own.close(), rest[-1]()))
    assert cli.run(["page", "--port", "0"]) == 0
    out, err = capsys.readouterr()
    assert err == "nonojudge: no browser here that can be opened; open the page in one yourself\n"
    assert out.startswith("page: http://127.0.0.1:")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert cli.run(["page"]) == 2
    assert "the page needs starlette and uvicorn, not installed here; to install:" in capsys.readouterr().err


def test_the_page_is_where_wheels_have_it():
    house = Path(__file__).parent.parent
    taken = tomllib.loads((house / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["*"]
    files = [path for path in (house / "harness/page").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert {path.suffix for path in files} - {".py"} <= {ending.removeprefix("*") for ending in taken}
    assert len(files) > 15


@pytest.mark.slow
def test_a_thousand_half_open_connections_get_an_answer_and_the_page_goes_on(server):
    with contextlib.ExitStack() as stack:
        own = [stack.enter_context(socket.create_connection(("127.0.0.1", server.port))) for _ in range(1000)]
        for one in own[::2]:
            one.sendall(b"GET / HTTP/1.1\r\nHost: 127")
        assert server.ask("/api/facts").status == 200
        assert server.told("solve", TWO)["verdict"] == "multiple"
        for one in own:
            one.settimeout(60)
            assert one.recv(100).startswith(b"HTTP/1.1 408 ")
    assert server.ask("/").status == 200


@pytest.mark.slow
def test_a_head_that_trickles_in_is_cut_off(server):
    answer, pieces = b"", itertools.repeat(b"x", 60)
    with socket.create_connection(("127.0.0.1", server.port)) as own:
        own.settimeout(1.0)
        own.sendall(b"GET / HTTP/1.1\r\nX: ")
        while not answer:
            own.sendall(next(pieces))
            with contextlib.suppress(TimeoutError):
                answer = own.recv(100)
    assert answer.startswith(b"HTTP/1.1 408 ")


@pytest.mark.slow
def test_a_puzzle_that_never_ends_is_given_up_and_one_that_nobody_waits_for_is_killed():
    board = {"rows": hard().rows, "columns": hard().columns}
    with Server("--puzzle-limit", "1") as server:
        assert server.told("solve", board)["verdict"] == "unknown"
    with Server("--puzzle-limit", str(10 * PATIENCE_SECONDS)) as server:
        for _ in range(6):  # more than there are processes
            connection = http.client.HTTPConnection("127.0.0.1", server.port)
            connection.request("POST", "/api/solve", json.dumps({"board": board}))
            wait_for_bots(server, busy=True)
            connection.close()
            wait_for_bots(server, busy=False)
        assert server.told("solve", TWO)["verdict"] == "multiple"


def wait_for_bots(server, busy: bool) -> None:
    """Wait until one of the server's bots computes, or none does."""
    page = psutil.Process(server.process.pid)
    wait_until(lambda: any(map(is_busy, page.children())) == busy)


def is_busy(process: psutil.Process) -> bool:
    try:
        return process.cpu_percent(0.2) > 50
    except psutil.Error:
        return False
