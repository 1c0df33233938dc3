"""The page in a real browser as a player uses it: what stays, what comes first, what is marked and printed."""

import os
import re
from urllib.parse import quote

import pytest

from nonobot.protocol import Puzzle
from nonobot.protocol.formats import read
from tests.helpers.browser import HEART, ROBOT, TWO, in_both_browsers, oneline, paint, reload
from tests.helpers.page_sequences import agree, run_sequence

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("compiled"),
    pytest.mark.parametrize("page_server", ["exported"], indirect=True),  # the server does nothing for a player
]

FINISHED = (0x7B, 0x87, 0x97)
WRONG = (0xE0, 0x3A, 0x2E)
HINTED = (0x2F, 0x6F, 0xDE)


def hidden_and_bars(visitor) -> list[int]:
    """Return in pixels how much of the board the canvas does not show, and how thick the frame's bars are."""
    hidden = "frame.scrollWidth - canvas.offsetWidth, frame.scrollHeight - canvas.offsetHeight"
    bars = "frame.offsetWidth - frame.clientWidth, frame.offsetHeight - frame.clientHeight"
    elements = "document.querySelector('#frame'), document.querySelector('#board')"
    return visitor.value(f"((frame, canvas) => [{hidden}, {bars}])({elements})")


@in_both_browsers
def test_an_attempt_survives_reload_draw_and_edits_that_leave_the_clues(visitor):
    visitor.paste(ROBOT)
    paint(visitor, "b", "ArrowRight", "x")
    visitor.press("ArrowLeft")
    assert hidden_and_bars(visitor) == [0] * 4
    painted = visitor.picture()
    visitor.value("document.activeElement.blur()")
    visitor.paste(ROBOT.replace("A robot", "Another robot"))
    assert visitor.text_of("#title") == "Another robot by nonobot"
    visitor.focus_board()
    assert (visitor.picture() == painted).all()
    visitor.click("#tab-draw")
    visitor.verdict()
    visitor.click("#tab-text")
    visitor.says("#title", "Another robot")
    visitor.focus_board()
    assert (visitor.picture() == painted).all()
    visitor.paste(HEART)
    reload(visitor)
    assert visitor.value("document.querySelector('#text').value") == HEART
    visitor.paste(ROBOT)
    paint(visitor)
    assert visitor.text_of("#place").startswith("row 1, column 1: black")
    visitor.press("ArrowRight")
    assert visitor.text_of("#place").startswith("row 1, column 2: white")
    for answer in ("false", "true"):
        visitor.value(f"window.confirm = () => {answer}, null")
        visitor.click("#mine-forget")
        kept = visitor.value("JSON.parse(localStorage.nonobot).attempts.length")
        assert kept == (0 if answer == "true" else 1)


def test_the_attempts_at_the_last_fifty_puzzles_are_kept(visitor):
    for width in range(1, 53):
        visitor.paste(f"{width + 1}-{':'.join(['1'] * (width + 1))}")
        paint(visitor, "b")
    kept = visitor.value("JSON.parse(localStorage.nonobot).attempts.map(({ puzzle }) => puzzle.split('-')[0])")
    assert kept == [str(width + 1) for width in range(52, 2, -1)]


def test_puzzles_that_were_begun_are_listed_and_open_again(visitor):
    visitor.paste(oneline(Puzzle([[1]], [[1]])))
    paint(visitor, "b")
    visitor.paste(ROBOT)
    paint(visitor, "b")
    visitor.click("#tab-pick")
    names = "Array.from(document.querySelectorAll('#begun .chip'), ({ textContent }) => textContent)"
    assert visitor.value(names) == ["A robot", "1x1 ✓"]
    visitor.click("#tab-text")
    visitor.paste(HEART)
    visitor.click("#tab-pick")
    paint(visitor, "b")  # while the list is shown
    assert visitor.value(names) == ["5x5", "A robot", "1x1 ✓"]
    visitor.click("#begun .chip:last-child")
    visitor.says("#verdict", "1x1")
    assert visitor.text_of("#hint").startswith("Solved")


