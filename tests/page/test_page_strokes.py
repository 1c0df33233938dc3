"""The page in a real browser under mouse and fingers: drags and strokes, and the board on a phone."""

import re

import pytest

from nonobot.protocol import Puzzle
from tests.helpers.browser import HEART, RANDOM, ROBOT, in_both_browsers, oneline, paint, reload

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("compiled"),
    pytest.mark.parametrize("page_server", ["exported"], indirect=True),  # the server does nothing for a player
]

any_moves = pytest.mark.parametrize(
    "moves", [1, 10, *(pytest.param(n, marks=pytest.mark.nightly) for n in (3, 100))]
)

FRAME = "document.querySelector('#frame')"


@pytest.fixture
def touched(visitor):
    """Return a visitor whose screen is touched."""
    visitor.touch_screen(True)
    yield visitor
    visitor.touch_screen(False)


def middle_of(visitor, width: int, height: int):
    """Open an attempt on a board without a white cell; return where the middle of a cell is on the screen."""
    visitor.paste(oneline(Puzzle.from_grid([[1] * width] * height)))
    visitor.click("[data-view='mine']")
    return middle_of_shown(visitor, width, height)


def middle_of_shown(visitor, width: int, height: int):
    visitor.picture()  # what is shown moves the board until it is drawn
    right, bottom = visitor.value(
        "(() => { const one = document.querySelector('#board'); one.scrollIntoView({block: 'center'});"
        " const box = one.getBoundingClientRect(); return [box.right, box.bottom]; })()"
    )
    return lambda x, y: (right - 2 - (width - x - 0.5) * 40, bottom - 2 - (height - y - 0.5) * 40)


@in_both_browsers
@pytest.mark.parametrize("by", ["mouse", "finger"])
@any_moves
def test_a_drag_paints_every_cell_between_its_moves(touched, moves, by):
    width, height = 12, 9
    middle = middle_of(touched, width, height)
    for first, last in (((0, 1), (11, 1)), ((5, 8), (5, 3)), ((0, 4), (4, 8))):
        end = (0, 8) if by == "finger" and last == (4, 8) else last  # it keeps to the column
        touched.drag(middle(*first), middle(last[0] - (end != last) / 4, last[1]), moves, by)
        touched.says("#place", f"row {end[1] + 1}, column {end[0] + 1}: black")
    painted = touched.dark_cells(width, height)
    assert painted[1] == [1] * width
    assert [row[5] for row in painted] == [0, 1, 0, 1, 1, 1, 1, 1, 1]
    assert [painted[4 + step][step if by == "mouse" else 0] for step in range(5)] == [1] * 5
    touched.drag(middle(9, 0), middle(14, 0), moves, by)  # beyond the board
    assert touched.dark_cells(width, height)[0] == [0] * 9 + [1] * 3
    touched.click(*["#mine-undo"] * 4)
    assert sum(map(sum, touched.dark_cells(width, height))) == 0


@in_both_browsers
@any_moves
def test_a_finger_keeps_to_the_row_or_column_of_the_first_other_cell(touched, moves):
    middle = middle_of(touched, 8, 8)
    for first, last, said in (
        ((2, 2), (5, 4), "4 cells to row 3, column 6: black"),
        ((6, 7), (3.6, 4), "4 cells to row 5, column 7: black"),
        ((1, 5), (-4, 7), "2 cells to row 6, column 1: black"),  # beyond the board
    ):
        touched.drag(middle(*first), middle(*last), moves, "finger")
        if last[0] >= 0:
            touched.says("#place", said)
    painted = touched.dark_cells(8, 8)
    assert painted[2] == [0, 0, 1, 1, 1, 1, 0, 0]
    assert [row[6] for row in painted] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert painted[5] == [1, 1, 0, 0, 0, 0, 1, 0]
    assert sum(map(sum, painted)) == 10
    touched.click("#tab-draw")
    for side in ("#draw-width", "#draw-height"):
        touched.change(side, "8")
    middle = middle_of_shown(touched, 8, 8)
    touched.drag(middle(0, 0), middle(3, 1.3), moves, "finger")  # two colours are drawn with as before
    assert touched.dark_cells(8, 8)[:2] == [[1, 1, 0, 0, 0, 0, 0, 0], [0, 1, 1, 1, 0, 0, 0, 0]]


