"""`--on ADDRESS` where no scheduler of dask answers: an error in a line, soon, and a Ctrl-C is heeded."""

import contextlib
import http.server
import socket
import threading

import pytest

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")

from nonobot.harness import UnusableError
from nonobot.harness.cluster import cluster_workers
from nonobot.harness.cluster.cluster_workers import connected
from nonobot.harness.process.interrupts import Interrupts


@contextlib.contextmanager
def listener(answer=None):
    """Provide the address of a program that accepts connections and answers with bytes, or ends without any."""
    with socket.create_server(("127.0.0.1", 0)) as own:

        def serve():
            with contextlib.suppress(OSError):
                connection, _ = own.accept()
                with connection:
                    connection.sendall(answer)

        if answer is not None:
            threading.Thread(target=serve, daemon=True).start()
        yield f"tcp://127.0.0.1:{own.getsockname()[1]}"


@contextlib.contextmanager
def web_server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"tcp://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(cluster_workers, "SECONDS_TO_GREET", 0.3)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (web_server, "nothing came within 0.3 s"),
        (listener, "nothing came within 0.3 s"),  # also a scheduler that was stopped
        (lambda: listener(b"220 mail.example.org ESMTP\r\n"), "it speaks another protocol"),
        (lambda: listener(b""), "it ended the connection"),
        (lambda: listener(b"7"), "it ended the connection"),
    ],
)
def test_what_is_no_scheduler_is_told_in_a_line(other, reason):
    with other() as address, pytest.raises(UnusableError) as caught:
        connected(address).__enter__()
    assert str(caught.value) == f"no scheduler answers at {address}: {reason}"


def test_a_ctrl_c_is_heeded_while_nothing_answers(monkeypatch):
    monkeypatch.setattr(cluster_workers, "SECONDS_TO_GREET", 1000.0)
    with listener() as address, Interrupts() as interrupts:
        interrupts.told = True
        with pytest.raises(KeyboardInterrupt):
            connected(address).__enter__()
