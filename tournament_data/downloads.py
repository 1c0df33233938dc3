"""Downloads of published files, whose digests are known beforehand, with pooch (the extra `data`)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nonobot.arguments import missing


class FetchError(Exception):
    """A file that could not be fetched; the message is one line that says why."""


class OfflineError(FetchError):
    """The server cannot be reached, so that there is no point in asking it for another file."""


class SetupError(FetchError):
    """No file can be fetched as things stand on this machine."""


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file at an address, with the digest that it must have."""

    url: str
    digest: str  # such as `sha256:0123abcd`
    most_bytes: int  # a transfer that is longer is stopped

    def fetch(
        self, path: Path, *, timeout_seconds: float = 30.0, on_bytes: Callable[[int], None] | None = None
    ) -> None:
        """Bring the file to a path, unless it is there, as published; otherwise raise FetchError.

        The time limit is for connecting to the server, and for each silence after that. `on_bytes` is called with
        the number of bytes in each piece that came in.
        """
        try:
            import pooch  # type: ignore[import-untyped]  # only here: slow to import, and an extra
            import requests
        except ImportError:
            raise SetupError(missing("fetching", "pooch")) from None
        pooch.get_logger().setLevel(logging.ERROR)
        downloader = pooch.HTTPDownloader(progressbar=_Meter(self, on_bytes), timeout=timeout_seconds)
        try:
            pooch.retrieve(
                self.url, known_hash=self.digest, fname=path.name, path=path.parent, downloader=downloader
            )
            path.chmod(0o644)  # pooch's is for the user alone; a folder of files may be shared
        except requests.HTTPError as error:
            answer = error.response
            assert answer is not None  # it is what the error is about
            raise FetchError(f"{self.url}: the server answered {answer.status_code} {answer.reason}") from None
        except requests.exceptions.ChunkedEncodingError:
            raise FetchError(f"{self.url}: the transfer broke off; try again") from None
        except (requests.ConnectionError, requests.Timeout) as error:
            raise OfflineError(f"{self.url}: {_reason(error, timeout_seconds)}") from None
        except requests.RequestException as error:
            raise FetchError(f"{self.url}: {error}") from None
        except ValueError:  # pooch's way to say that the digest differs
            algorithm = self.digest.partition(":")[0].replace("sha", "SHA-")
            raise FetchError(
                f"{self.url}: not the published file (its {algorithm} differs); nothing was kept"
            ) from None
        except OSError as error:
            raise SetupError(f"cannot write {path.parent}: {error.strerror or 'Permission denied'}") from None


class _Meter:
    """Stands where pooch expects a progress bar of tqdm's form; stops a transfer that is too long."""

    def __init__(self, file: PublishedFile, on_bytes: Callable[[int], None] | None) -> None:
        self.total = self._came = 0
        self._file, self._on_bytes = file, on_bytes
        self._whole = False

    def update(self, count: int) -> None:
        if self._whole:
            return
        self._came += count
        if self._came > self._file.most_bytes:
            too_long = f"over {self._file.most_bytes} bytes"
            raise FetchError(f"{self._file.url}: not the published file ({too_long}); nothing was kept")
        if self._on_bytes:
            self._on_bytes(count)

    def reset(self) -> None:
        self._whole = True  # pooch now fills the bar, whatever came in before

    def close(self) -> None:
        pass


def _reason(error: BaseException, timeout_seconds: float) -> str:
    """Return what the system said, which libraries wrap several times."""
    if isinstance(error, TimeoutError):
        return f"no answer within {timeout_seconds:g} s"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    inner = error.__cause__ or error.__context__
    return _reason(inner, timeout_seconds) if inner else "no connection"
