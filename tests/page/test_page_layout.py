"""The page in a real browser: size of the board, wheel, large letters, focus, and dark colours on paper."""

import pytest

from nonobot.protocol import Puzzle
from tests.helpers.browser import HEART, RANDOM, ROBOT, in_firefox_nightly, oneline, paint

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("compiled"),
    pytest.mark.parametrize("page_server", ["exported"], indirect=True),
]

FRAME = "document.querySelector('#frame')"
BOX = f"JSON.stringify({FRAME}.getBoundingClientRect())"
HIDDEN = f"[{FRAME}.scrollWidth - {FRAME}.clientWidth, {FRAME}.scrollHeight - {FRAME}.clientHeight]"
FOCUSED = "document.activeElement.id"


@in_firefox_nightly
@pytest.mark.parametrize(("puzzle", "side", "cell"), [(ROBOT, 16, 20), (oneline(RANDOM), 25, 14)])
def test_a_board_next_to_its_controls_is_fully_visible_and_does_not_move(visitor, puzzle, side, cell):
    visitor.shape(1280, height=800)
    visitor.paste(puzzle)
    boxes = set()
    for view in ("mine", "solution", "steps"):
        visitor.click(f"[data-view='{view}']")
        boxes.add(visitor.value(BOX))
        assert visitor.value(HIDDEN) == [0, 0]
    assert len(boxes) == 1
    assert visitor.value(f"{FRAME}.clientHeight") > side * cell
    assert visitor.value("document.querySelector('#place').getBoundingClientRect().bottom < innerHeight")


@in_firefox_nightly
def test_a_board_is_first_shown_as_a_whole_where_its_cells_are_large_enough(visitor):
    visitor.touch_screen(True)
    visitor.shape(390, height=844)
    visitor.paste(ROBOT)
    visitor.click("[data-view='mine']")
    hidden, width = visitor.value(HIDDEN), visitor.value(f"{FRAME}.clientWidth")
    visitor.touch_screen(False)
    assert hidden == [0, 0]
    assert width > 16 * 14


@pytest.fixture
def touched(visitor):
    """Return a visitor with an attempt on a screen that is touched."""
    visitor.touch_screen(True)
    visitor.shape(390, height=844)
    visitor.paste(oneline(RANDOM))
    visitor.click("[data-view='mine']")
    yield visitor
    visitor.touch_screen(False)


def box_of(visitor, place: str) -> list[float]:
    """Return where an element is: left, top, right and bottom."""
    sides = "(box => [box.left, box.top, box.right, box.bottom])"
    return visitor.value(f"{sides}(document.querySelector({place!r}).getBoundingClientRect())")


def test_a_phone_in_landscape_shows_the_board_next_to_its_controls(touched):
    touched.shape(844, height=390)
    touched.value("document.querySelector('#board-card').scrollIntoView()")
    touched.picture()
    left, top, right, bottom = box_of(touched, "#frame")
    assert top >= 0
    assert bottom - top > 340
    assert bottom <= 390
    assert right - left > 480
    for place in (".bar", "#place", "#mine-bar"):
        assert box_of(touched, place)[0] > right
    assert box_of(touched, "#mine-hint")[3] < 390
    touched.value("scrollBy(0, 60)")  # to what is said below
    assert box_of(touched, "#frame")[1] == 0
    touched.paste(HEART)
    touched.shape(390, height=844)


def test_a_scrolling_board_on_a_phone_extends_down_to_the_controls(touched):
    touched.value("document.querySelector('#board-card').scrollIntoView()")
    touched.picture()
    _, top, _, bottom = box_of(touched, "#frame")
    assert bottom - top > 480
    assert 780 < box_of(touched, "#mine-undo")[3] < 844


def test_touch_controls_are_40_pixels_and_their_switch_is_next_to_the_board(touched):
    rows = "new Set([...document.querySelector('.bar').children].filter(one => one.offsetHeight)"
    middles = "one => Math.round(one.offsetTop + one.offsetHeight / 2)"
    assert touched.value(f"{rows}.map({middles})).size") <= 3
    for place in ("#views", "#hides", ".zoom"):
        assert box_of(touched, place)[3] <= box_of(touched, "#finger")[1]
    assert box_of(touched, "#finger")[3] <= box_of(touched, "#frame")[1]
    views = "document.querySelector('#views').offsetTop - document.querySelector('#board-card').offsetTop"
    before = touched.value(views)
    touched.click("[data-view='solution']")
    assert touched.value(views) == before  # or a second tap would reach another button
    touched.click("[data-view='mine']")
    low = """[...document.querySelectorAll('button, select, input:not(.unseen), .check, nav a')].filter(
        (one) => one.offsetHeight && one.type !== 'checkbox' && one.offsetHeight < 40)
        .map((one) => one.outerHTML)"""
    for tab in ("text", "draw", "pick"):
        touched.click(f"#tab-{tab}")
        for view in () if tab == "draw" else ("solution", "steps", "mine"):
            touched.click(f"[data-view='{view}']")
            assert touched.value(low) == []
        assert touched.value(low) == []


