"""Which files a bot may see and write besides those of the system and those that its command names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a sandboxed bot may read and write, and what is hidden from it even in a folder that is shown.

    If the bot itself is in a folder of results, the sandbox hides each result in it instead of the folder; the
    same in all folders of the bot.
    """

    show: tuple[Path, ...] = ()
    hide: tuple[Path, ...] = ()  # other bots' files; `show` overrides it
    secret: tuple[Path, ...] = ()  # files of sets; shown only if the command or `show` names the file itself
    results: tuple[Path, ...] = ()  # folders of results; nothing overrides it
    writable: tuple[Path, ...] = ()
    prepares: bool = False  # a warm-up: it can write in the bot's own folders
