"""The page in a real browser: what people paste, open, draw, step through and take away, and what they see."""

import importlib.util
import re

import pytest
from msgspec.structs import replace

from nonobot.bot.kernels.shipped import wasm_kernels
from nonobot.harness.results.conditions import FileNames
from nonobot.harness.results.result_files import read_result, write_json
from nonobot.harness.results.run_result import BotLog
from nonobot.protocol import Puzzle
from tests.conftest import EMPTY
from tests.helpers.browser import GIVEN, HEART, RANDOM, ROBOT, TWO, oneline, paint
from tests.helpers.judged import played
from tests.helpers.paged import Server
from tests.helpers.tabs import BLACK

WINDOWS = ((1400, 900), (390, 844))
"""A desktop and a phone."""

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("compiled")]


def test_a_pasted_puzzle_is_solved_and_spreadsheet_cells_are_pasted_as_text(visitor):
    assert visitor.paste(HEART) == "unique"
    assert "Unique exactly one solution 5x5" in visitor.text_of("#verdict")
    grid = [[0, 1, 0, 1, 0], [1] * 5, [1] * 5, [0, 1, 1, 1, 0], [0, 0, 1, 0, 0]]
    assert visitor.dark_cells(5, 5) == grid
    visitor.keep("page-5x5")
    assert visitor.paste(ROBOT) == "unique"
    assert visitor.text_of("#title") == "A robot by nonobot"
    assert visitor.paste(oneline(RANDOM)) == "unique"
    visitor.keep("page-25x25")
    visitor.paste(HEART)
    file = "new File(['1-1'], 'cells.png', {type: 'image/png'})"
    assert visitor.value(GIVEN % (file, "data.setData('text/plain', '1-1');", "ClipboardEvent", "paste"))
    file = "new File(['1-1'], 'one.txt')"
    assert not visitor.value(GIVEN % (file, "", "ClipboardEvent", "paste"))
    visitor.says("#verdict", "1x1")


def test_errors_are_shown_at_their_text_line_while_typing(visitor):
    visitor.value("document.querySelector('#text').focus()")
    visitor.press(*"1-2")
    visitor.says("#faults", "the clue of column 1")
    assert visitor.text_of("#faults") == "line 1: the clue of column 1 needs 2 cells, the column has 1"
    assert visitor.text_of("#gutter mark") == "1"
    assert visitor.text_of("#verdict") == "No puzzle can be read."  # the fault is said once
    visitor.click("#faults .link")
    assert visitor.value("document.querySelector('#text').selectionEnd") == 3
    assert visitor.paste("1:1-2") == "unique"
    assert visitor.text_of("#faults") == ""


def test_every_text_line_has_its_line_number(visitor):
    visitor.value("document.querySelector('#text').value = '\\n'.repeat(6000)")
    visitor.value("document.querySelector('#text').focus()")
    visitor.insert("1-2")
    visitor.says("#gutter mark", "6001")
    gutter = visitor.text_of("#gutter").split("\n")
    assert gutter == [*map(str, range(1, 6002)), ""]


def test_the_last_board_is_grey_during_an_error_and_cleared_with_the_text(visitor):
    visitor.paste(ROBOT)
    assert visitor.paste("1-2") == "fault"
    assert visitor.text_of("#title") == ""
    assert visitor.value("document.querySelector('.stale')") is not None
    assert visitor.paste(ROBOT) == "unique"
    assert visitor.text_of("#title") == "A robot by nonobot"
    assert visitor.value("document.querySelector('.stale')") is None
    assert visitor.value("document.querySelector('#take-file').disabled") is False
    visitor.value(EMPTY)
    visitor.says("#verdict", "Paste, draw or pick a puzzle.")
    assert visitor.value("document.querySelector('#board-card').hidden")


def test_one_of_several_puzzles_is_chosen(visitor):
    titles = "[...document.querySelector('#chooser-number').options].map(one => one.textContent)"
    visitor.paste(f"{HEART}\n{TWO}\n1-1\n")
    assert visitor.value(titles) == ["1 of 3: 5x5", "2 of 3: 2x2", "3 of 3: 1x1"]
    visitor.click("#chooser-next")
    visitor.wait_for("document.querySelector('#verdict').dataset.verdict === 'multiple'")
    assert "2x2" in visitor.text_of("#verdict")
    visitor.paste(f"{HEART}\n1-1\n{TWO}\n")
    assert visitor.value(titles)[1] == "2 of 3: 1x1"