def test_a_puzzle_that_is_solved_leads_to_the_next(visitor):
    visitor.paste("1-1\n\n2-1:1\n")
    paint(visitor, "b")
    visitor.click("#mine-next")
    visitor.says("#verdict", "2x1")
    assert not visitor.value("document.querySelector('#mine-next').offsetWidth")
    visitor.click("#tab-pick")
    visitor.change("#set-name", "boardgen:1x1x2:seed=1")
    visitor.value("document.querySelector('#set-form').requestSubmit()")
    visitor.says("#verdict", "1x1")
    paint(visitor, "x")  # its only cell is white
    reload(visitor)
    visitor.click("#tab-pick", "#mine-next")
    visitor.wait_for("document.querySelector('#set-number').value === '2'")


def solve_by_hints(visitor) -> None:
    visitor.click("[data-view='mine']")
    solved = "document.querySelector('#hint').textContent.startsWith('Solved')"
    while not visitor.value(solved):
        visitor.click("#mine-hint")
        visitor.wait_for("!document.querySelector('#mine-take').hidden")
        visitor.click("#mine-take")


@in_both_browsers
@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_a_solved_puzzle_leads_on_also_in_a_later_visit_and_the_board_has_the_focus(visitor, by):
    visitor.click("#tab-pick", "#samples .chip")
    visitor.says("#title", "A heart")
    solve_by_hints(visitor)
    reload(visitor)
    visitor.says("#mine-next", "Next puzzle")
    if by == "mouse":
        visitor.click("#mine-next")
    else:
        visitor.value("document.querySelector('#mine-next').focus()")
        visitor.press("Enter")
    visitor.says("#title", "A sailing boat")
    visitor.verdict()
    visitor.press("ArrowRight", "b")
    assert visitor.text_of("#place").startswith("row 1, column 2: black")
    visitor.press("h")
    visitor.wait_for("!document.querySelector('#mine-take').hidden")
    visitor.value("history.back()")
    visitor.says("#title", "A heart")
    visitor.says("#mine-next", "Next puzzle")
    visitor.paste("1-1")  # no sample: the first that is not solved follows
    paint(visitor, "b")
    visitor.click("#mine-next")
    visitor.says("#title", "A sailing boat")


@in_both_browsers
def test_typed_text_and_its_faults_survive_reload_and_draw(visitor):
    assert visitor.paste("1-2") == "fault"
    visitor.click("#tab-draw")
    assert visitor.verdict() == "unique"
    visitor.click("#tab-text")
    assert visitor.verdict() == "fault"
    reload(visitor)
    assert visitor.value("document.querySelector('#text').value") == "1-2"
    assert visitor.text_of("#faults").startswith("line 1: ")


def test_a_drawn_puzzle_can_be_played(visitor):
    visitor.paste(HEART)
    visitor.click("#tab-draw")
    visitor.change("#draw-width", "2")
    visitor.change("#draw-height", "1")
    visitor.focus_board()
    visitor.press("b")
    visitor.click("#draw-use")
    visitor.says("#verdict", "2x1")
    assert visitor.value("document.querySelector('#text').value") == "1-1:0"
    assert visitor.value("location.hash") == "#puzzle=1-1:0"


def test_the_address_follows_a_drawing_of_many_cells_once(visitor):
    """Browsers take few changes of an address in a short time; Firefox refuses further ones with an error."""
    visitor.click("#tab-draw")
    visitor.change("#draw-width", "30")
    visitor.change("#draw-height", "1")
    visitor.focus_board()
    visitor.wait_for("location.hash.startsWith('#puzzle=0-')")
    visitor.value(
        """(() => { const change = history.replaceState.bind(history);
        window.changes = 0;
        history.replaceState = (...all) => (window.changes++, change(...all));
        const board = document.querySelector("#board");
        const press = (key) => board.dispatchEvent(new KeyboardEvent("keydown", { key }));
        for (let cell = 0; cell < 30; cell++) (press("b"), press("ArrowRight")); })()"""
    )
    visitor.wait_for(f"location.hash === '#puzzle=30-{':'.join(['1'] * 30)}'")
    assert visitor.value("window.changes") == 1
    assert visitor.verdict() == "unique"
    visitor.value("delete history.replaceState")


