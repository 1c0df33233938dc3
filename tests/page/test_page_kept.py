"""The page in a real browser: what it keeps over a reload, with another tab, and after a wrong file."""

import pytest

from nonobot.protocol import Puzzle
from tests.helpers.browser import GIVEN, HEART, ROBOT, TWO, in_firefox_nightly, oneline, paint, reload

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("compiled"),
    pytest.mark.parametrize("page_server", ["exported"], indirect=True),
]

CELLS = "JSON.parse(localStorage.nonobot).attempts[0].cells.replaceAll('?', '')"
TEXT = "document.querySelector('#text').value"


def shown_view(visitor) -> str:
    return visitor.value("document.querySelector('#views [aria-pressed=true]').dataset.view")


@pytest.fixture
def second_tab(visitor):
    """Return a second tab that shows the heart to be painted."""
    visitor.paste(HEART)
    visitor.click("[data-view='mine']")
    with visitor.page.expect_popup() as opened:
        visitor.value("void window.open(location.href)")
    tab = opened.value
    tab.click("[data-view='mine']")
    tab.focus("#board")
    yield tab
    tab.close()


def test_an_idle_tab_does_not_overwrite_what_another_tab_stored(visitor, second_tab):
    visitor.focus_board()
    visitor.press("b")
    visitor.value("window.addEventListener('storage', (event) => event.stopImmediatePropagation(), true)")
    second_tab.reload()
    second_tab.focus("#board")
    for key in ("ArrowDown", "b", "ArrowRight", "x"):
        second_tab.keyboard.press(key)
    for leave in (lambda: visitor.paste("1-1"), lambda: reload(visitor)):
        leave()
        assert visitor.value(CELLS) == "110"


def test_a_stroke_adds_to_what_another_tab_has_painted_and_undo_leads_back(visitor, second_tab):
    visitor.focus_board()
    visitor.press("ArrowRight")
    second_tab.keyboard.press("ArrowRight")
    second_tab.keyboard.press("b")
    visitor.says("#place", "row 1, column 2: black")
    visitor.press("ArrowDown", "x")
    assert visitor.value(CELLS) == "10"
    visitor.click("#mine-undo", "#mine-undo")
    assert visitor.value(CELLS) == ""


@in_firefox_nightly
def test_a_browser_without_storage_shows_a_notice_instead_of_the_usual_text(visitor):
    visitor.paste(HEART)
    visitor.click("[data-view='mine']")
    visitor.says("#mine-kept", "stay in this browser")
    visitor.value(
        "window.setItem = Storage.prototype.setItem,"
        "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }, null"
    )
    visitor.focus_board()
    visitor.press("b")
    visitor.says("#mine-not-kept", "This browser keeps nothing")
    assert not visitor.value("document.querySelector('#mine-kept').checkVisibility()")
    visitor.value("Storage.prototype.setItem = window.setItem, null")
    visitor.press("x")
    visitor.says("#mine-kept", "stay in this browser")
    assert not visitor.value("document.querySelector('#mine-not-kept').checkVisibility()")


@in_firefox_nightly
def test_a_drawing_and_the_text_both_survive_a_reload(visitor):
    visitor.paste(HEART)
    visitor.click("#tab-draw")
    for side in ("#draw-width", "#draw-height"):
        visitor.change(side, "2")
    visitor.focus_board()
    visitor.press("b", "ArrowRight", "ArrowDown", "b")
    visitor.wait_for(f"location.hash === '#puzzle={TWO}'")  # which has a second solution
    visitor.verdict()
    visitor.value("document.activeElement.blur()")
    drawn = visitor.picture()
    reload(visitor)
    assert visitor.value("document.querySelector('#tab-draw').ariaSelected") == "true"
    assert (visitor.picture() == drawn).all()
    visitor.click("#tab-text")
    visitor.says("#verdict", "5x5")
    assert visitor.value(TEXT) == HEART
    reload(visitor)
    assert visitor.value("document.querySelector('#tab-text').ariaSelected") == "true"
    visitor.click("#tab-draw")
    visitor.says("#verdict", "2x2")
    assert (visitor.picture() == drawn).all()


