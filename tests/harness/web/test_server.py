"""The web server as programs meet it: what it sends, what it refuses, how it starts and ends."""

import contextlib
import http.client
import json
import re
import socket
import tomllib
import webbrowser

import psutil
import pytest

from tests.helpers.places import REPOSITORY

pytest.importorskip("starlette", reason="the extra `page` is not installed")
pytest.importorskip("uvicorn", reason="the extra `page` is not installed")

from nonobot.harness import cli
from nonobot.harness.page import site as page_site
from nonobot.harness.web import server as page_server
from tests.helpers.judged import RECIPE, played
from tests.helpers.paged import Server, skip_without_browser_parts
from tests.helpers.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    played("perfect", folder)
    with Server("--results", str(folder)) as running:
        yield running
    assert running.process.returncode == 0
    assert not [line for line in running.err.splitlines() if "only the live view is here" not in line]
    assert not [child for child in psutil.process_iter(["ppid"]) if child.info["ppid"] == running.process.pid]


def test_the_tournament_is_sent_as_events_with_plots(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_SECONDS)
    connection.request("GET", "/api/live")
    with contextlib.closing(connection), connection.getresponse() as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        state = json.loads(response.readline().removeprefix(b"data: "))
    assert state["rankings"][0]["title"] == str(RECIPE)
    pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
    plot = server.ask(f"/api/cactus/{state['plots'][0]['key']}")
    assert plot.headers["content-type"] == "image/svg+xml"
    assert plot.headers["content-security-policy"].startswith("default-src 'none'")
    assert b'xmlns="http://www.w3.org/2000/svg"' in plot.body


SERVED = ("/live", "/static/live.js", "/static/style.css")
OF_PUZZLES = ("/", "/?puzzle=1-1", "/static/main.js", "/facts.json", "/nonobot.zip", "/service_worker.js")
OUTSIDE = ("/static/../../guard.py", "/static/%2e%2e/%2e%2e/guard.py", "/static//etc/passwd")
NOT_SERVED = ("/nowhere", *OUTSIDE, "/static/")


@pytest.mark.parametrize("path", [*SERVED, *OF_PUZZLES, *NOT_SERVED])
def test_only_listed_paths_are_served_and_every_response_has_the_policy(server, path):
    if path in OF_PUZZLES:
        skip_without_browser_parts()
    answer = server.ask(path)
    assert answer.status == (404 if path in NOT_SERVED else 200)
    assert answer.headers["content-security-policy"] == f"{page_site.POLICY}; frame-ancestors 'none'"
    assert "unsafe" not in page_site.POLICY.replace("wasm-unsafe-eval", "")
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
    answers = [server.ask(path, **named) for path in ("/live", "/api/cactus/none")]
    assert [answer.status for answer in answers] == [status, 404 if status == 200 else status]
    assert "error" in answers[1].json
    assert ("`--host NAME`" in answers[1].json["error"]) == (status == 421)


def test_other_sites_may_link_to_the_page_but_request_no_other_resource(server):
    skip_without_browser_parts()
    link = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    for path in ("/?puzzle=1-1", "/live"):
        assert server.ask(path, **link).status == 200
        assert server.ask(path, **link, Sec_Fetch_Dest="document").status == 200
        assert server.ask(path, **link, Sec_Fetch_Dest="iframe").status == 403
    for path in ("/facts.json", "/api/live", "/static/main.js", "/nonobot.zip", "/service_worker.js"):
        assert server.ask(path, **link, Sec_Fetch_Dest="document").status == 403
    assert server.ask("/", b"", **link).status == 403


def test_cached_files_are_not_sent_again_and_a_malformed_request_is_refused(server):
    skip_without_browser_parts()
    known = server.ask("/pyodide/pyodide.asm.wasm")
    assert known.headers["content-type"] == "application/wasm"
    again = server.ask("/pyodide/pyodide.asm.wasm", If_None_Match=known.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    with socket.create_connection(("127.0.0.1", server.port)) as own:
        own.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
        assert own.recv(100).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("size", [0, 100, 100_000_000])
def test_the_server_refuses_uploads(server, size):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_SECONDS)
    connection.putrequest("POST", "/api/live")
    connection.putheader("Content-Length", str(size))
    connection.endheaders()
    response = connection.getresponse()  # nothing of the body was sent
    assert response.status == 405
    assert "takes nothing" in json.loads(response.read())["error"]
    connection.close()
    answer = server.ask("/api/cactus/9")
    assert (answer.status, answer.json) == (404, {"error": "there is no such plot"})


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--port", "{port}"], "is in use; --port N takes another"),
        (["--host", "no.such.host.invalid"], "cannot serve a page at no.such.host.invalid"),
        (["--host", "a..b"], "cannot serve a page at a..b"),
        (["--host", "192.0.2.1"], "cannot serve a page at 192.0.2.1"),
        (["--results", __file__], ": not a folder"),
    ],
)
def test_an_address_that_cannot_be_served_is_a_one_line_error(server, options, why, capsys):
    assert cli.run(["page", "--no-browser", *(option.format(port=server.port) for option in options)]) == 2
    out, err = capsys.readouterr()
    assert (out, why in err, err.count("\n")) == ("", True, 1)


@pytest.mark.parametrize("host", ["no.such.host.invalid", "a..b", "192.0.2.1"])
def test_a_host_of_another_machine_is_refused_with_a_hint(host, output_of):
    err = output_of(cli.run, ["page", "--no-browser", "--host", host], status=2).err
    assert err.endswith("; type --host 0.0.0.0 for all addresses of this machine, or a name or address of it\n")


def test_a_missing_browser_or_extra_is_reported_in_one_line(monkeypatch, capsys, output_of):
    def no_browser():
        raise webbrowser.Error

    monkeypatch.setattr("webbrowser.get", no_browser)
    monkeypatch.setattr(page_server, "serve", lambda own, *rest: (own.close(), rest[3]()))
    monkeypatch.setattr(page_site, "write_site", lambda folder, seconds, **ways: None)
    out, err = output_of(cli.run, ["page", "--port", "0"])
    assert err == "nonojudge: cannot open a browser; open the address yourself\n"
    assert out.startswith("page: http://127.0.0.1:")
    out, _ = output_of(cli.run, ["page", "--port", "0", "--host", "0.0.0.0"])
    assert re.fullmatch(r"page: http://localhost:(\d+)/ .*\non other machines: http://\S+:\1/, .*\n", out)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert cli.run(["page"]) == 2
    said = capsys.readouterr().err
    assert "the page needs starlette and uvicorn, not installed; install with:" in said
    assert "in a clone, -e '.[judge]' in place of the names" in said


@pytest.mark.parametrize("room", ["page", "live"])
def test_the_web_files_are_in_folders_that_wheels_include(room):
    taken = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["*"]
    files = [
        path for path in (REPOSITORY / "harness" / room).rglob("*") if path.is_file() and path.suffix != ".pyc"
    ]
    endings = {path.suffix for path in files}
    assert {".py", ".js", ".html"} <= endings
    assert endings - {".py"} <= {ending.removeprefix("*") for ending in taken}
