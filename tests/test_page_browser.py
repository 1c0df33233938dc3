"""The page in a real browser: what people paste, open and draw, and what they see of it."""

from __future__ import annotations

import pytest

from nonobot.protocol import Puzzle
from tests.page_in_browser import (
    BLACK,
    HEART,
    RANDOM,
    ROBOT,
    TWO,
    change,
    coloured,
    dark_cells,
    focus_board,
    oneline,
    paste,
    picture,
    says,
    text_of,
    verdict,
)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("compiled")]


def test_what_is_pasted_is_solved_and_drawn(visitor):
    assert paste(visitor, HEART) == "unique"
    assert "Unique exactly one solution 5x5" in text_of(visitor, "#verdict")
    grid = [[0, 1, 0, 1, 0], [1] * 5, [1] * 5, [0, 1, 1, 1, 0], [0, 0, 1, 0, 0]]
    assert dark_cells(visitor, 5, 5) == grid
    visitor.keep("page-5x5")
    assert paste(visitor, ROBOT) == "unique"
    assert text_of(visitor, "#title") == "A robot by nonobot"
    assert paste(visitor, oneline(RANDOM.puzzle)) == "unique"
    visitor.keep("page-25x25")


def test_a_fault_is_at_its_line_while_one_types(visitor):
    visitor.value("document.querySelector('#text').focus()")
    for key in "1-2":
        visitor.page.keyboard.press(key)
    visitor.wait_for("document.querySelector('#faults').textContent")
    assert text_of(visitor, "#faults") == "line 1: the clue of column 1 needs 2 cells, the column has 1"
    assert text_of(visitor, "#gutter mark") == "1"
    assert "line 1: the clue of column 1" in text_of(visitor, "#verdict")
    visitor.page.click("#faults .link")
    assert visitor.value("document.querySelector('#text').selectionEnd") == 3
    assert paste(visitor, "1:1-2") == "unique"
    assert text_of(visitor, "#faults") == ""


def test_one_of_several_puzzles_is_chosen(visitor):
    titles = "[...document.querySelector('#chooser-number').options].map(one => one.textContent)"
    paste(visitor, f"{HEART}\n{TWO}\n1-1\n")
    assert visitor.value(titles) == ["1 of 3: 5x5", "2 of 3: 2x2", "3 of 3: 1x1"]
    visitor.page.click("#chooser-next")
    visitor.wait_for("document.querySelector('#verdict').dataset.verdict === 'multiple'")
    assert "2x2" in text_of(visitor, "#verdict")
    paste(visitor, f"{HEART}\n1-1\n{TWO}\n")
    assert visitor.value(titles)[1] == "2 of 3: 1x1"


def test_a_file_and_a_picture_are_opened(visitor, tmp_path):
    (tmp_path / "robot.non").write_text(ROBOT)
    visitor.page.set_input_files("#file", tmp_path / "robot.non")
    assert verdict(visitor) == "unique"
    assert visitor.value("document.querySelector('#text').value") == ROBOT
    image = pytest.importorskip("PIL.Image").new("1", (12, 6), 1)
    image.paste(0, (2, 1, 10, 5))
    image.save(tmp_path / "box.png")
    visitor.page.set_input_files("#file", tmp_path / "box.png")
    says(visitor, "#title", "box")
    says(visitor, "#verdict", "12x6")
    assert not visitor.value("document.querySelector('#picture-options').hidden")
    visitor.value("document.querySelector('#picture-invert').click()")
    change(visitor, "#picture-width", "6")
    says(visitor, "#verdict", "6x3")
    image.resize((20, 10)).save(tmp_path / "other.png")  # nothing of the first one holds for it
    visitor.page.set_input_files("#file", tmp_path / "other.png")
    says(visitor, "#verdict", "20x10")
    assert not visitor.value("document.querySelector('#picture-invert').checked")


GIVEN = """(() => { const data = new DataTransfer(); data.items.add(%s); %s
    const event = new %s("%s", {clipboardData: data, dataTransfer: data, bubbles: true, cancelable: true});
    return document.body.dispatchEvent(event); })()"""
"""A file that is pasted or dropped; false where the page has taken it."""


def test_what_spreadsheets_put_on_the_clipboard_is_pasted_as_text(visitor):
    paste(visitor, HEART)
    file = "new File(['1-1'], 'cells.png', {type: 'image/png'})"
    assert visitor.value(GIVEN % (file, "data.setData('text/plain', '1-1');", "ClipboardEvent", "paste"))
    file = "new File(['1-1'], 'one.txt')"
    assert not visitor.value(GIVEN % (file, "", "ClipboardEvent", "paste"))
    says(visitor, "#verdict", "1x1")


def test_a_file_that_is_too_large_is_said_so(visitor):
    file = "new File([new Uint8Array((16 << 20) + 1)], 'large.png')"
    assert not visitor.value(GIVEN % (file, "", "DragEvent", "drop"))
    for place in ("#faults", "#verdict"):
        says(visitor, place, "large.png cannot be read: more than 16 MiB")


def test_clues_appear_as_one_draws(visitor):
    paste(visitor, HEART)
    visitor.page.click("#tab-draw")
    assert " 5x5 " not in text_of(visitor, "#verdict")  # that of another board
    change(visitor, "#draw-width", "4")
    change(visitor, "#draw-height", "4")
    says(visitor, "#verdict", "4x4")
    focus_board(visitor)
    visitor.page.keyboard.press(" ")
    assert text_of(visitor, "#place") == "row 1, column 1: black. Row: 1. Column: 1"
    visitor.page.keyboard.press("ArrowRight")
    visitor.page.keyboard.press("b")
    visitor.page.keyboard.press("Shift+ArrowDown")
    assert text_of(visitor, "#place") == "row 2, column 2: black. Row: 1. Column: 2"
    visitor.wait_for("document.querySelector('#verdict').dataset.verdict === 'unique'")
    visitor.page.keyboard.press("Control+z")
    assert text_of(visitor, "#place").startswith("row 2, column 2")
    visitor.page.click("#draw-undo")
    visitor.page.click("#draw-redo")
    visitor.page.click("#draw-invert")
    visitor.page.click("#take-link")
    visitor.page.click("#draw-clear")
    says(visitor, "#verdict", "4x4")