@in_firefox_nightly
@pytest.mark.parametrize(
    ("file", "said"),
    [
        (
            "new File([new Uint8Array([0, 1, 2, 255])], 'x.bin')",
            "x.bin cannot be read: the file contains binary data",
        ),
        ("new File(['no picture'], 'x.png', {type: 'image/png'})", "x.png cannot be read: unknown format"),
        (
            "new File([new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0])], 'x.png', {type: 'image/png'})",
            "not a picture that this browser can read",
        ),
        ("new File(['Dear Sir or Madam'], 'x.txt')", "x.txt cannot be read: unknown format"),
        ("new File(['  '], 'x.txt')", "x.txt cannot be read: it is blank"),
    ],
)
def test_a_file_without_a_puzzle_leaves_text_address_and_board(visitor, file, said):
    visitor.paste(ROBOT)
    address = visitor.value("location.href")
    assert not visitor.value(GIVEN % (file, "", "DragEvent", "drop"))
    visitor.says("#faults", said)
    visitor.says("#verdict", "Unique")
    visitor.says("#title", "A robot")
    assert visitor.value(TEXT) == ROBOT
    assert visitor.value("location.href") == address
    reload(visitor)
    assert visitor.value(TEXT) == ROBOT


def test_too_many_columns_of_a_picture_leave_the_board(visitor, tmp_path):
    image = pytest.importorskip("PIL.Image").new("1", (12, 6), 1)
    image.paste(0, (2, 1, 10, 5))
    image.save(tmp_path / "box.png")
    visitor.page.set_input_files("#file", tmp_path / "box.png")
    visitor.says("#verdict", "12x6")
    address, text = visitor.value("location.href"), visitor.value(TEXT)
    visitor.change("#picture-width", "500")
    visitor.says("#faults", "254")
    visitor.says("#verdict", "12x6")
    assert (visitor.value("location.href"), visitor.value(TEXT)) == (address, text)
    visitor.change("#picture-width", "6")
    visitor.says("#verdict", "6x3")
    assert visitor.text_of("#faults") == ""


@in_firefox_nightly
def test_a_reload_keeps_the_chosen_view(visitor):
    visitor.paste(HEART)
    for view in ("mine", "steps"):
        visitor.click(f"[data-view='{view}']")
        reload(visitor)
        assert shown_view(visitor) == view
    paint(visitor, "b")
    visitor.click("#mine-clear")
    reload(visitor)
    assert shown_view(visitor) == "mine"


@in_firefox_nightly
def test_the_last_change_is_undone_also_after_a_reload_and_another_puzzle(visitor):
    visitor.paste(HEART)
    paint(visitor, "b", "ArrowRight", "x")
    visitor.click("#mine-clear")
    reload(visitor)
    assert visitor.value(CELLS) == ""
    visitor.click("#mine-undo")
    assert visitor.value(CELLS) == "10"
    visitor.click("#mine-redo")
    visitor.paste("1-1")
    visitor.paste(HEART)
    visitor.click("#mine-undo")
    assert visitor.value(CELLS) == "10"
    visitor.click("#mine-undo")
    reload(visitor)
    visitor.click("#mine-undo")
    assert visitor.value(CELLS) == ""
    visitor.click("#mine-redo", "#mine-redo")
    assert visitor.value(CELLS) == "10"


@in_firefox_nightly
def test_fewer_undo_steps_are_stored_for_a_large_board(visitor):
    visitor.paste(oneline(Puzzle.from_grid([[1] * 60] * 60)))
    paint(visitor, *["b", "ArrowRight"] * 20)
    reload(visitor)
    visitor.focus_board()
    visitor.press(*["Control+z"] * 20)
    assert visitor.value(CELLS) == "1" * 6  # 50,000 characters are 14 boards