def test_a_file_and_a_picture_are_opened(visitor, tmp_path):
    (tmp_path / "robot.non").write_text(ROBOT)
    visitor.page.set_input_files("#file", tmp_path / "robot.non")
    assert visitor.verdict() == "unique"
    assert visitor.value("document.querySelector('#text').value") == ROBOT
    image = pytest.importorskip("PIL.Image").new("1", (12, 6), 1)
    image.paste(0, (2, 1, 10, 5))
    image.save(tmp_path / "box.png")
    visitor.page.set_input_files("#file", tmp_path / "box.png")
    visitor.says("#title", "box")
    visitor.says("#verdict", "12x6")
    assert not visitor.value("document.querySelector('#picture-options').hidden")
    visitor.value("document.querySelector('#picture-invert').click()")
    for width, size in (("6", "6x3"), ("2.6", "3x2"), ("-3", "12x6")):
        visitor.change("#picture-width", width)
        visitor.says("#verdict", size)
        assert visitor.value("document.querySelector('#picture-width').value") == size.split("x")[0]
        assert visitor.text_of("#title") == "box"
    image.resize((20, 10)).save(tmp_path / "other.png")  # nothing of the first one holds for it
    visitor.page.set_input_files("#file", tmp_path / "other.png")
    visitor.says("#verdict", "20x10")
    assert not visitor.value("document.querySelector('#picture-invert').checked")


def test_a_file_that_is_too_large_or_empty_is_reported(visitor):
    assert not visitor.value(GIVEN % ("new File([], 'empty.non')", "", "DragEvent", "drop"))
    visitor.says("#faults", "empty.non cannot be read: it is empty")
    file = "new File([new Uint8Array((16 << 20) + 1)], 'large.png')"
    assert not visitor.value(GIVEN % (file, "", "DragEvent", "drop"))
    visitor.says("#faults", "large.png cannot be read: more than 16 MiB")


def test_clues_appear_while_drawing(visitor):
    visitor.paste(HEART)
    visitor.click("#tab-draw")
    assert " 5x5 " not in visitor.text_of("#verdict")  # that of another board
    visitor.change("#draw-width", "4")
    visitor.change("#draw-height", "4")
    visitor.says("#verdict", "4x4")
    visitor.focus_board()
    visitor.press(" ")
    assert visitor.text_of("#place") == "row 1, column 1: black. Row: 1. Column: 1"
    visitor.press("ArrowRight", "b", "Shift+ArrowDown")
    assert visitor.text_of("#place") == "row 2, column 2: black. Row: 1. Column: 2"
    visitor.wait_for("document.querySelector('#verdict').dataset.verdict === 'unique'")
    visitor.press("Control+z")
    assert visitor.text_of("#place").startswith("row 2, column 2")
    visitor.click("#draw-undo", "#draw-redo", "#draw-invert", "#take-link", "#draw-clear")
    visitor.says("#verdict", "4x4")
    visitor.change("#draw-width", "")
    assert visitor.value("document.querySelector('#draw-width').value") == "4"


def test_samples_and_sets_can_be_opened(visitor):
    visitor.click("#tab-pick", "#samples .chip")
    assert visitor.verdict() == "unique"
    assert visitor.text_of("#title") == "A heart"
    for name, place, text in (
        ("boardgen:8x6x5:seed=1", "#title", "boardgen:8x6x5:seed=1 $1"),
        ("nothing", "#set-fault", "does not have a set named nothing"),
    ):
        visitor.change("#set-name", name)
        visitor.click("#set-form button")
        visitor.says(place, text)


# What a browser forbids follows from the server's headers, too.
@pytest.mark.parametrize("page_server", ["exported", "served"], indirect=True)
def test_a_link_opens_with_its_puzzle_solved(visitor, page_server):
    for mark in "?#":
        visitor.open("about:blank")
        visitor.open(f"{page_server.address}{mark}puzzle={HEART}")
        assert visitor.verdict() == "unique"
        assert visitor.value("document.querySelector('#text').value") == HEART


