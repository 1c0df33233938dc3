"""The start of the executable: the bot's command, or `--licences`, the licences of all that the file contains."""

import os
import sys

sys.meta_path.pop()  # the finder of files: the program loads nothing from the machine
sys._stdlib_dir = sys.prefix  # modules seem to come from the folder of that name, which is never read
sys.executable = ""

from nonobot.__main__ import command  # noqa: E402
from nonobot.system import reason_of, report, write_all  # noqa: E402

status = 2
try:
    if sys.argv[1:] != ["--licences"]:
        command()
    from licences import TEXT  # type: ignore[import-not-found]

    write_all(1, TEXT.encode())
    status = 0
except OSError as error:
    report(f"nonobot: {reason_of(error)}")
except ModuleNotFoundError as error:
    report(f"nonobot: this needs {error.name}, which this executable does not contain; pip install nonobot")
os._exit(status)
