"""Hook of mkdocs: replaces links that leave docs/ by links to the repository, if its address is known."""

from __future__ import annotations

import os
import re
from typing import Any

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((\.\./[^)]*)\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return the Markdown of a page with its links out of docs/ replaced."""
    repository = os.environ.get("GITHUB_REPOSITORY", "")

    def replaced(link: re.Match[str]) -> str:
        is_picture, text, target = link.groups()
        path = os.path.normpath(os.path.join(os.path.dirname(page.file.src_uri), target))  # noqa: PTH118, PTH120
        if not path.startswith("../"):  # from one folder of docs/ to another
            return link[0]
        if is_picture or not repository:
            return text
        return f"[{text}](https://github.com/{repository}/blob/main/{path.removeprefix('../')})"

    return _LINK.sub(replaced, markdown)
