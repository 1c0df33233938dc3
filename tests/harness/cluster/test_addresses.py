"""`--on ADDRESS` where no scheduler of dask answers: an error in a line, soon, and a Ctrl-C is heeded."""

import contextlib
import http.server
import signal
import socket
import subprocess
import sys
import threading
from importlib.util import find_spec

import pytest

if find_spec("distributed") is None:  # each process that collects tests would take half a second to import it
    pytest.skip("the extra `cluster` is not installed", allow_module_level=True)

from nonobot.harness import UnusableError
from nonobot.harness.cluster import cluster_workers
from nonobot.harness.cluster.cluster_workers import connected
from nonobot.harness.process.interrupts import Interrupts
from tests.helpers.clusters import SilentProxy, cluster
from tests.helpers.waiting import finished, running, wait_until

__all__ = ["cluster"]


@contextlib.contextmanager
def listener(answer=None, stays=False):
    """Provide the address of a program that accepts connections, and is silent or answers with bytes and ends."""
    with socket.create_server(("127.0.0.1", 0)) as own:

        def serve():
            with contextlib.suppress(OSError):
                connection, _ = own.accept()
                with connection:
                    connection.sendall(answer)
                    if stays:
                        connection.recv(1)

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
        (lambda: listener(b"7", stays=True), "nothing came within 0.3 s"),
    ],
)
def test_an_address_without_a_scheduler_is_a_one_line_error(other, reason):
    with other() as address, pytest.raises(UnusableError) as caught:
        connected(address).__enter__()
    assert str(caught.value) == f"no scheduler answers at {address}: {reason}"


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as own:
        return own.getsockname()[1]


@pytest.mark.parametrize("host", ["no-such-host.invalid", "%eth0", "a..b"])
def test_an_unknown_host_is_reported(host, monkeypatch):
    monkeypatch.setattr(cluster_workers, "SECONDS_TO_GREET", 1000.0)  # a resolver takes its time
    with pytest.raises(UnusableError, match=f"no scheduler answers at tcp://{host}:8786: unknown host {host}$"):
        connected(f"tcp://{host}:8786").__enter__()


@pytest.mark.parametrize("named", [True, False])
def test_a_refusing_port_is_reported_and_the_default_port_is_that_of_dask(named, monkeypatch):
    port = closed_port()
    monkeypatch.setattr(cluster_workers, "DEFAULT_PORT", port)
    with pytest.raises(UnusableError) as caught:
        connected(f"tcp://127.0.0.1:{port}" if named else "tcp://127.0.0.1").__enter__()
    assert str(caught.value) == f"no scheduler answers at tcp://127.0.0.1:{port}: Connection refused"


@pytest.mark.slow
def test_a_scheduler_that_stops_answering_while_connecting_is_reported(cluster, monkeypatch):
    monkeypatch.setattr(cluster_workers, "SECONDS_TO_GREET", 1.0)
    monkeypatch.setattr(cluster_workers, "SECONDS_TO_CONNECT", 1.0)
    for silent in ({"connections": 1}, {"connections": 2}, {"bytes_each": 30}, {"bytes_each": 200}):
        proxy = SilentProxy(cluster.address, **silent)
        why = f"no scheduler answers at {proxy.address}: (nothing came within 1 s|no answer in time)$"
        with contextlib.closing(proxy), pytest.raises(UnusableError, match=why):  # dask has the same limit
            connected(proxy.address).__enter__()


@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("silent", [{"connections": 1}, {"connections": 2}, {"bytes_each": 200}])
def test_a_ctrl_c_ends_a_command_whose_scheduler_falls_silent(cluster, tmp_path, number, silent):
    with contextlib.closing(SilentProxy(cluster.address, **silent)) as proxy:
        command = ["generate", "5x5x3", "--seed", "7", "--hard", "3", "--contain", "no", "--on", proxy.address]
        command = [sys.executable, "-m", "nonobot.harness", *command, "-o", "q.txt"]
        with running(command, cwd=tmp_path, stderr=subprocess.PIPE) as generating:
            wait_until(proxy.is_silent.is_set, generating)
            generating.send_signal(number)
            assert finished(generating)[1] == b"nonojudge: interrupted\n"
    assert generating.returncode == 130


def test_ctrl_c_interrupts_a_connection_attempt(monkeypatch):
    monkeypatch.setattr(cluster_workers, "SECONDS_TO_GREET", 1000.0)
    with listener() as address, Interrupts() as interrupts:
        interrupts.stop_requested = True
        with pytest.raises(KeyboardInterrupt):
            connected(address).__enter__()