@in_both_browsers
def test_a_finger_scrolls_or_paints_white_depending_on_the_switch(touched):
    middle = middle_of(touched, 5, 5)
    ends = middle(0, 0), middle(4, 0)
    touched.click("[data-finger='scroll']")
    touched.drag(*ends, 10, "finger")
    touched.drag(ends[0], ends[0], 1, "finger")  # also a tap paints nothing
    assert sum(map(sum, touched.dark_cells(5, 5))) == 0
    touched.click("[data-finger='white']")
    touched.drag(*ends, 10, "finger")
    touched.says("#place", "5 cells to row 1, column 5: white")


@in_both_browsers
def test_a_drag_changes_only_cells_like_its_first(touched):
    middle = middle_of(touched, 5, 5)
    touched.drag(middle(0, 0), middle(2, 0), 3, "finger")
    touched.click("[data-finger='white']")
    touched.drag(middle(4, 0), middle(0, 0), 3, "finger")
    touched.says("#place", "5 cells to row 1, column 1: black")
    assert attempt_at_first(touched) == "11100" + "?" * 20
    touched.drag(middle(0, 0), middle(0, 0), 1, "finger")  # a tap changes any
    assert attempt_at_first(touched) == "01100" + "?" * 20


@in_both_browsers
@pytest.mark.parametrize("by", ["mouse", "finger"])
def test_a_drag_ends_at_the_edge_of_what_is_seen(touched, by):
    touched.paste(oneline(Puzzle.from_grid([[1] * 25] * 25)))
    touched.click("[data-view='mine']", *["#zoom-in"] * 4)
    box = "(box => [box.left + box.width / 2, box.bottom])"  # of the canvas: the frame may have a bar below it
    x, bottom = touched.value(f"{box}(document.querySelector('#board').getBoundingClientRect())")
    touched.drag((x, bottom - 3), (x, bottom + 50), 5, by)
    assert attempt_at_first(touched).count("1") == 1


@in_both_browsers
def test_only_a_straight_drag_has_a_length(visitor):
    middle = middle_of(visitor, 8, 8)
    visitor.drag(middle(0, 0), middle(4, 0), 5, "mouse")
    visitor.says("#place", "5 cells to row 1, column 5")
    visitor.drag(middle(0, 1), middle(4, 5), 5, "mouse")
    visitor.says("#place", "row 6, column 5")
    assert "cells to" not in visitor.text_of("#place")


@pytest.mark.parametrize("by", ["Escape", "Control+z", "right"])
def test_a_drag_that_is_broken_off_paints_nothing(visitor, by):
    middle = middle_of(visitor, 5, 5)
    mouse = visitor.page.mouse
    visitor.drag(middle(0, 4), middle(2, 4), 1, "mouse")
    mouse.move(*middle(0, 0))
    mouse.down()
    mouse.move(*middle(3, 0))
    if by == "right":
        mouse.down(button="right")
    else:
        visitor.press(by)
    mouse.move(*middle(4, 0))
    if by == "right":
        mouse.up(button="right")
    mouse.up()
    assert attempt_at_first(visitor) == "?" * 20 + "111??"
    assert visitor.dark_cells(5, 5)[0] == [0] * 5


def test_a_drag_that_the_system_ends_paints_nothing(touched):
    middle = middle_of(touched, 5, 5)
    touched.drag(middle(0, 4), middle(2, 4), 1, "finger")
    touch(touched, "touchStart", middle(0, 0))
    touch(touched, "touchMove", middle(3, 0))
    touched.says("#place", "4 cells to")
    touch(touched, "touchCancel")
    assert attempt_at_first(touched) == "?" * 20 + "111??"