@in_both_browsers
def test_puzzles_open_in_play_view_if_the_setting_is_on(visitor):
    visitor.click("#tab-pick", "#samples .chip")
    assert visitor.verdict() == "unique"
    visitor.click("#hide-solution")
    assert sum(map(sum, visitor.dark_cells(7, 7))) == 0
    visitor.click("[data-view='solution']")
    assert sum(map(sum, visitor.dark_cells(7, 7))) > 0
    for is_again in (False, True):
        if is_again:
            reload(visitor)
        else:
            visitor.value(f"void (location.hash = 'puzzle={HEART}')")
        visitor.says("#verdict", "5x5")
        assert visitor.value("document.querySelector('[data-view=mine]').ariaPressed") == "true"
        assert visitor.value("document.querySelector('#hide-solution').checked")
        assert sum(map(sum, visitor.dark_cells(5, 5))) == 0


def test_mistakes_are_marked_at_once_if_the_setting_is_on(visitor):
    visitor.paste(HEART)
    paint(visitor, "b")  # it is white
    assert not visitor.coloured(*WRONG)
    visitor.click("#mine-mistakes")
    assert visitor.coloured(*WRONG)
    visitor.click("#mine-undo")
    assert not visitor.coloured(*WRONG)
    assert visitor.value("document.querySelector('#mine-undo').ariaDisabled === 'true'")
    visitor.click("#mine-redo")
    assert visitor.coloured(*WRONG)
    assert visitor.text_of("#place") == "\N{NO-BREAK SPACE}"  # no cell is pointed at


@in_both_browsers
def test_a_note_below_the_board_explains_why_mistakes_are_not_marked(visitor):
    for text, said in ((TWO, "several solutions"), ("2:0-2:0", "no solution"), (HEART, "")):
        visitor.paste(text)
        visitor.click("[data-view='mine']")
        note = visitor.text_of("#mine-note")
        assert said in note
        assert bool(note) == bool(said)
        paint(visitor, "b")
        assert visitor.text_of("#mine-note") == note


@in_both_browsers
def test_a_hint_marks_its_cells_explains_them_and_reacts_to_a_second_tap(visitor):
    visitor.paste(HEART)
    visitor.click("[data-view='mine']")
    assert not visitor.coloured(*HINTED)
    visitor.click("#mine-hint")
    visitor.says("#hint", "This follows from its clue alone.")
    hint = visitor.text_of("#hint")
    assert visitor.coloured(*HINTED) > 5 * 40  # pixels in five cells, and the numbers of their row
    visitor.click("#mine-hint")
    visitor.says("#hint", f"{hint} Nothing has changed since.")
    visitor.click("#mine-take")
    assert not visitor.coloured(*HINTED)
    for _ in range(2):
        visitor.click("#mine-hint")
        visitor.wait_for("!document.querySelector('#mine-take').hidden")
        visitor.click("#mine-take")
    visitor.click("#mine-hint")
    visitor.says("#hint", "This follows from its clue and the cells that are set there.")


@in_both_browsers
def test_checking_an_unsolvable_puzzle_reports_that_no_solution_exists(visitor):
    assert visitor.paste("2:0-2:0") == "unsolvable"
    paint(visitor, "b")
    visitor.click("#mine-check")
    visitor.says("#hint", "The puzzle has no solution.")


@in_both_browsers
@pytest.mark.parametrize("mark", "?#")
def test_an_address_of_the_page_that_is_pasted_opens_its_puzzle(visitor, page_server, mark):
    visitor.paste("1-1")
    assert visitor.paste(f" https://example.org/nonograms/{mark}puzzle={HEART.replace(':', '%3A')}\n") == "unique"
    visitor.says("#verdict", "5x5")
    assert visitor.value("document.querySelector('#text').value") == HEART
    assert visitor.value("location.href") == f"{page_server.address}#puzzle={HEART}"


