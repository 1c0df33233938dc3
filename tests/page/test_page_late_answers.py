"""The page in a real browser: answers that come late change nothing that came after the question."""

import pytest

from tests.helpers.browser import HEART, ROBOT, TWO, in_both_browsers, paint

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("compiled")]

HOLD = """(async () => {
    const { python } = await import(new URL("static/api.js", document.baseURI).href);
    const ask = python.ask.bind(python);
    const may = new Promise(done => (window.release = done));
    python.ask = async (what, question, signal, data) => {
        if (what !== "%s") return ask(what, question, signal, data);
        delete python.ask;
        const told = await ask(what, question, null, data);
        await may;
        return told;
    };
})()"""
"""Holds the next answer of the page's Python of a kind back until `release` is called, also if nobody wants it."""

COUNT = """import(new URL("static/api.js", document.baseURI).href).then(({ python }) => {
    const ask = python.ask.bind(python);
    window.asked = [];
    python.ask = (what, ...rest) => (window.asked.push(what), ask(what, ...rest)); })"""
"""Keeps the kinds of the questions that the page asks its Python from now on."""

COUNT_NO_MORE = (
    'import(new URL("static/api.js", document.baseURI).href).then(({ python }) => { delete python.ask; })'
)

FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Waits until the page has taken what came before."""


def test_a_late_answer_is_ignored(visitor):
    visitor.paste(HEART)
    paint(visitor, "b")
    for button, text in (("#mine-undo", ""), ("#mine-check", "No cell is set yet.")):
        visitor.value(HOLD % "hint")
        visitor.click("#mine-hint")
        assert visitor.text_of("#hint") == "Asking …"
        visitor.click(button)
        visitor.value("window.release()")
        visitor.value(FRAMES)
        assert visitor.text_of("#hint") == text
        assert visitor.value("document.querySelector('#mine-take').hidden")


def test_a_board_counts_as_solved_even_before_its_verdict(visitor):
    visitor.paste(TWO)
    visitor.click("[data-view='mine']")
    visitor.value(HOLD % "solve")
    visitor.value("document.querySelector('#text').select()")
    visitor.insert("1-1")
    visitor.says("#verdict", "Solving …")
    visitor.focus_board()
    visitor.press("b")
    assert visitor.text_of("#hint") == "Solved."
    visitor.value("window.release()")
    assert visitor.verdict() == "unique"
    assert visitor.text_of("#hint") == "Solved."


def test_a_second_click_during_a_request_sends_no_request(visitor):
    visitor.paste(HEART)
    visitor.click("[data-view='mine']")
    visitor.value(HOLD % "hint")
    visitor.click("#mine-hint")
    visitor.value(COUNT)
    visitor.click("#mine-hint")
    visitor.value("window.release()")
    visitor.says("#hint", "Row 2")
    assert visitor.value("window.asked") == []
    visitor.value(COUNT_NO_MORE)


def test_requested_steps_are_not_requested_again_when_viewed(visitor):
    visitor.paste(HEART)
    visitor.value(HOLD % "steps")
    visitor.click("[data-view='steps']")
    visitor.value(COUNT)
    visitor.click("[data-view='solution']", "[data-view='steps']")
    visitor.value("window.release()")
    visitor.wait_for("Number(document.querySelector('#step-place').max) > 0")
    assert visitor.value("window.asked") == []
    visitor.value(COUNT_NO_MORE)


def test_a_width_that_is_being_typed_is_kept_if_an_answer_comes(visitor, tmp_path):
    image = pytest.importorskip("PIL.Image").new("1", (12, 6), 1)
    image.save(tmp_path / "white.png")
    visitor.page.set_input_files("#file", tmp_path / "white.png")
    visitor.says("#verdict", "12x6")
    visitor.value(HOLD % "read")
    visitor.value("document.querySelector('#picture-invert').click()")
    visitor.page.fill("#picture-width", "6")
    visitor.says("#verdict", "Reading …")
    visitor.value("window.release()")
    visitor.says("#verdict", "12x6")
    visitor.page.locator("#picture-width").blur()
    visitor.says("#verdict", "6x3")
    visitor.value(HOLD % "read")
    visitor.value("document.querySelector('#picture-invert').click()")
    visitor.value("document.querySelector('#text').select()")
    visitor.insert(HEART)
    visitor.value("window.release()")
    assert visitor.verdict() == "unique"
    assert visitor.value("document.querySelector('#picture-options').hidden")


def test_drawing_goes_on_if_a_text_is_still_being_read(visitor):
    visitor.value(HOLD % "read")
    visitor.value("document.querySelector('#text').focus()")
    visitor.insert(HEART)
    visitor.says("#verdict", "Reading …")
    visitor.click("#tab-draw")
    visitor.value("window.release()")
    visitor.value(FRAMES)
    assert visitor.value("document.querySelector('#tab-draw').ariaSelected") == "true"
    visitor.click("#tab-text")
    visitor.value("document.querySelector('#text').select()")
    visitor.insert("1")
    visitor.value(  # at once, before what was typed is read
        "document.querySelector('#text').dispatchEvent(new InputEvent('input', {inputType: 'insertText'})),"
        "document.querySelector('#tab-draw').click(), document.querySelector('#verdict').dataset.verdict = 'none'"
    )
    assert visitor.verdict() != "fault"  # that on the drawing comes after the typing
    assert visitor.value("document.querySelector('#tab-draw').ariaSelected") == "true"


def test_a_file_that_is_saved_late_has_the_name_of_its_puzzle(visitor):
    visitor.paste(ROBOT)
    visitor.value(HOLD % "write")
    visitor.click("#take-file")
    visitor.paste(HEART)
    with visitor.page.expect_download() as download:
        visitor.value("window.release()")
    assert download.value.suggested_filename == "A-robot.non"
    visitor.value(FRAMES)
    assert visitor.text_of("#take-said") == ""  # it would speak of the puzzle that is shown


CHANGE = """((text, kind) => { const field = document.querySelector("#text"); field.value = text;
    field.dispatchEvent(new InputEvent("input", { inputType: kind })); })"""
"""Makes the text another one, as by the event of that kind."""

LATER = "new Promise((done) => setTimeout(done, 300))"
"""Waits for a timer that ends after those of the page, which say that something takes long."""


@in_both_browsers
def test_an_abandoned_search_shows_no_progress(visitor):
    visitor.paste(HEART)
    visitor.value(HOLD % "solve")
    nothing = "document.querySelector('#verdict').dataset.verdict === 'none'"
    visitor.value(
        f"""(async () => {{ {CHANGE}("{TWO}", "insertFromPaste");
        while (!document.querySelector("#board").ariaLabel.includes("2 columns")) await {FRAMES};
        {CHANGE}("", "deleteByCut");
        while (!({nothing})) await {FRAMES};
        await {LATER}; }})()"""
    )
    assert visitor.value(nothing)
    visitor.value("window.release()")
    visitor.value(FRAMES)
    assert visitor.value(nothing)


@in_both_browsers
def test_late_download_progress_does_not_announce_a_restart(visitor):
    visitor.value(
        """(async () => { const { python } = await import(new URL("static/api.js", document.baseURI).href);
        const Usual = Worker;
        Worker = class extends Usual { constructor(...all) { super(...all); window.worker = this; } };
        python.start();
        Worker = Usual; })()"""
    )
    ready = "document.documentElement.dataset.python === 'ready'"
    visitor.wait_for(ready)
    visitor.value("void window.worker.dispatchEvent(new MessageEvent('message', { data: { loaded: 1 } }))")
    assert visitor.value(ready)
    assert not visitor.value("document.querySelector('#loading').checkVisibility()")
    visitor.open("about:blank")  # which ends the worker before