def attempt_at_first(visitor) -> str:
    """Return the cells of the attempt that was kept last."""
    return visitor.value("JSON.parse(localStorage.nonobot).attempts[0].cells")


def touch(visitor, kind: str, *points: tuple[float, float]) -> None:
    fingers = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
    visitor.ask("Input.dispatchTouchEvent", type=kind, touchPoints=fingers)


def test_a_second_finger_takes_the_drag_back_and_both_pan_the_board(touched):
    touched.shape(390, height=844)
    touched.paste(oneline(RANDOM))
    touched.click("[data-view='mine']", *["#zoom-in"] * 2)
    touched.value(f"{FRAME}.scrollIntoView({{block: 'center'}}), {FRAME}.scrollTo(0, 0)")
    x, y = touched.value(
        f"(box => [(box.left + box.right) / 2, (box.top + box.bottom) / 2])({FRAME}.getBoundingClientRect())"
    )
    touch(touched, "touchStart", (x, y))
    touch(touched, "touchEnd")
    touched.says("#place", ": black. Row")  # also without a move
    before = attempt_at_first(touched)
    assert before.count("1") == 1
    touch(touched, "touchStart", (x + 80, y))
    touch(touched, "touchMove", (x + 80, y + 60))
    touch(touched, "touchStart", (x + 80, y + 60), (x + 20, y))
    touch(touched, "touchMove", (x + 20, y + 20), (x - 40, y - 40))
    scrolled = f"[{FRAME}.scrollLeft, {FRAME}.scrollTop]"
    touched.wait_for(f"{FRAME}.scrollTop > 30")
    touched.says("#place", "Two fingers scroll, Fit shows the whole board.")  # no cell is pointed at
    assert touched.value(scrolled) == pytest.approx([60, 40], abs=1)
    touch(touched, "touchMove", (x + 20, y + 20))  # which lifts the second
    touch(touched, "touchMove", (x, y))
    touch(touched, "touchEnd")
    assert attempt_at_first(touched) == before
    assert touched.value("document.querySelector('#mine-redo').ariaDisabled === 'true'")
    touched.click("#mine-undo")
    assert "1" not in attempt_at_first(touched)


def on_phone(visitor) -> None:
    """Open an attempt on a phone, with cells of 18 pixels and the board at the top of the screen."""
    visitor.shape(390, height=844)
    visitor.paste(oneline(RANDOM))
    visitor.click("[data-view='mine']", "#zoom-fit")
    while visitor.value(f"{FRAME}.scrollWidth < 25 * 18"):
        visitor.click("#zoom-in")
    visitor.value("document.querySelector('#board-card').scrollIntoView()")


def middle_of_element(visitor, place: str) -> tuple[float, float]:
    box = f"document.querySelector({place!r}).getBoundingClientRect()"
    return tuple(visitor.value(f"(box => [box.left + box.width / 2, box.top + box.height / 2])({box})"))


def frames(visitor, number: int = 2) -> None:
    """Wait for so many frames of the screen."""
    for _ in range(number):
        visitor.value("new Promise(requestAnimationFrame)")


def test_a_tap_just_after_a_quick_drag_reaches_its_button(touched):
    on_phone(touched)
    x, y = middle_of_element(touched, "#board")
    for finger in ("white", "black") * 3:
        for step in range(4):
            touch(touched, "touchMove" if step else "touchStart", (x + 30 * step, y))
            frames(touched, 1)
        touch(touched, "touchEnd")
        frames(touched, 6)  # while a fling would still go on
        button = middle_of_element(touched, f"[data-finger='{finger}']")
        touch(touched, "touchStart", button)
        touch(touched, "touchEnd")
        touched.wait_for(f"document.querySelector('[data-finger={finger}]').ariaPressed === 'true'")


