"""The page in a real browser: what people paste, draw, step through and take away.

NONOBOT_SCREENSHOTS names a folder in which to keep pictures of the page, to be looked at.
"""

from __future__ import annotations

import base64
import importlib.util
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the extra `page` is not installed")
pytest.importorskip("uvicorn", reason="the extra `page` is not installed")

from nonobot.protocol import Puzzle, Record
from nonobot.protocol.formats import write
from nonobot.tournament_data import load_set
from tests.browser import NAMES, Browser, browser_command
from tests.judged import played
from tests.paged import Server

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("compiled")]

ROBOT = (Path(__file__).parent.parent / "docs/samples/robot.non").read_text()
HEART = "1,1:5:5:3:1-2:4:4:4:2"
TWO = "1:1-1:1"
LARGEST_CELL = 40
"""Pixels of a cell of a small board."""

RANDOM = load_set("boardgen:25x25x40:seed=7").puzzles[2].record


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def server(results):
    with Server("--puzzle-limit", "5", "--results", str(results)) as running:
        yield running


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    command = browser_command()
    if command is None:
        pytest.skip(f"no browser that starts on PATH: none of {', '.join(NAMES)}")
    with Browser(command, tmp_path_factory.mktemp("browser")) as found:
        yield found


@pytest.fixture
def browser(chromium, server):
    """Return a browser with the page open; afterwards, nothing was complained of and nobody else was asked."""
    chromium.shape(1280)
    chromium.open(server.address)
    chromium.wait_for("document.querySelectorAll('#samples .chip').length > 0")
    yield chromium
    assert chromium.complaints() == []
    own = (server.address, f"blob:{server.address}")
    assert [url for url in chromium.requests() if not url.startswith(own)] == []


def oneline(puzzle: Puzzle) -> str:
    return write([Record(puzzle)], "oneline").data.decode().strip()


def text_of(browser, place: str) -> str:
    return browser.value(f"document.querySelector({json.dumps(place)}).textContent")


def press(browser, place: str) -> None:
    """Click in the middle of an element, as the mouse does."""
    x, y = browser.value(
        f"""(() => {{ const one = document.querySelector({json.dumps(place)});
        one.scrollIntoView({{block: "center"}});
        const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"""
    )
    browser.click(x, y)


def paste(browser, text: str) -> str:
    """Paste a text in place of what is there, and return the verdict on it."""
    browser.value("document.querySelector('#verdict').dataset.verdict = 'none'")
    browser.value("document.querySelector('#text').focus(); document.querySelector('#text').select()")
    browser.type(text)
    return verdict(browser)


def verdict(browser) -> str:
    return browser.wait_for(
        """(() => { const kind = document.querySelector('#verdict').dataset.verdict;
        return ['unique', 'multiple', 'unsolvable', 'unknown', 'fault'].includes(kind) && kind; })()"""
    )


def focus_board(browser) -> None:
    """Go to the board as the keyboard does."""
    browser.value("document.querySelector('#zoom-in').focus()")
    browser.press("Tab")
    if browser.value("document.activeElement.id") == "frame":  # a frame that scrolls is a stop of its own
        browser.press("Tab")
    assert browser.value("document.activeElement.id") == "board"


def picture(browser) -> np.ndarray:
    """Return the canvas as it is, shape (height, width, 3)."""
    image = pytest.importorskip("PIL.Image")
    frames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    browser.value(frames)
    url = browser.value("document.querySelector('#board').toDataURL()")
    return np.asarray(image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).convert("RGB")).astype(int)


