"""Firefox for the tests, an installed one without a window, driven by WebDriver BiDi."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.tabs import PATIENCE_SECONDS, Point, Tab, points_of
from tests.helpers.waiting import wait_until

client = pytest.importorskip("websockets.sync.client", reason="websockets is not installed")

NAMES = ("firefox-esr", "firefox")
PREFERENCES = {
    "app.normandy.enabled": False,
    "app.update.enabled": False,
    "browser.safebrowsing.update.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.push.connection.enabled": False,
    "extensions.update.enabled": False,
    "layout.css.prefers-color-scheme.content-override": 1,  # light
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "toolkit.telemetry.server": "",
    "ui.allPointerCapabilities": 7,  # also a finger: as on a laptop whose screen can be touched
}
"""Settings of the profile: nothing is asked of anybody, and colours and pointers are the same everywhere."""

KEYS = {
    "Shift": "\ue008", "Control": "\ue009", "Alt": "\ue00a", "Tab": "\ue004", "Enter": "\ue006",
    "Escape": "\ue00c", "Delete": "\ue017", "Home": "\ue011", "End": "\ue010", "PageUp": "\ue00e",
    "PageDown": "\ue00f", "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
}  # fmt: skip
"""Names of keys in events, and what WebDriver calls these keys."""

MIDDLE = """(place => {
    const one = document.querySelector(place);
    if (!one?.checkVisibility() || one.disabled) return null;
    one.scrollIntoView({ block: "nearest" });
    const box = one.getBoundingClientRect();
    const [x, y] = [Math.round(box.left + box.width / 2), Math.round(box.top + box.height / 2)];
    return one.contains(document.elementFromPoint(x, y)) ? [x, y] : null;
})(%s)"""
"""The middle of an element in the window, once a visitor can click there."""


def firefox_command() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


class Firefox(Tab):
    """A Firefox with one tab; a context manager that leaves no process and no folder behind.

    `requests` has the addresses that it asked for since the page was opened, `complaints` errors and warnings.
    """

    def __init__(self, command: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="nonobot-firefox-")
        lines = [f'user_pref("{name}", {json.dumps(value)});' for name, value in PREFERENCES.items()]
        Path(self._folder.name, "user.js").write_text("\n".join(lines))
        options = ["--headless", "--no-remote", "--profile", self._folder.name, "--remote-debugging-port", "0"]
        self.process = subprocess.Popen(
            [command, *options, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._connection = ExitStack()
        self._number = 0
        self.requests: list[str] = []
        self.complaints: list[str] = []
        try:
            connection = client.connect(f"{self._address()}/session", max_size=None, proxy=None)
            self._socket = self._connection.enter_context(connection)
            self.ask("session.new", capabilities={})
            self.ask("session.subscribe", events=["network.beforeRequestSent", "log.entryAdded"])
            # The tab that it starts with gets no focus, and no events of it, as long as no desktop gives it some.
            self._context = self.ask("browsingContext.create", type="tab")["context"]
        except BaseException:
            self.__exit__()
            raise

    def _address(self) -> str:
        """Return the address that the browser writes into its profile."""
        announced = Path(self._folder.name, "WebDriverBiDiServer.json")
        wait_until(lambda: announced.exists() and announced.read_text().rstrip().endswith("}"), self.process)
        place = json.loads(announced.read_text())
        return f"ws://{place['ws_host']}:{place['ws_port']}"

    def __exit__(self, *_: object) -> None:
        if hasattr(self, "_socket"):
            self.ask("browser.close")
            self._connection.close()
        else:
            self.process.kill()
        self.process.wait(timeout=PATIENCE_SECONDS)
        self._folder.cleanup()

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the answer to a request of the protocol; note the events that come before it."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while (message := json.loads(self._socket.recv(timeout=PATIENCE_SECONDS))).get("id") != self._number:
            if message.get("method") == "network.beforeRequestSent":
                self.requests.append(message["params"]["request"]["url"])
            elif message.get("method") == "log.entryAdded" and message["params"]["level"] in ("error", "warn"):
                self.complaints.append(message["params"]["text"])
        assert message["type"] == "success", message
        return message["result"]

    def open(self, place: str) -> None:
        self.requests.clear()
        self.complaints.clear()
        self.ask("browsingContext.navigate", context=self._context, url=place, wait="complete")

    def value(self, expression: str, is_by_user: bool = False) -> Any:
        """Return the value of an expression; `is_by_user`: as if a visitor's click had called it."""
        text = f"(async () => JSON.stringify(await ({expression}\n) ?? null))()"
        how = {"target": {"context": self._context}, "awaitPromise": True, "userActivation": is_by_user}
        answer = self.ask("script.evaluate", expression=text, **how)
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        return json.loads(answer["result"]["value"])

    def reload(self) -> None:
        self.requests.clear()
        self.ask("browsingContext.reload", context=self._context, wait="complete")

    def addresses(self) -> list[str]:
        return list(self.requests)

    def shape(self, width: int, dark: bool = False, ratio: float = 1, height: int = 900) -> None:
        assert not dark, "Firefox has light colours in these tests"
        size = {"width": width, "height": height}
        self.ask("browsingContext.setViewport", context=self._context, viewport=size, devicePixelRatio=ratio)

    def _act(self, kind: str, actions: list[dict[str, Any]], **parameters: Any) -> None:
        """Let one device act: `key`, or `pointer` of a type that `parameters` names."""
        device = {"type": kind, "id": parameters.get("pointerType", kind), "actions": actions}
        if parameters:
            device["parameters"] = parameters
        self.ask("input.performActions", context=self._context, actions=[device])

    def click(self, *places: str) -> None:
        for place in places:
            x, y = self.wait_for(MIDDLE % json.dumps(place))
            self.drag((x, y), (x, y), 1, "mouse")

    def point_at(self, x: float, y: float) -> None:
        self._act("pointer", [_move((x, y))], pointerType="mouse")

    def drag(self, first: Point, last: Point, moves: int, by: str) -> None:
        down, up = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}
        start, *others = map(_move, points_of(first, last, moves))
        self._act("pointer", [start, down, *others, up], pointerType="touch" if by == "finger" else "mouse")

    def press(self, *keys: str) -> None:
        for combination in keys:
            names = combination.split("+") if len(combination) > 1 else [combination]
            values = [KEYS.get(name, name) for name in names]
            actions = [{"type": "keyDown", "value": value} for value in values]
            self._act("key", actions + [{"type": "keyUp", "value": value} for value in reversed(values)])

    def insert(self, text: str) -> None:
        """Paste a text from the clipboard."""
        self.value(f"navigator.clipboard.writeText({json.dumps(text)})", is_by_user=True)
        self.press("Control+v")

    def change(self, place: str, value: str) -> None:
        self.click(place)
        self.press("Control+a", "Delete", *value)
        self.value("document.activeElement.blur()")


def _move(point: Point) -> dict[str, Any]:
    return {"type": "pointerMove", "x": round(point[0]), "y": round(point[1]), "duration": 0}