def test_a_malformed_link_shows_its_error_while_drawing(visitor, page_server):
    visitor.paste(HEART)
    visitor.click("[data-view='mine']")
    said = "(document.querySelector('#tab-draw').click(), document.querySelector('#verdict').textContent)"
    assert visitor.value(said) == "Drawing …"
    visitor.change("#draw-width", "9")
    visitor.value("location.hash = 'puzzle=1-2'")
    visitor.says("#faults", "the clue of column 1 needs 2 cells")
    assert visitor.value("document.querySelector('#panel-text').hidden") is False
    visitor.open("about:blank")
    visitor.open(page_server.address)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_board_stays_where_it_is_once_the_solver_is_loaded(visitor, width):
    visitor.shape(width)
    visitor.paste(ROBOT)
    top = "document.querySelector('#board-card').getBoundingClientRect().top + scrollY"
    visitor.value(
        "import(new URL('static/api.js', document.baseURI).href)"
        ".then(({ python }) => (window.python = python, null))"
    )
    visitor.value("document.querySelector('#verdict').textContent = 'Solving …'")
    visitor.value("window.python.onState('loading', 0)")
    during = visitor.value(top)
    visitor.value("window.python.onState('ready')")
    assert visitor.value(top) == during


def test_two_solutions_can_both_be_seen_and_lines_that_contradict_are_marked(visitor):
    assert visitor.paste(TWO) == "multiple"
    assert "4 cells differ" in visitor.text_of("#verdict")
    first = visitor.picture()
    visitor.click("[data-solution='1']")
    assert (visitor.picture() != first).any()
    assert visitor.coloured(0xC9, 0x6F, 0x00) > 100
    assert visitor.paste("2:0-2:0") == "unsolvable"
    assert "columns 1 to 2: no placement fits there" in visitor.text_of("#verdict")
    assert visitor.coloured(0xE0, 0x3A, 0x2E) > 3


def test_boards_from_1x1_to_200x200_are_sharp(visitor):
    for width, height, ratio in ((1, 1, 1), (1, 200, 2), (200, 1, 1.5), (80, 95, 1.25), (200, 200, 2)):
        visitor.shape(1280, ratio=ratio)
        visitor.paste(oneline(Puzzle.from_grid([[1] * width] * height)))
        size = visitor.value(
            "(() => { const one = document.querySelector('#board'), box = one.getBoundingClientRect();"
            " return [one.width / devicePixelRatio / box.width, one.height / devicePixelRatio / box.height]; })()"
        )
        assert size == pytest.approx([1, 1], abs=0.02), (width, height, ratio)
        assert visitor.coloured(*BLACK), (width, height, ratio)
    visitor.keep("page-200x200")


def test_clues_stay_visible_while_scrolling(visitor):
    visitor.paste(oneline(Puzzle.from_grid([[1] * 60] * 60)))
    for _ in range(8):
        visitor.click("#zoom-in")
    visitor.value("document.querySelector('#frame').scrollTo(0, 0)")
    before = visitor.picture()
    visitor.value("document.querySelector('#frame').scrollTo(300, 0)")
    after = visitor.picture()
    assert visitor.value("document.querySelector('#frame').scrollLeft") == 300
    assert (before[:, :20] == after[:, :20]).all()  # the rows' clues
    assert visitor.value("document.documentElement.scrollWidth <= innerWidth")


def test_hints_lead_to_the_solution_and_check_reports_wrong_cells(visitor):
    visitor.paste(HEART)
    paint(visitor)
    visitor.press("b", "c")  # row 1, column 1 is white
    visitor.says("#hint", "1 cell wrong: row 1, column 1")
    assert visitor.coloured(0xE0, 0x3A, 0x2E) > 10
    visitor.press("w")
    visitor.click("#mine-check")
    visitor.says("#hint", "Still right")
    visitor.paste(HEART)
    visitor.click("[data-view='mine']")
    hints = []
    while not visitor.text_of("#hint").startswith("Solved") and len(hints) < 20:
        visitor.click("#mine-hint")
        solved = "document.querySelector('#hint').textContent.startsWith('Solved')"
        visitor.wait_for(f"!document.querySelector('#mine-take').hidden || {solved}")
        if not visitor.value(solved):  # it may come after the hint was asked for
            hints.append(visitor.text_of("#hint"))
            visitor.click("#mine-take")
    assert hints[0] == "Row 2 (clue 5): cells 1 to 5 are black. This follows from its clue alone."
    assert visitor.text_of("#hint").startswith("Solved")


def see_steps(visitor) -> None:
    visitor.click("[data-view='steps']")
    visitor.wait_for("Number(document.querySelector('#step-place').max) > 0")


