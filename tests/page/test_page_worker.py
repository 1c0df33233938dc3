"""The page's own Python in real browsers: while it loads, at its limits, apart from all networks, and offline."""

import contextlib
import io
import json

import numpy as np
import pytest

from nonobot.harness.pictures.image_cells import read_cells
from nonobot.protocol import Puzzle, Record
from nonobot.protocol.formats import formats, write
from nonobot.tournament_data import load_set
from tests.helpers.browser import GIVEN, HEART, ROBOT, TWO, in_both_browsers, oneline
from tests.helpers.page_sets import right, solved_natively, solved_on_page, with_other_counts
from tests.helpers.paged import PlainServer

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("compiled")]

HARD = "boardgen:45x45x8:seed=3"
HARDEST = 4
"""A puzzle that no search here ends."""

READY = "document.documentElement.dataset.python === 'ready'"

# Asks the page's Python as the page itself does: what, a question, and bytes.
ASK = """
(async (what, question, bytes) => {
    const { python } = await import(new URL("static/api.js", document.baseURI).href);
    return python.ask(what, question, undefined, bytes && new Uint8Array(bytes).buffer);
})
"""


def asked(tab, call, question, data=None):
    arguments = ", ".join(map(json.dumps, (call, question, None if data is None else list(data))))
    return tab.value(f"{ASK}({arguments})")


def hard_puzzle() -> str:
    return oneline(load_set(HARD).puzzles[HARDEST - 1].puzzle)


FORGET = """navigator.serviceWorker.getRegistrations().then(
    all => Promise.all(all.map(one => one.unregister()))
)"""
"""Takes the service worker away: it would answer in place of the server."""


@contextlib.contextmanager
def loading(tab, server, on_request, **kept):
    """Open the page anew, with what it `kept` before; `on_request` gets the request for Pyodide's largest file."""
    tab.open(server.address)
    tab.value(FORGET)
    tab.value("localStorage.clear()")  # a text that comes back would start Python again
    tab.value(f"localStorage.setItem('nonobot', {json.dumps(json.dumps(kept))})")
    tab.open("about:blank")
    tab.page.context.route("**/pyodide.asm.wasm", on_request)
    try:
        tab.open(server.address)
        yield
    finally:
        tab.page.context.unroute("**/pyodide.asm.wasm")


def test_the_page_is_usable_while_python_loads(chromium, page_server):
    held = []
    with loading(chromium, page_server, lambda route: held.append(route)):
        chromium.says("#loading", "MB")
        chromium.click("#tab-draw")
        chromium.focus_board()
        chromium.press(" ")
        assert "Row: 1. Column: 1" in chromium.text_of("#place")
        chromium.click("#tab-text")
        chromium.value("document.querySelector('#text').focus()")
        chromium.insert(HEART)
        assert not chromium.value(READY)
        chromium.wait_for("document.querySelector('#loading-bar').value > 0")
        for route in held:
            route.continue_()
        chromium.wait_for("document.querySelector('#verdict').dataset.verdict === 'unique'")
        assert not chromium.page.is_visible("#loading")


def test_a_puzzle_that_is_kept_is_played_while_python_loads(chromium, page_server):
    held, board = [], {"rows": [[1], [1]], "columns": [[2]], "cells": None, "title": "Two", "author": None}
    text = {"text": "1:1-2", "number": 1, "link": "1:1-2", "hideSolution": True}
    with loading(chromium, page_server, lambda route: held.append(route), **text, board=board):
        chromium.says("#title", "Two")
        chromium.focus_board()
        chromium.press("b", "ArrowDown", "b")
        assert chromium.text_of("#hint").startswith("Solved")
        assert not chromium.value(READY)
        chromium.wait_for("document.querySelector('#loading-bar').value > 0")
        for route in held:
            route.continue_()
        chromium.wait_for("document.querySelector('#verdict').dataset.verdict === 'unique'")
        assert chromium.text_of("#hint").startswith("Solved")