@in_firefox_nightly
def test_fit_shows_a_notice_if_the_cells_are_too_small_for_clues(visitor):
    visitor.paste(oneline(Puzzle.from_grid([[1] * 5] * 90)))
    for view in ("mine", "solution"):
        visitor.click(f"[data-view='{view}']", "#zoom-fit")
        visitor.point_at(0, 0)
        visitor.says("#place", "The cells are too small for clues: + makes them larger")


def test_the_mouse_wheel_scrolls_the_board_first_and_then_the_page(visitor):
    visitor.shape(1280, height=500)
    visitor.paste(oneline(RANDOM))
    visitor.click("[data-view='mine']", *["#zoom-in"] * 4)
    visitor.value("scrollTo(0, 0)")
    x, y = visitor.value(f"(box => [box.right - 80, box.top + 200])({FRAME}.getBoundingClientRect())")
    visitor.point_at(x, y)
    visitor.says("#place", "row ")
    row = visitor.text_of("#place").split(",")[0]
    visitor.page.mouse.wheel(0, 60)
    visitor.wait_for(f"!document.querySelector('#place').textContent.startsWith('{row},')")
    visitor.value(f"{FRAME}.scrollTo(0, 9999)")
    visitor.page.mouse.wheel(0, 60)
    visitor.wait_for("scrollY > 0")


@in_firefox_nightly
def test_with_large_letters_every_tab_can_be_clicked(visitor):
    visitor.paste(HEART)
    visitor.value("document.documentElement.style.fontSize = '200%'")
    for tab in ("text", "draw", "pick"):
        box = f"document.querySelector('#tab-{tab}').getBoundingClientRect()"
        middle = f"({box}.left + {box}.right) / 2, ({box}.top + {box}.bottom) / 2"
        assert visitor.value(f"document.elementFromPoint({middle}).id") == f"tab-{tab}"
    visitor.value("document.documentElement.style.fontSize = ''")


@in_firefox_nightly
def test_a_disabled_button_keeps_the_focus(visitor):
    visitor.paste("1-1\n\n2-1:1\n")
    paint(visitor, "b")
    visitor.value("document.querySelector('#mine-undo').focus()")
    visitor.press("Enter", "Enter")
    assert visitor.value(FOCUSED) == "mine-undo"
    assert visitor.value("document.querySelector('#mine-undo').ariaDisabled") == "true"
    visitor.value("document.querySelector('#chooser-next').focus()")
    visitor.press("Enter")
    visitor.says("#verdict", "2x1")
    assert visitor.value(FOCUSED) == "chooser-next"


@in_firefox_nightly
def test_the_board_gets_the_focus_when_a_focused_button_disappears(visitor):
    visitor.value("document.querySelector('#welcome-samples .chip').focus()")
    visitor.press("Enter")
    visitor.says("#title", "A heart")
    assert visitor.value(FOCUSED) == "board"
    visitor.click("#tab-draw")
    visitor.value("document.querySelector('#draw-use').focus()")
    visitor.press("Enter")
    visitor.wait_for("document.querySelector('#tab-text').ariaSelected === 'true'")
    assert visitor.value(FOCUSED) == "board"


def test_dark_colours_are_not_printed(visitor):
    visitor.shape(1280, dark=True)
    visitor.paste(ROBOT)
    title = "getComputedStyle(document.querySelector('#title')).color"
    screen = visitor.picture().mean(), visitor.value(title)
    visitor.value("dispatchEvent(new Event('beforeprint'))")
    paper = visitor.picture().mean(), visitor.value(title)
    assert visitor.value(HIDDEN) == [0, 0]
    assert visitor.value("document.querySelector('#board').offsetWidth") > 500
    visitor.value("dispatchEvent(new Event('afterprint'))")
    assert paper[0] > 150 > screen[0]
    assert paper[1] == "rgb(28, 36, 48)" != screen[1]
    assert (visitor.picture().mean(), visitor.value(title)) == screen