def test_the_message_about_a_link_disappears_with_its_puzzle(visitor):
    visitor.paste(HEART)
    visitor.click("#take-link")
    visitor.wait_for("/link|#puzzle=/.test(document.querySelector('#take-said').textContent)")
    visitor.paste("1-1")
    assert visitor.text_of("#take-said") == ""


@in_both_browsers
def test_finished_clues_are_grey_and_a_solved_board_shows_a_message(visitor):
    visitor.paste("1,1:1-1:1:1")
    paint(visitor, "b")
    assert visitor.coloured(*FINISHED)
    visitor.press("Control+z")
    assert not visitor.coloured(*FINISHED)
    visitor.press("Control+y")
    assert visitor.coloured(*FINISHED)
    visitor.press("ArrowRight", "ArrowRight", "b", "ArrowDown", "ArrowLeft")
    assert visitor.text_of("#hint") == ""
    visitor.press("b")
    assert visitor.text_of("#hint").startswith("Solved")
    assert visitor.coloured(*FINISHED)
    reload(visitor)
    assert visitor.value("document.querySelector('[data-view=mine]').ariaPressed") == "true"  # as it was begun
    assert visitor.text_of("#hint").startswith("Solved")


@in_both_browsers
def test_an_address_leads_back_to_the_puzzle_before(visitor):
    visitor.paste(HEART)
    visitor.click("#tab-pick", "#samples .chip")
    visitor.says("#title", "A heart")
    linked = "new URLSearchParams(location.hash.slice(1)).get('puzzle')"
    assert visitor.value(f"{linked} === document.querySelector('#text').value")
    visitor.value("history.back()")
    visitor.wait_for(f"document.querySelector('#text').value === '{HEART}'")
    assert visitor.value("location.hash") == f"#puzzle={HEART}"
    visitor.says("#verdict", "5x5")
    assert visitor.text_of("#title") == ""


@in_both_browsers
def test_a_link_and_going_back_lead_to_the_board_without_a_new_entry(visitor):
    visitor.shape(390, height=844)
    top = "Math.abs(Math.round(document.querySelector('#board-card').getBoundingClientRect().top)) <= 2"
    title = "document.querySelector('#title').textContent.split(' by')[0]"
    robot = oneline(next(iter(read(ROBOT.encode(), "non"))).puzzle)
    entries = []
    other = ROBOT.replace("A robot", "Another")
    for link, name in ((robot, ""), (quote(ROBOT), "A robot"), (quote(other), "Another")):
        visitor.value(f"scrollTo(0, 0), void (location.hash = 'puzzle={link}')")
        visitor.wait_for(f"{title} === '{name}' && {top}")
        visitor.verdict()
        entries.append(visitor.value("history.length"))
        assert (link in visitor.value("location.hash")) == (not name)  # the page writes the others in another form
    assert entries == [entries[0], entries[0] + 1, entries[0] + 2]
    for name in ("A robot", ""):
        visitor.value("scrollTo(0, 0), history.back()")
        visitor.wait_for(f"{title} === '{name}' && {top}")
        visitor.verdict()
    assert visitor.value("location.hash") == f"#puzzle={robot}"
    assert visitor.value("history.length") == entries[-1]


def test_a_stopped_search_can_be_continued(visitor):
    visitor.value(
        """import(new URL("static/api.js", document.baseURI).href).then(({ python, CANCELLED }) => {
        const ask = python.ask.bind(python);
        window.limits = [];
        python.ask = (what, question, ...rest) => {
            window.limits.push(question.seconds);
            if (window.limits.length > 1) delete python.ask;
            return window.limits.length > 1 ? ask(what, question, ...rest) : Promise.reject(new Error(CANCELLED));
        }; })"""
    )
    visitor.click("#tab-pick", "#samples .chip")
    assert visitor.verdict() == "unknown"
    visitor.click("#more")
    visitor.wait_for("document.querySelector('#verdict').dataset.verdict === 'unique'")
    assert visitor.value("window.limits")[1] == 60
    assert visitor.value("document.querySelector('#more').hidden")