def pointed_at(visitor, x: float, y: float) -> str:
    """Return which cell is at a place of the window, with a finger that paints nothing there."""
    touch(visitor, "touchStart", (x, y))
    visitor.says("#place", "row ")
    place = visitor.text_of("#place").split(":")[0]
    touch(visitor, "touchCancel")
    return place


def pinch(visitor, x: float, y: float, begin: int, end: int) -> None:
    """Move two fingers, so far from a place of the window, apart or together."""
    touch(visitor, "touchStart", (x - begin, y - begin))
    touch(visitor, "touchStart", (x - begin, y - begin), (x + begin, y + begin))
    for step in range(9):
        by = begin + (end - begin) * step / 8
        touch(visitor, "touchMove", (x - by, y - by), (x + by, y + by))
        frames(visitor, 1)
    touch(visitor, "touchEnd")


@pytest.mark.parametrize("finger", ["black", "scroll"])
def test_two_fingers_make_the_board_larger_and_smaller_around_them_and_paint_nothing(touched, finger):
    on_phone(touched)
    touched.click(f"[data-finger='{finger}']")
    x, y = middle_of_element(touched, "#board")
    before, width, top = pointed_at(touched, x, y), touched.value(f"{FRAME}.scrollWidth"), touched.value("scrollY")
    pinch(touched, x, y, 40, 75)
    assert 1.5 * width < touched.value(f"{FRAME}.scrollWidth") < 2 * width
    assert pointed_at(touched, x, y) == before
    pinch(touched, x, y, 75, 40)
    assert touched.value(f"{FRAME}.scrollWidth") == pytest.approx(width, abs=25)  # a pixel for each cell
    assert pointed_at(touched, x, y) == before
    for begin, end in ((10, 100), (100, 10)):
        pinch(touched, x, y, begin, end)
    assert touched.value(f"{FRAME}.scrollWidth - {FRAME}.clientWidth") == 0
    for begin, end in ((5, 100), (5, 100)):
        pinch(touched, x, y, begin, end)
    assert 25 * 60 < touched.value(f"{FRAME}.scrollWidth") < 25 * 60 + 200
    assert touched.value("scrollY") == top
    assert "1" not in touched.value("localStorage.nonobot.match(/attempts.*/)?.[0] ?? ''")


def test_two_fingers_that_scroll_leave_redo_and_the_hint(touched):
    on_phone(touched)
    x, y = middle_of_element(touched, "#board")
    for place in ((x, y), (x + 40, y)):
        touch(touched, "touchStart", place)
        touch(touched, "touchEnd")
    touched.click("#mine-undo")
    before = attempt_at_first(touched)
    assert before.count("1") == 1
    touched.click("#mine-hint")
    touched.wait_for("!document.querySelector('#mine-take').hidden")
    touched.value("document.querySelector('#board-card').scrollIntoView()")  # from the hint
    for moved in (0, 60):  # the first finger: it waits for the other, or has painted before
        touch(touched, "touchStart", (x, y + 30))
        if moved:
            touch(touched, "touchMove", (x + moved, y + 30))
        touch(touched, "touchStart", (x + moved, y + 30), (x, y - 40))
        touch(touched, "touchMove", (x + moved, y), (x, y - 70))
        frames(touched)
        touch(touched, "touchEnd")
        assert attempt_at_first(touched) == before
        assert touched.value("document.querySelector('#mine-take').hidden") == bool(moved)
    touched.click("#mine-redo")
    assert attempt_at_first(touched).count("1") == 2


def test_a_scrolling_finger_behaves_as_on_any_page(touched):
    on_phone(touched)
    touched.click("[data-finger='scroll']")
    x, y = middle_of_element(touched, "#board")
    touched.drag((x, y), (x - 100, y), 10, "finger")
    touched.wait_for(f"{FRAME}.scrollLeft > 50")