def test_while_python_loads_the_page_announces_the_linked_puzzle(chromium, page_server):
    held = []
    with loading(chromium, page_server, lambda route: held.append(route)):
        chromium.says("#welcome", "Try a sample")
        chromium.open("about:blank")
        chromium.open(f"{page_server.address}#puzzle={HEART}")
        chromium.wait_for("document.querySelectorAll('#samples .chip').length > 0")
        chromium.wait_for("document.querySelector('#verdict').ariaBusy === 'true'")  # what takes long is said now
        assert chromium.text_of("#verdict") == "Opening the puzzle of the link …"
        assert not chromium.value("document.querySelector('#welcome').checkVisibility()")
        for route in held:
            with contextlib.suppress(Exception):  # that of the page before
                route.continue_()
        assert chromium.verdict() == "unique"


def test_a_file_that_cannot_be_loaded_is_reported(chromium, page_server):
    with loading(chromium, page_server, lambda route: route.fulfill(status=404)):
        chromium.says("#failure", "pyodide.asm.wasm is missing (404)")
        assert not chromium.page.is_visible("#loading")
    chromium.open("about:blank")
    chromium.complaints.clear()


# What a browser forbids follows from the server's headers, too.
@pytest.mark.parametrize("page_server", ["exported", "served"], indirect=True)
def test_a_search_ends_when_it_is_cancelled_or_at_the_limit_and_another_is_solved(visitor):
    visitor.value("window.same = 1")
    visitor.value("document.querySelector('#text').select()")
    visitor.insert(hard_puzzle())
    visitor.wait_for("document.querySelector('#board').ariaLabel?.includes('45 columns')")  # it has been read
    visitor.page.locator("#cancel").wait_for()
    visitor.click("#cancel")
    visitor.says("#verdict", "stopped before there was a verdict")
    assert visitor.paste(HEART) == "unique"
    assert not visitor.page.is_visible("#cancel")
    assert visitor.value("window.same") == 1
    visitor.value("window.same = 1")
    assert visitor.paste(hard_puzzle()) == "unknown"
    visitor.says("#verdict", "Not solved the solver stopped after 5 s")
    assert visitor.paste(TWO) == "multiple"
    assert visitor.value("window.same") == 1


DROPPED = GIVEN % ("new File([new Uint8Array(%s)], '%s')", "", "DragEvent", "drop")


def test_dropped_files_cause_no_request(visitor, page_server):
    visitor.paste(TWO)
    visitor.requests.clear()
    sent = 0
    if isinstance(page_server, PlainServer):
        visitor.value("navigator.serviceWorker.ready.then(() => true)")  # it has fetched the site
        sent = len(page_server.sent)
    visitor.value(DROPPED % (list(ROBOT.encode()), "robot.non"))
    visitor.says("#title", "A robot")
    visitor.says("#verdict", "exactly one solution")
    visitor.value(DROPPED % (list(picture()), "box.png"))
    visitor.says("#title", "box")
    # Chromium asks for the page's icon again when the address gets another puzzle.
    asked = [address for address in visitor.addresses() if not address.startswith(INNER)]
    assert {*asked} <= {f"{page_server.address}static/icon.svg"}
    if isinstance(page_server, PlainServer):
        assert page_server.sent[sent:] == []


WORKER = """new Promise(done => {
    const script = new Blob(["fetch('%s').then(() => postMessage('sent'), () => postMessage('refused'))"]);
    new Worker(URL.createObjectURL(script)).onmessage = ({ data }) => done(data);
})"""


def test_page_and_worker_send_no_request_to_other_servers(visitor, tmp_path):
    with PlainServer(tmp_path) as other:
        fetched = f"fetch('{other.address}').then(() => 'sent', () => 'refused')"
        assert visitor.value(fetched) == "refused"
        assert visitor.value(WORKER % other.address) == "refused"
        assert other.sent == []
    assert visitor.complaints
    assert all("Content Security Policy" in text or "Failed to load" in text for text in visitor.complaints)
    visitor.complaints.clear()
    visitor.requests.clear()