def test_a_solve_is_stepped_through_to_the_next_guess_and_back(visitor):
    visitor.paste(HEART)
    solved = visitor.picture()
    see_steps(visitor)
    visitor.click("#step-next")
    assert visitor.text_of("#step-words").endswith(": Row 2 (clue 5): cells 1 to 5 are black")
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
    visitor.paste(TWO)
    see_steps(visitor)
    visitor.click("#step-guess")
    assert "A guess: row" in visitor.text_of("#step-words")
    after = visitor.picture()
    visitor.click("#step-back")
    assert (visitor.picture() != after).any()
    visitor.click("#step-next")
    assert (visitor.picture() == after).all()


def test_a_tournament_is_shown_live(watcher, live_page, page_results):
    watcher.click("#live-link")
    watcher.page.wait_for_url("**/live")
    watcher.wait_for("document.querySelector('#state')?.textContent.startsWith('Nothing in')")
    played("perfect", page_results)
    watcher.wait_for("document.querySelectorAll('#rankings tbody tr').length === 1")
    assert re.search(r"perfect \([0-9a-f]{8}\)5 of 5", watcher.text_of("#rankings tbody"))
    assert watcher.value("document.querySelectorAll('#last tbody tr').length") == 5
    if importlib.util.find_spec("matplotlib"):
        watcher.wait_for("document.querySelector('#plots img')?.naturalWidth > 0")
    watcher.keep("page-live")
    assert "as of" not in watcher.text_of("[role='status']")
    watcher.value("document.querySelector('#rankings .scrolls').focus()")
    (page_results / "result.json").rename(page_results / "first.json")
    played("wrong_at_2", page_results)
    watcher.wait_for("document.querySelectorAll('#rankings tbody tr').length === 2")
    assert watcher.value("document.activeElement.className") == "scrolls"
    watcher.value("document.querySelector('#as-of').textContent = ''")
    watcher.requests.clear()
    for hidden in ("true", "false"):  # a tab that is not seen does not watch
        watcher.value(
            f"Object.defineProperty(document, 'hidden', {{value: {hidden}, configurable: true}}),"
            "document.dispatchEvent(new Event('visibilitychange'))"
        )
    watcher.wait_for("document.querySelector('#as-of').textContent")
    assert [address for address in watcher.addresses() if "/api/live" in address] == [
        f"{live_page.address}api/live"
    ]


def test_each_tournament_has_its_own_scrolling_table(watcher, live_page, page_results):
    for name, behaviour in (("a_tournament_with_a_long_name", "crash_at_3"), ("other", "wrong_at_2")):
        (page_results / name).mkdir()
        played(behaviour, page_results / name)
    attempt = (result := read_result(page_results / "other" / "result.json")).attempts[0]
    logs = {"files": FileNames("a", "b", "c"), "attempts": [replace(attempt, own_log=BotLog({1: 0.25}))]}
    name = "_of_the_university".join("abcd")
    write_json(page_results / "other" / "result.json", replace(result, bot=name, **logs))
    for width, height in WINDOWS:
        watcher.shape(width, height=height)
        watcher.open(f"{live_page.address}live")
        watcher.wait_for("document.querySelectorAll('#rankings .tournament').length >= 2")
        assert watcher.value("document.documentElement.scrollWidth") <= width
        boxes = "[...document.querySelectorAll('#rankings .scrolls')].map(a => a.scrollWidth - a.clientWidth)"
        assert [hidden > 0 for hidden in watcher.value(boxes)][:2] == [width < 600] * 2
        regions = "[...document.querySelectorAll('[role=region]')].filter(one => one.checkVisibility())"
        names = watcher.value(f"{regions}.map(one => one.ariaLabel ?? one.ariaLabelledByElements[0].textContent)")
        assert len({*names}) == len(names) >= 4  # also where two tournaments have the same set
        assert watcher.value("[...document.querySelectorAll('th')].every(one => one.textContent)")
        watcher.keep(f"page-live-{width}")
    assert watcher.text_of("#rankings .end-crashed") == "crashed"
    assert "2 missing" in watcher.text_of("#rankings tbody:has(.end-crashed)")
    tables = "[...document.querySelectorAll('#rankings table')].map(one => one.textContent)"
    watcher.wait_for(f"{tables}.some(text => text.includes('Own time'))")  # the server looks once a second
    [logging] = [text for text in watcher.value(tables) if "Own time" in text]
    assert "4 of 5" in logging
    assert "250 ms" in logging


@pytest.mark.skipif(not wasm_kernels(), reason="needs kernels for browsers: python -m tools.release.level_kernels")
def test_a_live_view_without_results_explains_why(chromium):
    with Server() as other:
        chromium.open(f"{other.address}live")
        chromium.says("#state", "no folder of results is shown")
    chromium.open("about:blank")
    chromium.complaints.clear()  # of the answer 404


