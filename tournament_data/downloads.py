"""Downloads of published files with known digests, by pooch (the extra `data`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nonobot.arguments import missing

OnBytes = Callable[[int], None]  # called with the number of bytes of each received piece


class FetchError(Exception):
    """A file that cannot be fetched; the message is one text line with the reason."""


class OfflineError(FetchError):
    """An unreachable server, which need not be asked for further files."""


class SetupError(FetchError):
    """A problem of this machine that prevents all downloads."""


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file at an address, with its required digest."""

    url: str
    digest: str  # such as `sha256:0123abcd`
    most_bytes: int  # a longer transfer is stopped

    def fetch(self, path: Path, *, timeout_seconds: float = 30.0, on_bytes: OnBytes | None = None) -> None:
        """Download the file to a path, unless it is already there; FetchError: it cannot be fetched.

        The timeout applies to the connection, and to each pause in the transfer.
        """
        try:
            import pooch  # type: ignore[import-untyped]  # only here: slow to import, and an extra
            import requests
        except ImportError:
            raise SetupError(missing("fetching", "pooch")) from None
        pooch.get_logger().setLevel("ERROR")
        downloader = pooch.HTTPDownloader(progressbar=_Meter(self, on_bytes), timeout=timeout_seconds)
        try:
            pooch.retrieve(self.url, self.digest, path.name, path.parent, downloader=downloader)
            path.chmod(0o644)  # pooch makes it private to the user; a folder of files may be shared
        except requests.HTTPError as error:
            answer = error.response
            assert answer is not None  # the error is about it
            raise FetchError(f"{self.url}: the server answered {answer.status_code} {answer.reason}") from None
        except requests.exceptions.ChunkedEncodingError:
            raise FetchError(f"{self.url}: the transfer broke off; try again") from None
        except (requests.ConnectionError, requests.Timeout) as error:
            raise OfflineError(f"{self.url}: {_reason(error, timeout_seconds)}") from None
        except requests.RequestException as error:
            raise FetchError(f"{self.url}: {error}") from None
        except ValueError:  # raised by pooch if the digest differs
            algorithm = self.digest.partition(":")[0].replace("sha", "SHA-")
            raise _not_published(self, f"its {algorithm} differs") from None
        except OSError as error:
            raise SetupError(f"cannot write {path.parent}: {error.strerror or 'Permission denied'}") from None


class _Meter:
    """Replacement for the tqdm progress bar that pooch expects; stops a transfer that is too long."""

    def __init__(self, file: PublishedFile, on_bytes: OnBytes | None) -> None:
        self.total = self._came = 0
        self._file, self._on_bytes = file, on_bytes
        self._whole = False

    def update(self, count: int) -> None:
        if self._whole:
            return
        self._came += count
        if self._came > self._file.most_bytes:
            raise _not_published(self._file, f"over {self._file.most_bytes} bytes")
        if self._on_bytes:
            self._on_bytes(count)

    def reset(self) -> None:
        self._whole = True  # pooch now fills the bar, whatever was received

    def close(self) -> None:
        pass


def _not_published(file: PublishedFile, difference: str) -> FetchError:
    return FetchError(f"{file.url}: not the published file ({difference}); nothing was kept")


def _reason(error: BaseException, timeout_seconds: float) -> str:
    """Return the message of the system, which libraries wrap several times."""
    if isinstance(error, TimeoutError):
        return f"no answer within {timeout_seconds:g} s"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    inner = error.__cause__ or error.__context__
    return _reason(inner, timeout_seconds) if inner else "no connection"