def test_a_hand_on_the_screen_does_not_disturb_the_pen(touched):
    on_phone(touched)
    x, y = middle_of_element(touched, "#board")
    pen = {"pointerType": "pen", "button": "left", "buttons": 1, "clickCount": 1}
    touched.ask("Input.dispatchMouseEvent", type="mousePressed", x=x - 50, y=y, **pen)
    touch(touched, "touchStart", (x, y + 80))
    touch(touched, "touchStart", (x, y + 80), (x + 40, y + 80))
    touched.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, **pen)
    touch(touched, "touchEnd")
    touched.ask("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, **pen)
    assert attempt_at_first(touched).strip("?") in ("1" * 3, "1" * 4)


@pytest.mark.parametrize("by", ["finger", "mouse"])
def test_a_solved_board_is_locked_until_undo_or_clear(touched, by):
    middle = middle_of(touched, 3, 2)
    for y in (0, 1):
        touched.drag(middle(0, y), middle(2, y), 3, by)
    touched.says("#hint", "Solved")
    touched.says("#place", "A solved board is locked until Undo or Clear.")
    for first, last in (((0, 0), (0, 0)), ((1, 0), (1, 1))):
        touched.drag(middle(*first), middle(*last), 3, by)
    touched.focus_board()
    touched.press("u")
    assert attempt_at_first(touched) == "1" * 6
    touched.click("#mine-undo")
    assert attempt_at_first(touched) == "111???"
    touched.drag(middle(0, 1), middle(1, 1), 3, by)
    assert attempt_at_first(touched) == "11111?"


def test_the_next_button_is_visible_once_a_puzzle_is_solved(touched):
    touched.shape(390, height=560)
    touched.paste("1-1")
    touched.click("[data-view='mine']")
    touched.value("document.querySelector('#board').scrollIntoView({ block: 'end' })")
    box = "document.querySelector('#board').getBoundingClientRect()"
    corner = tuple(touched.value(f"[{box}.right - 12, {box}.bottom - 12]"))
    touched.drag(corner, corner, 1, "finger")
    touched.says("#mine-next", "Next puzzle")
    touched.wait_for("document.querySelector('#mine-next').getBoundingClientRect().bottom <= innerHeight")


def test_a_finger_on_the_board_closes_the_keyboard(touched):
    on_phone(touched)
    touched.value("document.querySelector('#text').focus({ preventScroll: true })")
    touched.drag(middle_of_element(touched, "#board"), (200, 500), 3, "finger")
    assert touched.value("document.activeElement.id") != "text"


def test_a_hint_and_its_line_are_in_view_on_a_phone(touched):
    touched.shape(390, height=844)
    touched.paste(HEART)  # so that the next board has its own size
    touched.paste(oneline(RANDOM))
    touched.click("[data-view='mine']")
    for end in (0, 9999):
        touched.value(f"{FRAME}.scrollTo({end}, {end}), scrollTo(0, 0)")
        touched.click("#mine-hint")
        touched.wait_for("!document.querySelector('#mine-take').hidden")
        kind, number = re.match(r"(Row|Column) (\d+)", touched.text_of("#hint")).groups()
        start, size = ("Top", "Height") if kind == "Row" else ("Left", "Width")
        lengths = f"[{FRAME}.scroll{start}, {FRAME}.client{size}, {FRAME}.scroll{size}]"
        scrolled, shown, whole = touched.value(lengths)
        line = (int(number) - 0.5) * 18 - scrolled  # its middle, from the first cell that is seen
        assert 0 < line < shown - (whole - 25 * 18)
        for place in ("#hint", "#mine-take"):
            box = f"document.querySelector('{place}').getBoundingClientRect()"
            assert touched.value(f"{box}.top >= 0 && {box}.bottom <= innerHeight"), place


SIZE = """(() => { const box = (place) => document.querySelector(place).getBoundingClientRect();
    return [box("#spacer").width, box("#frame").height, box("#mine-undo").top - box("#board-card").top]; })()"""
"""The size of the board, of its frame, and where the buttons below it are."""


@in_both_browsers
@pytest.mark.parametrize("sample", [2, 4])
def test_messages_below_a_board_do_not_change_its_size_on_a_phone(touched, sample):
    touched.shape(390, height=844)
    touched.click("#tab-pick", f"#samples .chip:nth-child({sample})")
    touched.verdict()
    touched.click("[data-view='mine']")
    for buttons in ([], ["#zoom-fit"]):
        touched.click(*buttons)
        before = touched.value(SIZE)
        said = set()
        for text in ("", "row 1, column 1", "a long text " * 9):
            touched.value(f"document.querySelector('#place').textContent = {text!r}")
            said.add(touched.value("document.querySelector('#place').offsetHeight"))
            touched.click("[data-finger='white']", "[data-finger='black']", "#mine-hint", *buttons)
            touched.wait_for("/ /.test(document.querySelector('#hint').textContent.replace('Asking …', ''))")
            assert touched.value(SIZE) == before
            touched.click("[data-view='solution']", "[data-view='mine']")
            assert touched.value(SIZE) == before
            touched.shape(844, height=390)  # it is turned, and back
            touched.picture()
            assert touched.value(SIZE) != before
            touched.shape(390, height=844)
            touched.picture()
            assert touched.value(SIZE) == before
            touched.focus_board()
            touched.press("ArrowRight", "b")
        assert len(said) == 1


@in_both_browsers
def test_the_first_text_names_the_rules_and_the_zoom_and_is_not_cut_off(touched):
    touched.shape(390, height=844)
    touched.paste(oneline(RANDOM))
    touched.click("[data-view='mine']", *["#zoom-in"] * 4)
    scroll = "Two fingers scroll, " if touched.value("matchMedia('(pointer: coarse)').matches") else ""
    touched.says("#place", f"Each number is a run of black cells. {scroll}Fit shows the whole board.")
    fits = "(place => place.scrollHeight <= place.clientHeight)(document.querySelector('#place'))"
    assert touched.value(fits)
    touched.click("#zoom-fit")
    touched.says("#place", "Each number is a run of black cells. The cells are ")
    assert touched.value(fits)


@in_both_browsers
def test_on_a_phone_a_new_puzzle_scrolls_into_view_except_while_typing(touched):
    touched.shape(390, height=844)
    top = "Math.round(document.querySelector('#board-card').getBoundingClientRect().top)"
    touched.paste(ROBOT)
    assert touched.value(top) > 100
    paint(touched, "b")
    touched.click("#tab-pick")
    places = {"#samples .chip:nth-child(4)": "16x", "#set-form button": "25x25", "#begun .chip": "16x"}
    for place, size in places.items():
        touched.value("scrollTo(0, 0)")
        touched.click("#tab-pick", place)
        touched.says("#verdict", size)
        assert abs(touched.value(top)) <= 2, place
    touched.value("document.querySelector('#board-card').scrollIntoView(), scrollBy(0, 40)")
    link = oneline(Puzzle.from_grid([[1] * 10] * 10))
    touched.value(f"location.hash = '#puzzle={link}'")  # the board is in view, but not all of its controls
    touched.says("#verdict", "10x10")
    assert abs(touched.value(top)) <= 2


def test_puzzles_open_in_play_view_on_a_touch_screen(touched):
    touched.shape(390, height=844)
    touched.reload()
    touched.wait_for("document.documentElement.dataset.python === 'ready'")
    assert not touched.value("document.querySelector('.keys').checkVisibility()")
    touched.click("#tab-pick", "#samples .chip")
    touched.says("#title", "A heart")
    mine = "document.querySelector('[data-view=mine]').ariaPressed"
    assert touched.value(mine) == "true"
    touched.click("#hide-solution")
    paint(touched, "b")
    touched.click("[data-view='solution']")
    for number, is_mine in ((2, "false"), (1, "true")):  # with an attempt, a puzzle opens on it
        touched.click(f"#samples .chip:nth-child({number})")
        touched.verdict()
        touched.wait_for(f"{mine} === '{is_mine}'")
    reload(touched)
    assert not touched.value("document.querySelector('#hide-solution').checked")
    assert touched.value(mine) == "true"
