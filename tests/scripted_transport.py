"""A bot's side as a script, for tests of conversations: no process, and a clock that goes on when one waits."""

from __future__ import annotations

from collections import deque


class ScriptedTransport:
    """Expects to be sent something, and answers: what is expected and what is written stand in order.

    A step is `("sent", bytes)`, `("last", bytes)` for the last thing that is sent, `("wrote", bytes)`,
    `("waits", seconds)`, `("closed", None)` for its stdout or `("ended", None)` for the process.
    """

    def __init__(self, *steps: tuple[str, object]) -> None:
        self.started = self.now = 100.0
        self.exited = self.output_closed = False
        self._steps = deque(steps)

    def clock(self) -> float:
        return self.now

    def send(self, data: bytes, last: bool = False) -> None:
        assert self._steps, f"nothing more is expected, and {data!r} was sent"
        assert self._steps.popleft() == ("last" if last else "sent", data)

    def read(self, until: float) -> bytes:
        kind, value = self._steps[0] if self._steps else ("waits", float("inf"))
        if kind == "waits" and self.now + value <= until:
            self.now += value
            self._steps.popleft()
            return self.read(until)
        if kind in ("waits", "sent", "last"):
            assert until < float("inf"), f"waits for ever; next is {kind}"
            if kind == "waits" and self._steps:
                self._steps[0] = (kind, value - max(0.0, until - self.now))
            self.now = max(self.now, until)
            return b""
        self._steps.popleft()
        self.exited |= kind == "ended"
        self.output_closed |= kind == "closed"
        return value if kind == "wrote" else b""

    @property
    def done(self) -> bool:
        """Whether everything happened."""
        return not self._steps
