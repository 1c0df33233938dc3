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

from tests.helpers.tabs import PATIENCE_SECONDS, Tab
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
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "toolkit.telemetry.server": "",
}
"""Settings of the profile: nothing is asked of anybody."""


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
            self._context = self.ask("browsingContext.getTree")["contexts"][0]["context"]
        except BaseException:
            self.__exit__()
            raise

    def _address(self) -> str:
        """Return the address that the browser writes into its profile."""
        announced = Path(self._folder.name, "WebDriverBiDiServer.json")
        wait_until(lambda: announced.exists() and announced.read_text().rstrip().endswith("}"), self.process)
        place = json.loads(announced.read_text())
        return f"ws://{place['ws_host']}:{place['ws_port']}"

    def __enter__(self) -> Firefox:
        return self

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

    def open(self, address: str) -> None:
        self.requests.clear()
        self.complaints.clear()
        self.ask("browsingContext.navigate", context=self._context, url=address, wait="complete")

    def value(self, expression: str) -> Any:
        text = f"(async () => JSON.stringify(await ({expression}\n) ?? null))()"
        answer = self.ask("script.evaluate", expression=text, target={"context": self._context}, awaitPromise=True)
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        return json.loads(answer["result"]["value"])

    def insert(self, text: str) -> None:
        """Put a text in place of the input's, as pasting does."""
        event = "new InputEvent('input', {inputType: 'insertFromPaste', bubbles: true})"
        text = f"(one => {{ one.value = {json.dumps(text)}; one.dispatchEvent({event}); }})"
        self.value(f"{text}(document.activeElement)")

    def click(self, place: str) -> None:
        """Click an element, as its script sees it."""
        self.value(f"document.querySelector({place!r}).click()")
