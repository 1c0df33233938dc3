"""The page in a real browser: steps, hints, a tournament, taking away, the keyboard, windows of all sizes."""

from __future__ import annotations

import importlib.util

import pytest

from tests.browser import HEART, RANDOM, TWO, oneline
from tests.judged import played
from tests.paged import Server

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("compiled", "page_server")]


def see_steps(visitor) -> None:
    visitor.click("[data-view='steps']")
    visitor.wait_for("Number(document.querySelector('#step-place').max) > 0")


def test_a_solve_is_stepped_through(visitor):
    visitor.paste(HEART)
    solved = visitor.picture()
    see_steps(visitor)
    visitor.click("#step-next")
    assert visitor.text_of("#step-words").endswith(": Row 2: 5 on 5 cells: cells 1 to 5 are black")
    visitor.click("#step-back")
    assert "steps. Play" in visitor.text_of("#step-words")
    visitor.click("#step-last")
    last = visitor.value("document.querySelector('#step-place').value")
    assert last == visitor.value("document.querySelector('#step-place').max")
    visitor.click("#step-first")
    visitor.value("document.querySelector('#step-speed').value = '120'")
    visitor.click("#step-play")
    visitor.wait_for(f"document.querySelector('#step-place').value === '{last}'")
    visitor.says("#step-play", "Play")
    visitor.click("[data-view='solution']")
    assert (visitor.picture() == solved).all()


def test_the_next_guess_is_jumped_to_and_stepping_back_undoes_it(visitor):
    visitor.paste(TWO)
    see_steps(visitor)
    visitor.click("#step-guess")
    assert "A guess: row" in visitor.text_of("#step-words")
    after = visitor.picture()
    visitor.click("#step-back")
    assert (visitor.picture() != after).any()
    visitor.click("#step-next")
    assert (visitor.picture() == after).all()


def test_hints_lead_to_the_solution(visitor):
    visitor.paste(HEART)
    visitor.click("[data-view='mine']")
    hints = []
    while visitor.text_of("#hint") != "Solved." and len(hints) < 20:
        visitor.click("#mine-hint")
        visitor.wait_for("!document.querySelector('#mine-take').hidden")
        hints.append(visitor.text_of("#hint"))
        visitor.click("#mine-take")
    assert hints[0] == "Row 2: 5 on 5 cells: cells 1 to 5 are black."
    assert visitor.text_of("#hint") == "Solved."


def test_a_tournament_is_seen_as_it_goes_on(visitor, page_server, page_results):
    visitor.click("#live-link")
    visitor.page.wait_for_url("**/live")
    visitor.wait_for("document.querySelector('#state')?.textContent.startsWith('Nothing in')")
    played("perfect", page_results)
    visitor.wait_for("document.querySelectorAll('#rankings tbody tr').length === 1")
    assert "perfect5 of 5" in visitor.text_of("#rankings tbody")
    assert visitor.value("document.querySelectorAll('#last tbody tr').length") == 5
    if importlib.util.find_spec("matplotlib"):
        visitor.wait_for("document.querySelector('#plots img')?.naturalWidth > 0")
    visitor.keep("page-live")
    assert "as of" not in visitor.text_of("[role='status']")
    visitor.value("document.querySelector('#rankings .scrolls').focus()")
    (page_results / "more").mkdir()
    played("wrong_at_2", page_results / "more")
    visitor.wait_for("document.querySelectorAll('#rankings tbody tr').length === 2")
    assert visitor.value("document.activeElement.className") == "scrolls"
    visitor.value("document.querySelector('#as-of').textContent = ''")
    visitor.requests.clear()
    for hidden in ("true", "false"):  # a tab that is not seen does not watch
        visitor.value(
            f"Object.defineProperty(document, 'hidden', {{value: {hidden}, configurable: true}}),"
            "document.dispatchEvent(new Event('visibilitychange'))"
        )
    visitor.wait_for("document.querySelector('#as-of').textContent")
    assert [one.url for one in visitor.requests if "/api/live" in one.url] == [f"{page_server.address}api/live"]


def test_why_there_is_nothing_to_watch_is_said(chromium):
    with Server() as other:
        chromium.open(f"{other.address}live")
        chromium.says("#state", "no folder of results is shown")
    chromium.open("about:blank")
    chromium.complaints.clear()  # of the answer 404


