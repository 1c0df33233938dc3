"""Random sequences of what a visitor does on the page of puzzles; all of the page then speaks of one puzzle."""

from __future__ import annotations

import json
import random
from typing import Any

from tests.helpers.tabs import Tab

ACTIONS = 30

TEXTS = (
    "1,1:5:5:3:1-2:4:4:4:2",
    "1:1-1:1",
    "1-1",
    "1-2",
    "",
    "1,1:1-1:1:1\n2:0-1:1\n",
    'title "One"\nwidth 2\nheight 1\n\nrows\n1\n\ncolumns\n1\n0\n',
)
LINKS = ("1:1-1:1", "2-1:1", "1-2", "3:3:3-3:3:3")
SETS = (("boardgen:5x4x9:seed=1", 2), ("boardgen:3x6x9:seed=1", 1), ("nothing", 1))
KEYS = ("b", "x", " ", "ArrowRight", "ArrowDown")

HOLD = """import(new URL("static/api.js", document.baseURI).href).then(({ python }) => {
    const ask = python.ask.bind(python);
    let seed = %d;
    window.asked = 0;
    const random = () => (seed = (seed * 1103515245 + 12345) %% 2147483648) / 2147483648;
    python.ask = async (what, question, signal, data) => {
        const wait = random() < 0.5 ? 0 : 400 * random();
        let answer, error;
        window.asked++;
        const own = random() < 0.5 ? signal : null;
        try { answer = await ask(what, question, own, data); } catch (one) { error = one; }
        await new Promise((done) => setTimeout(done, wait));
        setTimeout(() => window.asked--); // once the page has taken it
        if (error) throw error;
        return answer;
    };
})"""
"""Holds answers of the page's Python back for a random time, also some that nobody wants any more."""

STATE = """(async () => {
    const { python } = await import(new URL("static/api.js", document.baseURI).href);
    const text = (place) => document.querySelector(place).textContent;
    const link = new URLSearchParams(location.hash.slice(1)).get("puzzle");
    const read = (data, number) => python.ask("read", { number }, null, data);
    const sizeOf = ({ board }) => (board ? `${board.columns.length}x${board.rows.length}` : "");
    const isDrawing = document.querySelector("#tab-draw").ariaSelected === "true";
    const field = document.querySelector("#text").value;
    const isOne = document.querySelector("#chooser").hidden;
    const chooser = isOne ? 1 : Number(document.querySelector("#chooser-number").value);
    const ofText = field.trim() ? await read(field, chooser) : { link: "", faults: [] };
    const ofLink = link ? await read(link, 1) : { link: "" };
    const shown = document.querySelector("#board").ariaLabel?.match(/(\\d+) columns? by (\\d+)/);
    return JSON.stringify({
        isDrawing, field, link, said: text("#verdict"),
        verdict: document.querySelector("#verdict").dataset.verdict,
        title: text("#title"), ofText: ofText.link, faults: ofText.faults.length, textSize: sizeOf(ofText),
        ofLink: ofLink.link, linkSize: sizeOf(ofLink), linkTitle: ofLink.board?.title ?? "",
        board: document.querySelector("#board-card").hidden ? "" : `${shown[1]}x${shown[2]}`,
        stale: Boolean(document.querySelector(".stale")),
    });
})()"""

SETTLED = """(() => { const box = document.querySelector("#verdict");
    return !window.asked && box.ariaBusy !== "true" && box.dataset.verdict !== "busy"; })()"""
"""Whether no answer is held back, also none that nobody wants any more, and the page waits for none."""


def run_sequence(tab: Tab, address: str, seed: int) -> None:
    """Open the page and do what a random visitor does, without waiting for anything."""
    chosen = random.Random(seed)
    tab.open("about:blank")
    tab.open(address)
    _ready(tab, chosen)
    for _ in range(ACTIONS):
        chosen.choice(_ACTIONS)(tab, chosen)


def _ready(tab: Tab, chosen: random.Random) -> None:
    tab.wait_for("document.documentElement.dataset.python === 'ready'")
    tab.wait_for("document.querySelectorAll('#samples .chip').length > 0")
    tab.value(HOLD % chosen.randrange(2**31))


