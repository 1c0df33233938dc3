"""The page in a real browser: what people paste, open and draw, and what they see of it."""

from __future__ import annotations

import pytest

from nonobot.protocol import Puzzle
from tests.browser import BLACK, HEART, RANDOM, ROBOT, TWO, oneline

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("compiled", "page_server")]


def test_what_is_pasted_is_solved_and_drawn(visitor):
    assert visitor.paste(HEART) == "unique"
    assert "Unique exactly one solution 5x5" in visitor.text_of("#verdict")
    grid = [[0, 1, 0, 1, 0], [1] * 5, [1] * 5, [0, 1, 1, 1, 0], [0, 0, 1, 0, 0]]
    assert visitor.dark_cells(5, 5) == grid
    visitor.keep("page-5x5")
    assert visitor.paste(ROBOT) == "unique"
    assert visitor.text_of("#title") == "A robot by nonobot"
    assert visitor.paste(oneline(RANDOM)) == "unique"
    visitor.keep("page-25x25")


def test_a_fault_is_at_its_line_while_one_types(visitor):
    visitor.value("document.querySelector('#text').focus()")
    visitor.press(*"1-2")
    visitor.wait_for("document.querySelector('#faults').textContent")
    assert visitor.text_of("#faults") == "line 1: the clue of column 1 needs 2 cells, the column has 1"
    assert visitor.text_of("#gutter mark") == "1"
    assert "line 1: the clue of column 1" in visitor.text_of("#verdict")
    visitor.click("#faults .link")
    assert visitor.value("document.querySelector('#text').selectionEnd") == 3
    assert visitor.paste("1:1-2") == "unique"
    assert visitor.text_of("#faults") == ""


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
    visitor.change("#picture-width", "6")
    visitor.says("#verdict", "6x3")
    image.resize((20, 10)).save(tmp_path / "other.png")  # nothing of the first one holds for it
    visitor.page.set_input_files("#file", tmp_path / "other.png")
    visitor.says("#verdict", "20x10")
    assert not visitor.value("document.querySelector('#picture-invert').checked")


GIVEN = """(() => { const data = new DataTransfer(); data.items.add(%s); %s
    const event = new %s("%s", {clipboardData: data, dataTransfer: data, bubbles: true, cancelable: true});
    return document.body.dispatchEvent(event); })()"""
"""A file that is pasted or dropped; false where the page has taken it."""


def test_what_spreadsheets_put_on_the_clipboard_is_pasted_as_text(visitor):
    visitor.paste(HEART)
    file = "new File(['1-1'], 'cells.png', {type: 'image/png'})"
    assert visitor.value(GIVEN % (file, "data.setData('text/plain', '1-1');", "ClipboardEvent", "paste"))
    file = "new File(['1-1'], 'one.txt')"
    assert not visitor.value(GIVEN % (file, "", "ClipboardEvent", "paste"))
    visitor.says("#verdict", "1x1")


def test_a_file_that_is_too_large_is_said_so(visitor):
    file = "new File([new Uint8Array((16 << 20) + 1)], 'large.png')"
    assert not visitor.value(GIVEN % (file, "", "DragEvent", "drop"))
    for place in ("#faults", "#verdict"):
        visitor.says(place, "large.png cannot be read: more than 16 MiB")


def test_clues_appear_as_one_draws(visitor):
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


def test_samples_and_sets_are_picked(visitor):
    visitor.click("#tab-pick", "#samples .chip")
    assert visitor.verdict() == "unique"
    assert visitor.text_of("#title") == "A heart"
    for name, place, text in (
        ("boardgen:8x6x5:seed=1", "#title", "boardgen:8x6x5:seed=1 $1"),
        ("nothing", "#set-fault", "there is no set"),
    ):
        visitor.change("#set-name", name)
        visitor.click("#set-form button")
        visitor.says(place, text)


def test_a_link_opens_with_its_puzzle_solved(visitor, page_server):
    for mark in "?#":
        visitor.open("about:blank")
        visitor.open(f"{page_server.address}{mark}puzzle={HEART}")
        assert visitor.verdict() == "unique"
        assert visitor.value("document.querySelector('#text').value") == HEART


def test_two_solutions_can_both_be_seen(visitor):
    assert visitor.paste(TWO) == "multiple"
    assert "4 cells differ" in visitor.text_of("#verdict")
    first = visitor.picture()
    visitor.click("[data-solution='1']")
    assert (visitor.picture() != first).any()
    assert visitor.coloured(0xE0, 0x7B, 0x00) > 100


def test_lines_that_contradict_are_named_and_marked(visitor):
    assert visitor.paste("2:0-2:0") == "unsolvable"
    assert "columns 1 to 2: nothing fits there" in visitor.text_of("#verdict")
    assert visitor.coloured(0xD1, 0x27, 0x1C) > 3


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


def test_clues_stay_in_view_wherever_one_scrolls(visitor):
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


def test_whether_it_is_still_right(visitor):
    visitor.paste(HEART)
    visitor.click("[data-view='mine']")
    visitor.focus_board()
    visitor.press("b", "c")  # row 1, column 1 is white
    visitor.says("#hint", "1 cell wrong: row 1, column 1")
    assert visitor.coloured(0xD1, 0x27, 0x1C) > 10
    visitor.press("w")
    visitor.click("#mine-check")
    visitor.says("#hint", "Still right")


def test_an_answer_that_comes_too_late_changes_nothing(visitor):
    visitor.paste(HEART)
    visitor.click("[data-view='mine']")
    visitor.focus_board()
    visitor.press("b")
    visitor.value(
        "(() => { const ask = fetch, may = new Promise(done => (window.release = done));"
        " window.fetch = async (...what) => { const told = await ask(...what); await may; return told; }; })()"
    )
    visitor.click("#mine-hint")
    assert visitor.text_of("#hint") == "Asking …"
    visitor.click("#mine-undo")
    visitor.value("window.release()")
    visitor.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert visitor.text_of("#hint") == ""
    assert visitor.value("document.querySelector('#mine-take').hidden")


def test_cells_are_painted_with_the_mouse(visitor):
    visitor.paste(HEART)
    visitor.click("[data-view='mine']")
    box = visitor.value(
        "(() => { const one = document.querySelector('#board'); one.scrollIntoView({block: 'center'});"
        " const box = one.getBoundingClientRect(); return [box.right, box.bottom]; })()"
    )
    first, last = (box[0] - 2 - 4.5 * 40, box[1] - 2 - 3.5 * 40), (box[0] - 2 - 20, box[1] - 2 - 3.5 * 40)
    visitor.page.mouse.move(*first)
    visitor.page.mouse.down()
    visitor.page.mouse.move(*last, steps=4)
    visitor.page.mouse.up()
    assert visitor.dark_cells(5, 5)[1] == [1] * 5
    visitor.click("#mine-undo")
    assert sum(map(sum, visitor.dark_cells(5, 5))) == 0