def dark_cells(browser, width: int, height: int) -> list[list[int]]:
    """Return the black cells of a small board, read from its picture in light colours."""
    pixels = picture(browser)
    rows, columns = np.nonzero(np.abs(pixels - (0x1F, 0x2B, 0x46)).max(axis=2) < 3)
    size, cell = pixels.shape[1::-1], LARGEST_CELL
    left, top = size[0] - 2 - width * cell, size[1] - 2 - height * cell
    found = np.zeros((height, width), int)
    for y, x in zip((rows - top) // cell, (columns - left) // cell, strict=True):
        if 0 <= y < height and 0 <= x < width:
            found[y, x] += 1
    return (found > cell * cell / 2).astype(int).tolist()


def kept(browser, name: str) -> None:
    folder = os.environ.get("NONOBOT_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        browser.screenshot(Path(folder) / f"page-{name}.png")


# --- in ------------------------------------------------------------------------------------------------------


def test_what_is_pasted_is_solved_and_drawn(browser):
    assert paste(browser, HEART) == "unique"
    assert "Unique exactly one solution 5x5" in text_of(browser, "#verdict")
    grid = [[0, 1, 0, 1, 0], [1] * 5, [1] * 5, [0, 1, 1, 1, 0], [0, 0, 1, 0, 0]]
    assert dark_cells(browser, 5, 5) == grid
    kept(browser, "5x5")
    assert paste(browser, ROBOT) == "unique"
    assert text_of(browser, "#title") == "A robot by nonobot"
    assert paste(browser, oneline(RANDOM.puzzle)) == "unique"
    kept(browser, "25x25")


def test_a_fault_is_at_its_line_while_one_types(browser):
    browser.value("document.querySelector('#text').focus()")
    for key in "1-2":
        browser.press(key)
    browser.wait_for("document.querySelector('#faults').textContent")
    assert text_of(browser, "#faults") == "line 1: the clue of column 1 needs 2 cells, the column has 1"
    assert text_of(browser, "#gutter mark") == "1"
    assert "line 1: the clue of column 1" in text_of(browser, "#verdict")
    press(browser, "#faults .link")
    assert browser.value("document.querySelector('#text').selectionEnd") == 3
    assert paste(browser, "1:1-2") == "unique"
    assert text_of(browser, "#faults") == ""


def test_one_of_several_puzzles_is_chosen(browser):
    paste(browser, f"{HEART}\n{TWO}\n1-1\n")
    assert browser.value("document.querySelector('#chooser-number').options.length") == 3
    press(browser, "#chooser-next")
    browser.wait_for("document.querySelector('#verdict').dataset.verdict === 'multiple'")
    assert "2x2" in text_of(browser, "#verdict")
    paste(browser, f"{HEART}\n1-1\n{TWO}\n")
    titles = browser.value("[...document.querySelector('#chooser-number').options].map(one => one.textContent)")
    assert titles == ["1 of 3: 5x5", "2 of 3: 1x1", "3 of 3: 2x2"]


def give_file(browser, path: Path) -> None:
    node = browser.ask("Runtime.evaluate", expression="document.querySelector('#file')")["result"]["objectId"]
    browser.ask("DOM.setFileInputFiles", files=[str(path)], objectId=node)


def test_a_file_and_a_picture_are_opened(browser, tmp_path):
    (tmp_path / "robot.non").write_text(ROBOT)
    give_file(browser, tmp_path / "robot.non")
    assert verdict(browser) == "unique"
    assert browser.value("document.querySelector('#text').value") == ROBOT
    image = pytest.importorskip("PIL.Image").new("1", (12, 6), 1)
    image.paste(0, (2, 1, 10, 5))
    image.save(tmp_path / "box.png")
    give_file(browser, tmp_path / "box.png")
    browser.wait_for("document.querySelector('#title').textContent === 'box'")
    browser.wait_for("document.querySelector('#verdict').textContent.includes('12x6')")
    assert not browser.value("document.querySelector('#picture-options').hidden")
    browser.value(
        "(() => { const one = document.querySelector('#picture-width'); one.value = 6;"
        " one.dispatchEvent(new Event('change')); })()"
    )
    browser.wait_for("document.querySelector('#verdict').textContent.includes('6x3')")
    browser.value("document.querySelector('#picture-invert').click()")
    browser.wait_for("document.querySelector('#verdict').textContent.includes('6x3')")
    image.resize((20, 10)).save(tmp_path / "other.png")  # nothing of the first one holds for it
    give_file(browser, tmp_path / "other.png")
    browser.wait_for("document.querySelector('#verdict').textContent.includes('20x10')")
    assert not browser.value("document.querySelector('#picture-invert').checked")


GIVEN = """(() => { const data = new DataTransfer(); data.items.add(%s); %s
    const event = new %s("%s", {clipboardData: data, dataTransfer: data, bubbles: true, cancelable: true});
    return document.body.dispatchEvent(event); })()"""
"""A file that is pasted or dropped; false where the page has taken it."""


def test_what_spreadsheets_put_on_the_clipboard_is_pasted_as_text(browser):
    paste(browser, HEART)
    file = "new File(['1-1'], 'cells.png', {type: 'image/png'})"
    assert browser.value(GIVEN % (file, "data.setData('text/plain', '1-1');", "ClipboardEvent", "paste"))
    file = "new File(['1-1'], 'one.txt')"
    assert not browser.value(GIVEN % (file, "", "ClipboardEvent", "paste"))
    browser.wait_for("document.querySelector('#verdict').textContent.includes('1x1')")


def test_a_file_that_is_too_large_is_said_so(browser):
    file = "new File([new Uint8Array((16 << 20) + 1)], 'large.png')"
    assert not browser.value(GIVEN % (file, "", "DragEvent", "drop"))
    browser.wait_for("document.querySelector('#faults').textContent")
    why = "large.png cannot be read: more than 16 MiB; puzzles are smaller"
    assert text_of(browser, "#faults") == why
    assert why in text_of(browser, "#verdict")


def test_clues_appear_as_one_draws(browser):
    paste(browser, HEART)
    press(browser, "#tab-draw")
    assert " 5x5 " not in text_of(browser, "#verdict")  # that of another board
    browser.value(
        "for (const id of ['draw-width', 'draw-height']) { const one = document.getElementById(id); one.value = 4;"
        " one.dispatchEvent(new Event('change')); }"
    )
    browser.wait_for("document.querySelector('#verdict').textContent.includes('4x4')")
    focus_board(browser)
    browser.press(" ")
    assert text_of(browser, "#place") == "row 1, column 1: black. Row: 1. Column: 1"
    browser.press("ArrowRight")
    browser.press("b")
    browser.press("ArrowDown", "Shift")
    assert text_of(browser, "#place") == "row 2, column 2: black. Row: 1. Column: 2"
    browser.wait_for("document.querySelector('#verdict').dataset.verdict === 'unique'")
    browser.press("z", "Control")
    assert text_of(browser, "#place").startswith("row 2, column 2")
    press(browser, "#draw-undo")
    press(browser, "#draw-redo")
    press(browser, "#draw-invert")
    press(browser, "#take-link")
    press(browser, "#draw-clear")
    browser.wait_for("document.querySelector('#verdict').textContent.includes('4x4')")


def test_samples_and_sets_are_picked(browser):
    press(browser, "#tab-pick")
    press(browser, "#samples .chip")
    assert verdict(browser) == "unique"
    assert text_of(browser, "#title") == "A heart"
    browser.value("document.querySelector('#set-name').value = 'boardgen:8x6x5:seed=1'")
    press(browser, "#set-form button")
    browser.wait_for("document.querySelector('#title').textContent === 'boardgen:8x6x5:seed=1 $1'")
    browser.value("document.querySelector('#set-name').value = 'nothing'")
    press(browser, "#set-form button")
    browser.wait_for("document.querySelector('#set-fault').textContent.includes('there is no set')")


def test_a_link_opens_with_its_puzzle_solved(browser, server):
    for mark in "?#":
        browser.open("about:blank")
        browser.open(f"{server.address}{mark}puzzle={HEART}")
        assert verdict(browser) == "unique"
        assert browser.value("document.querySelector('#text').value") == HEART


# --- out -----------------------------------------------------------------------------------------------------


def test_two_solutions_can_both_be_seen(browser):
    assert paste(browser, TWO) == "multiple"
    assert "4 cells differ" in text_of(browser, "#verdict")
    first = picture(browser)
    press(browser, "[data-solution='1']")
    assert (picture(browser) != first).any()
    marks = np.abs(picture(browser) - (0xE0, 0x7B, 0x00)).max(axis=2) < 3
    assert marks.sum() > 100


def test_lines_that_contradict_are_named_and_marked(browser):
    assert paste(browser, "2:0-2:0") == "unsolvable"
    assert "columns 1 to 2: nothing fits there" in text_of(browser, "#verdict")
    assert (np.abs(picture(browser) - (0xD1, 0x27, 0x1C)).max(axis=2) < 3).sum() > 3


def test_boards_from_1x1_to_200x200_are_sharp(browser):
    for width, height, ratio in ((1, 1, 1), (1, 200, 2), (200, 1, 1.5), (80, 95, 1.25), (200, 200, 2)):
        browser.shape(1280, ratio=ratio)
        paste(browser, oneline(Puzzle.from_grid([[1] * width] * height)))
        size = browser.value(
            "(() => { const one = document.querySelector('#board'), box = one.getBoundingClientRect();"
            " return [one.width / devicePixelRatio / box.width, one.height / devicePixelRatio / box.height]; })()"
        )
        assert size == pytest.approx([1, 1], abs=0.02), (width, height, ratio)
        ink = np.abs(picture(browser) - (0x1F, 0x2B, 0x46)).max(axis=2) < 3
        assert ink.any(), (width, height, ratio)
    kept(browser, "200x200")


def test_clues_stay_in_view_wherever_one_scrolls(browser):
    paste(browser, oneline(Puzzle.from_grid([[1] * 60] * 60)))
    for _ in range(8):
        press(browser, "#zoom-in")
    browser.value("document.querySelector('#frame').scrollTo(0, 0)")
    before = picture(browser)
    browser.value("document.querySelector('#frame').scrollTo(300, 0)")
    after = picture(browser)
    assert browser.value("document.querySelector('#frame').scrollLeft") == 300
    assert (before[:, :20] == after[:, :20]).all()  # the rows' clues
    assert browser.value("document.documentElement.scrollWidth <= innerWidth")


def test_whether_it_is_still_right(browser):
    paste(browser, HEART)
    press(browser, "[data-view='mine']")
    focus_board(browser)
    browser.press("b")  # row 1, column 1 is white
    browser.press("c")
    browser.wait_for("document.querySelector('#hint').textContent.includes('1 cell wrong: row 1, column 1')")
    assert (np.abs(picture(browser) - (0xD1, 0x27, 0x1C)).max(axis=2) < 3).sum() > 10
    browser.press("w")
    press(browser, "#mine-check")
    browser.wait_for("document.querySelector('#hint').textContent.startsWith('Still right')")


def test_an_answer_that_comes_too_late_changes_nothing(browser):
    paste(browser, HEART)
    press(browser, "[data-view='mine']")
    focus_board(browser)
    browser.press("b")
    browser.value(
        "(() => { const ask = fetch, may = new Promise(done => (window.release = done));"
        " window.fetch = async (...what) => { const told = await ask(...what); await may; return told; }; })()"
    )
    press(browser, "#mine-hint")
    assert text_of(browser, "#hint") == "Asking …"
    press(browser, "#mine-undo")
    browser.value("window.release()")
    browser.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert text_of(browser, "#hint") == ""
    assert browser.value("document.querySelector('#mine-take').hidden")


def test_cells_are_painted_with_the_mouse(browser):
    paste(browser, HEART)
    press(browser, "[data-view='mine']")
    box = browser.value(
        "(() => { const one = document.querySelector('#board'); one.scrollIntoView({block: 'center'});"
        " const box = one.getBoundingClientRect(); return [box.right, box.bottom]; })()"
    )
    first, last = (box[0] - 2 - 4.5 * 40, box[1] - 2 - 3.5 * 40), (box[0] - 2 - 20, box[1] - 2 - 3.5 * 40)
    browser.click(*first, to=last)
    assert dark_cells(browser, 5, 5)[1] == [1] * 5
    press(browser, "#mine-undo")
    assert sum(map(sum, dark_cells(browser, 5, 5))) == 0


# --- how -----------------------------------------------------------------------------------------------------


def test_a_solve_is_stepped_through(browser):
    paste(browser, HEART)
    solved = picture(browser)
    press(browser, "[data-view='steps']")
    browser.wait_for("Number(document.querySelector('#step-place').max) > 0")
    press(browser, "#step-next")
    assert text_of(browser, "#step-words").endswith(": Row 2: 5 on 5 cells: cells 1 to 5 are black")
    press(browser, "#step-back")
    assert "steps. Play" in text_of(browser, "#step-words")
    press(browser, "#step-last")
    last = browser.value("document.querySelector('#step-place').value")
    assert last == browser.value("document.querySelector('#step-place').max")
    press(browser, "#step-first")
    browser.value("document.querySelector('#step-speed').value = '120'")
    press(browser, "#step-play")
    browser.wait_for(f"document.querySelector('#step-place').value === '{last}'")
    browser.wait_for("document.querySelector('#step-play').textContent === 'Play'")
    press(browser, "[data-view='solution']")
    assert (picture(browser) == solved).all()


def test_the_next_guess_is_jumped_to_and_stepping_back_undoes_it(browser):
    paste(browser, TWO)
    press(browser, "[data-view='steps']")
    browser.wait_for("Number(document.querySelector('#step-place').max) > 0")
    press(browser, "#step-guess")
    assert "A guess: row" in text_of(browser, "#step-words")
    after = picture(browser)
    press(browser, "#step-back")
    assert (picture(browser) != after).any()
    press(browser, "#step-next")
    assert (picture(browser) == after).all()


def test_hints_lead_to_the_solution(browser):
    paste(browser, HEART)
    press(browser, "[data-view='mine']")
    press(browser, "#mine-hint")
    browser.wait_for("!document.querySelector('#mine-take').hidden")
    assert text_of(browser, "#hint") == "Row 2: 5 on 5 cells: cells 1 to 5 are black."
    for _ in range(20):
        if browser.value("document.querySelector('#hint').textContent === 'Solved.'"):
            break
        press(browser, "#mine-take")
        if text_of(browser, "#hint") != "Solved.":
            press(browser, "#mine-hint")
            browser.wait_for("!document.querySelector('#mine-take').hidden")
    assert text_of(browser, "#hint") == "Solved."


def test_a_tournament_is_seen_as_it_goes_on(browser, server, results):
    press(browser, "#live-link")
    browser.wait_for("document.querySelector('#state')?.textContent.startsWith('Nothing in')")
    played("perfect", results)
    browser.wait_for("document.querySelectorAll('#rankings tbody tr').length === 1")
    assert "perfect5 of 5" in text_of(browser, "#rankings tbody")
    assert browser.value("document.querySelectorAll('#last tbody tr').length") == 5
    if importlib.util.find_spec("matplotlib"):
        browser.wait_for("document.querySelector('#plots img')?.naturalWidth > 0")
    kept(browser, "live")
    assert "as of" not in text_of(browser, "[role='status']")
    browser.value("document.querySelector('#rankings .scrolls').focus()")
    (results / "more").mkdir()
    played("wrong_at_2", results / "more")
    browser.wait_for("document.querySelectorAll('#rankings tbody tr').length === 2")
    assert browser.value("document.activeElement.className") == "scrolls"
    watched = browser.requests().count(f"{server.address}api/live")
    for hidden in ("true", "false"):  # who cannot see the page does not watch
        browser.value(
            f"Object.defineProperty(document, 'hidden', {{value: {hidden}, configurable: true}}),"
            "document.dispatchEvent(new Event('visibilitychange'))"
        )
    browser.value("document.querySelector('#as-of').textContent = ''")
    browser.wait_for("document.querySelector('#as-of').textContent")
    assert browser.requests().count(f"{server.address}api/live") == watched + 1


def test_why_there_is_nothing_to_watch_is_said(chromium):
    with Server() as other:
        chromium.open(f"{other.address}live")
        chromium.wait_for(
            "document.querySelector('#state').textContent.startsWith('no folder of results is shown')"
        )
    chromium.open("about:blank")
    chromium.complaints()
    chromium.events.clear()  # of the answer 404


# --- take away, the keyboard, and everybody ------------------------------------------------------------------


def test_the_puzzle_is_taken_away(browser, tmp_path):
    paste(browser, HEART)
    browser.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    for button, name in (("#take-file", "puzzle.non"), ("#take-png", "puzzle.png"), ("#take-svg", "puzzle.svg")):
        press(browser, button)
        browser.wait_for(f"document.querySelector('#take-said').textContent === '{name} is saved.'")
    browser.wait_for("new Promise(done => setTimeout(() => done(true), 50))")
    press(browser, "#take-link")
    browser.wait_for("!document.querySelector('#take-said').textContent.includes('saved')")


def test_the_keyboard_alone_is_enough(browser):
    browser.press("Tab")
    assert browser.value("document.activeElement.className") == "skip"
    seen = []
    for _ in range(40):
        browser.press("Tab")
        seen.append(browser.value("document.activeElement.id || document.activeElement.textContent"))
        if seen[-1] == "text":
            break
    browser.type(HEART)
    assert verdict(browser) == "unique"
    for _ in range(40):
        browser.press("Tab")
        seen.append(browser.value("document.activeElement.id || document.activeElement.dataset.view || ''"))
        if seen[-1] == "mine":
            browser.press("Enter")
        if seen[-1] == "board":
            break
    assert {"tab-text", "text", "open", "solution", "steps", "mine", "zoom-in", "board"} <= set(seen)
    browser.press("h")
    browser.wait_for("document.querySelector('#hint').textContent.startsWith('Row 2')")
    browser.press("End")
    browser.press("PageDown")
    assert text_of(browser, "#place").startswith("row 5, column 5")
    before = text_of(browser, "#hint")
    browser.value("document.querySelector('#take-file').focus()")
    browser.press("c")  # a letter acts on the board alone
    assert text_of(browser, "#hint") == before
    browser.value("document.querySelector('.skip').focus()")
    browser.press("Enter")
    assert browser.value("document.activeElement.id") == "stage"


def test_who_listens_is_told(browser):
    paste(browser, HEART)
    nodes = browser.ask("Accessibility.getFullAXTree")["nodes"]
    spoken = [
        (node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]
    ]
    for role in ("button", "tab", "textbox", "combobox", "spinbutton", "slider", "link", "application"):
        assert all(name for found, name in spoken if found == role), role
    assert ("application", "The board, 5 columns by 5 rows") in spoken
    live = browser.value("[...document.querySelectorAll('#verdict, #hint, #step-words')].map(one => one.role)")
    assert live == ["status"] * 3


@pytest.mark.parametrize(("width", "ratio"), [(320, 4), (360, 3), (768, 1), (1920, 1)])
def test_no_window_scrolls_sideways(browser, width, ratio):
    """Also at 400 %, where 1280 pixels are 320."""
    browser.shape(width, ratio=ratio)
    paste(browser, oneline(RANDOM.puzzle))
    for view in ("solution", "steps", "mine"):
        press(browser, f"[data-view='{view}']")
        assert browser.value("document.documentElement.scrollWidth") <= width
    if width == 360:
        kept(browser, "phone")


def test_light_and_dark(browser):
    paste(browser, HEART)
    light = picture(browser)
    browser.shape(1280, dark=True)
    browser.wait_for("getComputedStyle(document.body).backgroundColor === 'rgb(15, 19, 25)'")
    assert (picture(browser) != light).mean() > 0.5
    kept(browser, "dark")


def test_no_text_of_a_puzzle_is_markup(browser):
    hostile = "<img src=x onerror=alert(1)><script>alert(1)</script>"
    paste(browser, f'title "{hostile}"\nwidth 1\nheight 1\nrows\n1\ncolumns\n1\n')
    assert text_of(browser, "#title") == hostile
    assert paste(browser, f"width 1\nheight 1\nrows\n{hostile}\ncolumns\n1\n") == "fault"
    assert "clue '<img' is not a number" in text_of(browser, "#faults")
    assert browser.value("document.querySelectorAll('main img[src=x], main script').length") == 0


def test_the_policy_lets_no_script_in(browser):
    browser.value(
        "document.body.append(Object.assign(document.createElement('script'), {text: 'window.taken = 1'}))"
    )
    assert browser.value("window.taken") is None
    refused = [one for one in browser.complaints() if "Content Security Policy" in one]
    assert refused
    browser.events.clear()  # that complaint was asked for