def picture(width: int = 12, height: int = 6) -> bytes:
    """Return a PNG of a box, with noise if it is large."""
    image = pytest.importorskip("PIL.Image")
    cells = np.full((height, width), 255, np.uint8)
    cells[1:-1, 2:-2] = 0
    if width > 80:
        cells = np.clip(cells + np.random.default_rng(5).integers(-90, 90, cells.shape), 0, 255).astype(np.uint8)
    file = io.BytesIO()
    image.fromarray(cells).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize(("width", "height", "columns"), [(12, 6, 12), (300, 170, 40), (97, 61, 30)])
@pytest.mark.parametrize("inverted", [False, True])
def test_a_picture_becomes_the_puzzle_that_the_command_makes(visitor, width, height, columns, inverted):
    data = picture(width, height)
    found = asked(visitor, "read", {"number": 1, "columns": columns, "isInverted": inverted}, data)["board"]
    cells = read_cells(data, width=columns, invert=inverted).cells
    assert Puzzle(found["rows"], found["columns"]) == Puzzle.from_grid(cells.astype("uint8"))


def test_every_format_is_written_as_the_command_writes_it(visitor):
    puzzle = load_set("boardgen:9x9x1:seed=4").puzzles[0].puzzle
    board = {"rows": puzzle.rows, "columns": puzzle.columns}
    for form in formats():
        written = asked(visitor, "write", {"board": board, "format": form.name})["text"].encode()
        assert written == write([Record(puzzle)], form.name).data, form.name


def test_a_puzzle_of_an_official_set_is_picked(visitor, page_data):
    if not any(page_data.iterdir()):
        pytest.skip("NONOBOT_SETS does not name a folder with taai2011")
    visitor.click("#tab-pick")
    visitor.change("#set-name", "taai2011")
    visitor.change("#set-number", "3")
    visitor.click("#set-form button")
    visitor.says("#title", "taai2011 $3")
    visitor.says("#verdict", "25x25")


def test_later_visits_transfer_nothing_and_need_no_server(chromium, page_site):
    with PlainServer(page_site) as server:
        chromium.open(server.address)
        chromium.wait_for(READY)
        chromium.value("navigator.serviceWorker.ready.then(() => true)")
        paths = [answer.path for answer in server.sent]
        twice = {path for path in paths if paths.count(path) > 1}
        server.sent.clear()
        chromium.open("about:blank")
        chromium.open(server.address)
        assert chromium.paste(HEART) == "unique"
        sent = [answer for answer in server.sent if answer.path != "/service_worker.js"]
        address = server.address
    assert sent == []
    assert not {path for path in twice if "pyodide" in path or path.endswith(".zip")}
    chromium.open("about:blank")
    chromium.open(address)
    chromium.wait_for(READY)
    assert chromium.paste(TWO) == "multiple"
    chromium.open("about:blank")


@in_both_browsers
def test_counts_in_the_browser_equal_those_of_this_machine(visitor):
    puzzles = [set_puzzle.puzzle for set_puzzle in load_set("boardgen:25x25x20:seed=7").puzzles]
    solved = solved_on_page(visitor, puzzles)
    assert right(puzzles, solved) == 20
    assert with_other_counts(solved, solved_natively(puzzles)) == []


INNER = ("blob:", "data:", "about:")
"""Beginnings of addresses within a browser."""


def test_firefox_shows_verdicts_steps_and_hints(firefox, page_server):
    firefox.open(page_server.address)
    firefox.wait_for(READY)
    assert firefox.paste(HEART) == "unique"
    firefox.click("[data-view='steps']")
    firefox.wait_for("Number(document.querySelector('#step-place').max) > 0")
    firefox.click("#step-next")
    assert "Row 2 (clue 5): cells" in firefox.text_of("#step-words")
    firefox.click("[data-view='mine']")
    firefox.click("#mine-hint")
    firefox.wait_for("document.querySelector('#hint').textContent.startsWith('Row 2')")
    assert firefox.paste(TWO) == "multiple"
    assert firefox.complaints == []  # also while it was loading
    assert all(address.startswith((page_server.address, *INNER)) for address in firefox.requests)
