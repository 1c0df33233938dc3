"""Fetching official sets from where they are published; needs pooch (the extra `data`)."""

from __future__ import annotations

import logging
from collections.abc import Callable

from nonobot.arguments import missing
from nonobot.tournament_data.registry import MOST_BYTES, OfficialSet, data_folder, stored_path

__all__ = ["FetchError", "OfflineError", "SetupError", "fetch"]


class FetchError(Exception):
    """A set that could not be fetched; the message is one line that says why."""


class OfflineError(FetchError):
    """The server cannot be reached, so that there is no point in asking it for another set."""


class SetupError(FetchError):
    """No set can be fetched as things stand on this machine."""


def fetch(
    official: OfficialSet, *, timeout_seconds: float = 30.0, on_bytes: Callable[[int], None] | None = None
) -> None:
    """Bring the file of a set into the data folder, unless it is there, as published; otherwise raise FetchError.

    Parameters
    ----------
    official : OfficialSet
    timeout_seconds : float
        Limit for connecting to the server, and for each silence after that.
    on_bytes : callable, optional
        Called with the number of bytes in each piece that came in.
    """
    try:
        import pooch  # type: ignore[import-untyped]  # only here: slow to import, and an extra
        import requests
    except ImportError:
        raise SetupError(missing("fetching", "pooch")) from None
    pooch.get_logger().setLevel(logging.ERROR)
    downloader = pooch.HTTPDownloader(progressbar=_Meter(official.url, on_bytes), timeout=timeout_seconds)
    try:
        pooch.retrieve(
            official.url,
            known_hash=f"sha256:{official.sha256}",
            fname=official.file_name,
            path=data_folder(),
            downloader=downloader,
        )
        stored_path(official).chmod(0o644)  # pooch's is for the user alone; a data folder may be shared
    except requests.HTTPError as error:
        answer = error.response
        assert answer is not None  # it is what the error is about
        raise FetchError(f"{official.url}: the server answered {answer.status_code} {answer.reason}") from None
    except requests.exceptions.ChunkedEncodingError:
        raise FetchError(f"{official.url}: the transfer broke off; try again") from None
    except (requests.ConnectionError, requests.Timeout) as error:
        raise OfflineError(f"{official.url}: {_reason(error, timeout_seconds)}") from None
    except requests.RequestException as error:
        raise FetchError(f"{official.url}: {error}") from None
    except ValueError:  # pooch's way to say that the digest differs
        raise FetchError(
            f"{official.url}: not the published file (its SHA-256 differs); nothing was kept"
        ) from None
    except OSError as error:
        raise SetupError(f"cannot write {data_folder()}: {error.strerror or 'Permission denied'}") from None


class _Meter:
    """Stands where pooch expects a progress bar of tqdm's form; stops a transfer that is too long."""

    def __init__(self, url: str, on_bytes: Callable[[int], None] | None) -> None:
        self.total = 0
        self._url = url
        self._on_bytes = on_bytes
        self._came = 0
        self._whole = False

    def update(self, count: int) -> None:
        if self._whole:
            return
        self._came += count
        if self._came > MOST_BYTES:
            raise FetchError(f"{self._url}: not the published file (over {MOST_BYTES} bytes); nothing was kept")
        if self._on_bytes:
            self._on_bytes(count)

    def reset(self) -> None:
        self._whole = True  # pooch now fills the bar, whatever came in before

    def close(self) -> None:
        pass


def _reason(error: BaseException, timeout_seconds: float) -> str:
    """Return what the system said, which libraries wrap several times."""
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, TimeoutError):
            return f"no answer within {timeout_seconds:g} s"
        if isinstance(inner, OSError) and inner.strerror:
            return inner.strerror
        inner = inner.__cause__ or inner.__context__
    return "no connection"