def test_a_puzzle_can_be_saved_as_a_file_picture_or_link(visitor):
    visitor.paste(HEART)
    for button, name in (("#take-file", "puzzle.non"), ("#take-png", "puzzle.png"), ("#take-svg", "puzzle.svg")):
        with visitor.page.expect_download() as download:
            visitor.click(button)
        assert download.value.suggested_filename == name
        visitor.wait_for(f"document.querySelector('#take-said').textContent === '{name} is saved.'")
    visitor.click("#take-link")
    visitor.wait_for("/link|#puzzle=/.test(document.querySelector('#take-said').textContent)")
    disabled = "[...document.querySelectorAll('.take button')].map(one => one.disabled)"
    assert visitor.paste("1-2") == "fault"  # the board of before is not what the text says
    assert visitor.value(disabled) == [True] * 6
    assert visitor.text_of("#take-said") == "There is nothing to take away: no puzzle can be read from the text."
    assert visitor.paste(TWO) == "multiple"
    assert visitor.value(disabled) == [False] * 6
    assert visitor.text_of("#take-said") == ""


def test_the_page_can_be_used_with_the_keyboard_alone(visitor, page_server):
    visitor.open("about:blank")
    visitor.open(page_server.address)
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


def test_the_page_is_described_to_screen_readers(visitor):
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


@pytest.mark.parametrize(
    ("width", "height", "ratio"), [(1400, 900, 1), (390, 844, 1), (320, 900, 4), (360, 900, 3), (1920, 900, 1)]
)
def test_the_board_leaves_room_for_its_controls_and_no_window_scrolls_sideways(visitor, width, height, ratio):
    """Also at 400%, where 1280 pixels are 320."""
    visitor.shape(width, height=height, ratio=ratio)
    visitor.paste(oneline(RANDOM))
    for view in ("solution", "steps", "mine"):
        visitor.click(f"[data-view='{view}']")
        assert visitor.value("document.documentElement.scrollWidth") <= width
        card = visitor.value(
            "(() => { const box = document.querySelector('#board-card').getBoundingClientRect();"
            " return [box.top + scrollY, box.height]; })()"
        )
        above = card[0] if width > 600 else 0  # on a phone the input is above the board
        assert above + card[1] <= height, view
        if width > 600:
            frame = "document.querySelector('#frame')"
            assert visitor.value(f"{frame}.scrollHeight - {frame}.clientHeight") == 0
        visitor.keep(f"page-{view}-{width}")


def test_clues_of_two_digits_do_not_touch(visitor):
    visitor.shape(390, ratio=2, height=844)
    visitor.paste(oneline(Puzzle.from_grid([[1] * 28] * 28)))
    brightness = visitor.picture().min(axis=2)
    is_board = brightness.mean(axis=1) < 120
    top, cell = is_board.argmax(), round(is_board.sum() / 28)
    clues = brightness[: top - 4, -4 - 28 * cell : -4].min(axis=0)
    assert clues.min() < 128
    assert min(clues[edge - 2 : edge + 2].min() for edge in range(cell, 28 * cell, cell)) > 240


def test_the_page_has_a_light_and_a_dark_theme(visitor):
    visitor.paste(HEART)
    light = visitor.picture()
    visitor.shape(1280, dark=True)
    visitor.wait_for("getComputedStyle(document.body).backgroundColor === 'rgb(15, 19, 25)'")
    assert (visitor.picture() != light).mean() > 0.5
    visitor.keep("page-dark")


def test_puzzle_text_is_escaped_and_no_injected_script_runs(visitor):
    hostile = "<img src=x onerror=alert(1)><script>alert(1)</script>"
    visitor.paste(f'title "{hostile}"\nwidth 1\nheight 1\nrows\n1\ncolumns\n1\n')
    assert visitor.text_of("#title") == hostile
    assert visitor.paste(f"width 1\nheight 1\nrows\n{hostile}\ncolumns\n1\n") == "fault"
    assert "'<img src=x onerror=a…t>alert(1)</script>' is dropped" in visitor.text_of("#faults")
    assert visitor.value("document.querySelectorAll('main img[src=x], main script').length") == 0

    visitor.value("document.body.append(Object.assign(document.createElement('script'), {text: 'taken = 1'}))")
    assert visitor.value("window.taken") is None
    assert visitor.complaints
    assert all("Content Security Policy" in complaint for complaint in visitor.complaints)
    visitor.complaints.clear()