def test_samples_and_sets_are_picked(visitor):
    visitor.page.click("#tab-pick")
    visitor.page.click("#samples .chip")
    assert verdict(visitor) == "unique"
    assert text_of(visitor, "#title") == "A heart"
    for name, place, text in (
        ("boardgen:8x6x5:seed=1", "#title", "boardgen:8x6x5:seed=1 $1"),
        ("nothing", "#set-fault", "there is no set"),
    ):
        change(visitor, "#set-name", name)
        visitor.page.click("#set-form button")
        says(visitor, place, text)


def test_a_link_opens_with_its_puzzle_solved(visitor, page_server):
    for mark in "?#":
        visitor.open("about:blank")
        visitor.open(f"{page_server.address}{mark}puzzle={HEART}")
        assert verdict(visitor) == "unique"
        assert visitor.value("document.querySelector('#text').value") == HEART


def test_two_solutions_can_both_be_seen(visitor):
    assert paste(visitor, TWO) == "multiple"
    assert "4 cells differ" in text_of(visitor, "#verdict")
    first = picture(visitor)
    visitor.page.click("[data-solution='1']")
    assert (picture(visitor) != first).any()
    assert coloured(visitor, 0xE0, 0x7B, 0x00) > 100


def test_lines_that_contradict_are_named_and_marked(visitor):
    assert paste(visitor, "2:0-2:0") == "unsolvable"
    assert "columns 1 to 2: nothing fits there" in text_of(visitor, "#verdict")
    assert coloured(visitor, 0xD1, 0x27, 0x1C) > 3


def test_boards_from_1x1_to_200x200_are_sharp(visitor):
    for width, height, ratio in ((1, 1, 1), (1, 200, 2), (200, 1, 1.5), (80, 95, 1.25), (200, 200, 2)):
        visitor.shape(1280, ratio=ratio)
        paste(visitor, oneline(Puzzle.from_grid([[1] * width] * height)))
        size = visitor.value(
            "(() => { const one = document.querySelector('#board'), box = one.getBoundingClientRect();"
            " return [one.width / devicePixelRatio / box.width, one.height / devicePixelRatio / box.height]; })()"
        )
        assert size == pytest.approx([1, 1], abs=0.02), (width, height, ratio)
        assert coloured(visitor, *BLACK), (width, height, ratio)
    visitor.keep("page-200x200")


def test_clues_stay_in_view_wherever_one_scrolls(visitor):
    paste(visitor, oneline(Puzzle.from_grid([[1] * 60] * 60)))
    for _ in range(8):
        visitor.page.click("#zoom-in")
    visitor.value("document.querySelector('#frame').scrollTo(0, 0)")
    before = picture(visitor)
    visitor.value("document.querySelector('#frame').scrollTo(300, 0)")
    after = picture(visitor)
    assert visitor.value("document.querySelector('#frame').scrollLeft") == 300
    assert (before[:, :20] == after[:, :20]).all()  # the rows' clues
    assert visitor.value("document.documentElement.scrollWidth <= innerWidth")


def test_whether_it_is_still_right(visitor):
    paste(visitor, HEART)
    visitor.page.click("[data-view='mine']")
    focus_board(visitor)
    visitor.page.keyboard.press("b")  # row 1, column 1 is white
    visitor.page.keyboard.press("c")
    says(visitor, "#hint", "1 cell wrong: row 1, column 1")
    assert coloured(visitor, 0xD1, 0x27, 0x1C) > 10
    visitor.page.keyboard.press("w")
    visitor.page.click("#mine-check")
    says(visitor, "#hint", "Still right")


def test_an_answer_that_comes_too_late_changes_nothing(visitor):
    paste(visitor, HEART)
    visitor.page.click("[data-view='mine']")
    focus_board(visitor)
    visitor.page.keyboard.press("b")
    visitor.value(
        "(() => { const ask = fetch, may = new Promise(done => (window.release = done));"
        " window.fetch = async (...what) => { const told = await ask(...what); await may; return told; }; })()"
    )
    visitor.page.click("#mine-hint")
    assert text_of(visitor, "#hint") == "Asking …"
    visitor.page.click("#mine-undo")
    visitor.value("window.release()")
    visitor.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert text_of(visitor, "#hint") == ""
    assert visitor.value("document.querySelector('#mine-take').hidden")


def test_cells_are_painted_with_the_mouse(visitor):
    paste(visitor, HEART)
    visitor.page.click("[data-view='mine']")
    box = visitor.value(
        "(() => { const one = document.querySelector('#board'); one.scrollIntoView({block: 'center'});"
        " const box = one.getBoundingClientRect(); return [box.right, box.bottom]; })()"
    )
    first, last = (box[0] - 2 - 4.5 * 40, box[1] - 2 - 3.5 * 40), (box[0] - 2 - 20, box[1] - 2 - 3.5 * 40)
    visitor.page.mouse.move(*first)
    visitor.page.mouse.down()
    visitor.page.mouse.move(*last, steps=4)
    visitor.page.mouse.up()
    assert dark_cells(visitor, 5, 5)[1] == [1] * 5
    visitor.page.click("#mine-undo")
    assert sum(map(sum, dark_cells(visitor, 5, 5))) == 0