def test_the_puzzle_is_taken_away(visitor):
    visitor.paste(HEART)
    for button, name in (("#take-file", "puzzle.non"), ("#take-png", "puzzle.png"), ("#take-svg", "puzzle.svg")):
        with visitor.page.expect_download() as download:
            visitor.click(button)
        assert download.value.suggested_filename == name
        visitor.wait_for(f"document.querySelector('#take-said').textContent === '{name} is saved.'")
    visitor.click("#take-link")
    visitor.wait_for("!document.querySelector('#take-said').textContent.includes('saved')")


def test_the_keyboard_alone_is_enough(visitor):
    seen = []
    while "board" not in seen and len(seen) < 80:
        visitor.press("Tab")
        seen.append(visitor.value("(one => one.id || one.dataset.view || one.className)(document.activeElement)"))
        if seen[-1] == "text":
            visitor.page.keyboard.insert_text(HEART)
            assert visitor.verdict() == "unique"
        elif seen[-1] == "mine":
            visitor.press("Enter")
    assert seen[0] == "skip"
    assert {"tab-text", "text", "open", "solution", "steps", "mine", "zoom-in", "board"} <= set(seen)
    visitor.press("h")
    visitor.says("#hint", "Row 2")
    visitor.press("End", "PageDown")
    assert visitor.text_of("#place").startswith("row 5, column 5")
    before = visitor.text_of("#hint")
    visitor.value("document.querySelector('#take-file').focus()")
    visitor.press("c")  # a letter acts on the board alone
    assert visitor.text_of("#hint") == before
    visitor.value("document.querySelector('.skip').focus()")
    visitor.press("Enter")
    assert visitor.value("document.activeElement.id") == "stage"


def test_who_listens_is_told(visitor):
    visitor.paste(HEART)
    nodes = visitor.ask("Accessibility.getFullAXTree")["nodes"]
    spoken = [
        (node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]
    ]
    for role in ("button", "tab", "textbox", "combobox", "spinbutton", "slider", "link", "application"):
        assert all(name for kind, name in spoken if kind == role), role
    assert ("application", "The board, 5 columns by 5 rows") in spoken
    live = visitor.value("[...document.querySelectorAll('#verdict, #hint, #step-words')].map(one => one.role)")
    assert live == ["status"] * 3


@pytest.mark.parametrize(("width", "ratio"), [(320, 4), (360, 3), (768, 1), (1920, 1)])
def test_no_window_scrolls_sideways(visitor, width, ratio):
    """Also at 400 %, where 1280 pixels are 320."""
    visitor.shape(width, ratio=ratio)
    visitor.paste(oneline(RANDOM))
    for view in ("solution", "steps", "mine"):
        visitor.click(f"[data-view='{view}']")
        assert visitor.value("document.documentElement.scrollWidth") <= width
    if width == 360:
        visitor.keep("page-phone")


def test_light_and_dark(visitor):
    visitor.paste(HEART)
    light = visitor.picture()
    visitor.shape(1280, dark=True)
    visitor.wait_for("getComputedStyle(document.body).backgroundColor === 'rgb(15, 19, 25)'")
    assert (visitor.picture() != light).mean() > 0.5
    visitor.keep("page-dark")


def test_no_text_of_a_puzzle_is_markup_and_no_script_gets_in(visitor):
    hostile = "<img src=x onerror=alert(1)><script>alert(1)</script>"
    visitor.paste(f'title "{hostile}"\nwidth 1\nheight 1\nrows\n1\ncolumns\n1\n')
    assert visitor.text_of("#title") == hostile
    assert visitor.paste(f"width 1\nheight 1\nrows\n{hostile}\ncolumns\n1\n") == "fault"
    assert "clue '<img' is not a number" in visitor.text_of("#faults")
    assert visitor.value("document.querySelectorAll('main img[src=x], main script').length") == 0

    visitor.value("document.body.append(Object.assign(document.createElement('script'), {text: 'taken = 1'}))")
    assert visitor.value("window.taken") is None
    assert "Content Security Policy" in visitor.complaints.pop()