def agree(tab: Tab) -> str:
    """Return in which respect text, address, board and verdict do not speak of one puzzle, or an empty string."""
    tab.wait_for(SETTLED)
    state: dict[str, Any] = json.loads(tab.value(STATE))
    problems = []
    if state["isDrawing"]:
        if not state["link"]:
            problems.append("no address of what is drawn")
        size = state["linkSize"]
    else:
        if state["ofText"] != state["ofLink"]:
            problems.append("text and address")
        size = state["textSize"]
        if bool(state["faults"] and not state["ofText"]) != (state["verdict"] == "fault"):
            problems.append("faults and verdict")
        if not state["field"].strip() and (state["board"] or state["verdict"] != "none"):
            problems.append("blank text")
    if size:
        if state["board"] != size or state["stale"]:
            problems.append("board")
        if f" {size} " not in state["said"]:
            problems.append("verdict")
        if state["title"].partition(" by ")[0] != state["linkTitle"]:
            problems.append("title")
    return f"{', '.join(problems)}: {state}" if problems else ""


def _focused(tab: Tab, place: str) -> None:
    tab.value(f"document.querySelector({place!r}).focus()")


def _clicked(tab: Tab, place: str) -> None:
    tab.value(f"((one) => one && one.checkVisibility() && one.click())(document.querySelector({place!r}))")


def _type(tab: Tab, chosen: random.Random) -> None:
    _clicked(tab, "#tab-text")
    _focused(tab, "#text")
    for _ in range(chosen.randint(1, 3)):
        tab.press(chosen.choice("1,:-"))


def _paste(tab: Tab, chosen: random.Random) -> None:
    _clicked(tab, "#tab-text")
    tab.value("document.querySelector('#text').focus(), document.querySelector('#text').select()")
    if text := chosen.choice(TEXTS):
        tab.insert(text)
    else:
        tab.press("Delete")


def _pick(tab: Tab, chosen: random.Random) -> None:
    _clicked(tab, "#tab-pick")
    if chosen.random() < 0.5:
        return _clicked(tab, f"#samples .chip:nth-child({chosen.randint(1, 4)})")
    name, number = chosen.choice(SETS)
    tab.value(f"document.querySelector('#set-name').value = {name!r}")
    tab.value(f"document.querySelector('#set-number').value = {number}")
    return _clicked(tab, "#set-form button")


def _link(tab: Tab, chosen: random.Random) -> None:
    tab.value(
        "((hash) => location.hash === hash ? null : new Promise((done) => {"
        "    addEventListener('hashchange', () => done(), { once: true });"
        f"    location.hash = hash; }}))('#puzzle={chosen.choice(LINKS)}')"
    )


def _draw(tab: Tab, chosen: random.Random) -> None:
    _clicked(tab, "#tab-draw")
    if chosen.random() < 0.3:
        _clicked(tab, chosen.choice(("#draw-use", "#draw-from", "#draw-invert")))
    _paint(tab, chosen)


def _paint(tab: Tab, chosen: random.Random) -> None:
    if chosen.random() < 0.5:
        _clicked(tab, "[data-view='mine']")
    if tab.value("document.querySelector('#board').checkVisibility()"):
        _focused(tab, "#board")
        tab.press(*chosen.choices(KEYS, k=3))


def _undo(tab: Tab, chosen: random.Random) -> None:
    _clicked(tab, chosen.choice(("#mine-undo", "#mine-redo", "#draw-undo", "#draw-redo")))


def _back(tab: Tab, _: random.Random) -> None:
    """Go back to the address before, if it is one of the page."""
    tab.value(
        "((one) => one?.url?.startsWith(location.href.split('#')[0]) ? new Promise((done) => {"
        "    addEventListener('popstate', () => done(), { once: true });"
        "    history.back(); }) : null)"
        "(navigation.entries()[navigation.currentEntry.index - 1])"
    )


def _reload(tab: Tab, chosen: random.Random) -> None:
    tab.reload()
    _ready(tab, chosen)


def _switch(tab: Tab, chosen: random.Random) -> None:
    _clicked(tab, chosen.choice(("#tab-text", "#tab-draw", "#tab-pick", "#chooser-next", "#hide-solution")))
    _clicked(tab, f"[data-view='{chosen.choice(('solution', 'steps', 'mine'))}']")


_ACTIONS = (_type, _paste, _pick, _link, _draw, _paint, _undo, _back, _reload, _switch)