@in_both_browsers
@pytest.mark.parametrize(("side", "width", "height"), [(25, 390, 844), (60, 1400, 800), (60, 390, 844)])
def test_fit_shows_the_whole_board_and_explains_how_to_zoom(visitor, side, width, height):
    visitor.shape(width, height=height)
    visitor.paste(f"{':'.join([str(side)] * side)}-{':'.join([str(side)] * side)}")
    visitor.click("[data-view='mine']", "#zoom-in", "#zoom-in", "#zoom-fit")
    assert hidden_and_bars(visitor) == [0] * 4
    visitor.point_at(0, 0)
    assert ("+ makes them larger" in visitor.text_of("#place")) == (side == 60)
    visitor.keep(f"page-fit-{side}-{width}")
    visitor.click(*["#zoom-out"] * 5)
    has_clues = visitor.picture().max(axis=2).min() < 150
    assert has_clues == (side == 25)  # the clues of the other boards are in no whole view


def test_clear_does_not_reset_the_clock(visitor):
    visitor.paste(HEART)
    paint(visitor, "b")
    visitor.wait_for("document.querySelector('#mine-clock').textContent !== '0:00'")
    visitor.click("#mine-clear")
    assert visitor.text_of("#mine-clock") != "0:00"


@pytest.mark.parametrize("solution", [False, True])
def test_a_sheet_with_the_empty_grid_is_printed_and_the_solution_on_a_second_page(visitor, solution):
    visitor.paste(ROBOT)
    visitor.value("window.printed = false, window.print = () => (window.printed = true), null")
    if solution:
        visitor.click("#print-solution")
    visitor.click("#take-print")
    visitor.wait_for("window.printed")
    titles = visitor.value("[...document.querySelectorAll('#sheets h1')].map(one => one.textContent)")
    assert titles == ["A robot", "A robot (solution)"][: 1 + solution]
    pdf = visitor.page.pdf()
    assert len(re.findall(rb"/Type */Page\b(?!s)", pdf)) == 1 + solution
    visitor.value("dispatchEvent(new Event('afterprint'))")
    assert visitor.value("document.querySelector('#sheets').children.length") == 0


def test_the_print_of_the_browser_has_the_whole_board(visitor):
    visitor.paste(oneline(Puzzle.from_grid([[1] * 60] * 60)))
    visitor.click("[data-view='mine']", *["#zoom-in"] * 6)
    frame = "document.querySelector('#frame')"
    visitor.value(f"{frame}.scrollTo(100, 50)")
    state = f"[{frame}.offsetWidth, {frame}.offsetHeight, {frame}.scrollLeft, {frame}.scrollTop]"
    before = visitor.value(state)
    hidden = "[one.scrollWidth - one.clientWidth, one.scrollHeight - one.clientHeight, one.offsetWidth]"
    visitor.value(f"addEventListener('beforeprint', () => {{ const one = {frame}; window.printed = {hidden}; }})")
    assert visitor.value(f"(one => {hidden})({frame})")[0] > 100
    visitor.page.pdf()
    assert visitor.value("window.printed.slice(0, 2)") == [0, 0]
    assert visitor.value("window.printed[2]") <= 640
    assert visitor.value(state) == before


def test_a_hint_on_a_solved_board_keeps_its_message(visitor):
    visitor.paste("1-1")
    paint(visitor, "b")
    visitor.click("#mine-hint")
    assert visitor.text_of("#hint").startswith("Solved")


@pytest.mark.parametrize("seed", range(int(os.environ.get("NONOBOT_TEST_SEQUENCES", "2"))))
def test_text_address_board_and_verdict_agree_after_any_actions(visitor, page_server, seed):
    run_sequence(visitor, page_server.address, seed)
    assert agree(visitor) == ""
