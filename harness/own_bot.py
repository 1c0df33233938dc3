"""The bot of this project, as a command."""

from __future__ import annotations

import sys

__all__ = ["OWN_BOT"]

OWN_BOT = (sys.executable, "-P", "-m", "bot")  # -P: not a bot.py that lies in the working folder
