"""Readers of written puzzle files that share no code with the project: strict, short, one for each format.

A reader takes the text of a file with one puzzle and returns its fields as plain values: clues as lists, boards as
lists of rows with 1, 0 and -1, texts as they are. Anything unexpected raises an error. `blocks_in` counts the
blocks of a file in any form that the description of its format allows.
"""

import configparser
import html
import json
import re
import tomllib
import xml.etree.ElementTree as ElementTree
from typing import Any

CELLS = {"1": 1, "0": 0, "?": -1}
FIELDS_OF_NON = {"by": "author", "goal": "solution", "saved": "start"}


def clue(text: str, divider: str | None = None) -> list[int]:
    numbers = [int(word) for word in text.split(divider)] if text else []
    assert text == (divider or " ").join(map(str, numbers))
    return [] if numbers == [0] else numbers


def clues(lines: list[str], divider: str | None = None) -> list[list[int]]:
    return [clue(line, divider) for line in lines]


def board(text: str, width: int) -> list[list[int]]:
    cells = [CELLS[sign] for sign in text]
    assert len(cells) % width == 0
    return [cells[start : start + width] for start in range(0, len(cells), width)]


def between(lines: list[str], first: str, last: str) -> list[str]:
    """Return the text lines between two."""
    start = lines.index(first) + 1
    return lines[start : lines.index(last, start)]


def read_cwd(text: str) -> dict[str, Any]:
    height, width, *lines = text.split("\n")
    rows, columns, end = lines[: int(height)], lines[int(height) + 1 : -1], lines[-1]
    assert (lines[int(height)], end, len(columns)) == ("", "", int(width))
    return {"rows": clues(rows), "columns": clues(columns)}


def read_g(text: str) -> dict[str, Any]:
    lines = text.split("\n")
    assert (lines[0], lines[-2:]) == (": rows", [": end", ""])
    rows, columns = between(lines, ": rows", ": columns"), between(lines, ": columns", ": end")
    return {"rows": clues(rows), "columns": clues(columns)}


def read_grid(text: str) -> dict[str, Any]:
    size, *lines = text.split("\n")
    width, height = map(int, size.split("x"))
    found: dict[str, Any] = {}
    while lines[0] != "rows":
        name, _, value = lines.pop(0).partition(": ")
        found[name] = value
    found["rows"] = clues(lines[1 : height + 1], ",")
    assert lines[height + 1] == "columns"
    found["columns"] = clues(lines[height + 2 : height + 2 + width], ",")
    lines = lines[height + 2 + width :]
    for name, field, signs in (("grid", "start", "X.#"), ("solution", "solution", ".?#")):
        if lines[0] == name:
            found[field] = [[(0, -1, 1)[signs.index(sign)] for sign in row] for row in lines[1 : height + 1]]
            lines = lines[height + 1 :]
    assert lines == [""]
    return found


def read_hv(text: str) -> dict[str, Any]:
    lines = text.split("\n")
    assert lines[0] == "H"
    return {"rows": clues(between(lines, "H", "V")), "columns": clues(between(lines, "V", ""))}


def read_letters(text: str) -> dict[str, Any]:
    rows, columns, end = text.split("\n")
    assert end == ""
    parts = {"rows": rows.split(" "), "columns": columns.split(" ")}
    return {part: [[ord(sign) - 64 for sign in word if word != "0"] for word in parts[part]] for part in parts}


def read_lists(text: str) -> dict[str, Any]:
    found = json.loads(text)
    for name in found.keys() & {"start", "solution"}:
        found[name] = board(found[name], len(found["columns"]))
    return found


def read_mk(text: str) -> dict[str, Any]:
    size, *lines = text.split("\n")
    rows, columns = lines[: lines.index("#")], between(lines, "#", "")
    assert size == f"{len(rows)} {len(columns)}"
    return {"rows": clues(rows), "columns": clues(columns)}


def read_nin(text: str) -> dict[str, Any]:
    size, *lines, end = text.split("\n")
    width, height = map(int, size.split(" "))
    assert (end, len(lines)) == ("", width + height)
    return {"rows": clues(lines[:height]), "columns": clues(lines[height:])}


def read_non(text: str) -> dict[str, Any]:
    lines = text.split("\n")
    found: dict[str, Any] = {}
    while lines:
        key, _, value = lines.pop(0).partition(" ")
        if key in ("rows", "columns"):
            count = int(found["height" if key == "rows" else "width"])
            found[key] = clues(lines[:count], ",")
            del lines[:count]
        elif key:
            quoted = re.fullmatch('"([^"<>]*)"|[0-9]+', value)
            assert quoted
            found[FIELDS_OF_NON.get(key, key)] = value if quoted[1] is None else html.unescape(quoted[1])
    width = int(found.pop("width"))
    assert int(found.pop("height")) == len(found["rows"])
    return found | {name: board(found[name], width) for name in found.keys() & {"start", "solution"}}


def read_nonogrid(text: str) -> dict[str, Any]:
    found = tomllib.loads(text)
    assert (list(found), sorted(found["clues"])) == (["clues"], ["columns", "rows"])
    return {
        part: clues([line.strip() for line in value.strip().split("\n")]) for part, value in found["clues"].items()
    }


def read_oneline(text: str) -> dict[str, Any]:
    rows, columns = text.removesuffix("\n").split("-")
    return {"rows": clues(rows.split(":"), ","), "columns": clues(columns.split(":"), ",")}


def read_picross(text: str) -> dict[str, Any]:
    grid, rows_word, *lines, end = text.split("\n")
    assert (grid[:4], rows_word, end) == ("GRID", "ROWS", "")
    bare = [line if line == "COLUMNS" else re.fullmatch(r"\[ (.*)\]", line)[1].strip() for line in lines]
    divider = bare.index("COLUMNS")
    found = {"rows": clues(bare[:divider]), "columns": clues(bare[divider + 1 :])}
    return found | ({"title": grid[5:]} if grid[5:] else {})


def read_pynogram(text: str) -> dict[str, Any]:
    parser = configparser.RawConfigParser(inline_comment_prefixes="#;")
    parser.read_string(text)
    assert (parser.sections(), sorted(parser["clues"])) == (["clues"], ["columns", "rows"])
    return {part: clues(value.strip().split("\n")) for part, value in parser["clues"].items()}


def read_taai(text: str, size: tuple[int, int]) -> dict[str, Any]:
    header, *lines, end = text.split("\n")
    assert (re.fullmatch(r"\$\d+", header) is not None, end, len(lines)) == (True, "", sum(size))
    return {"rows": clues(lines[size[0] :], "\t"), "columns": clues(lines[: size[0]], "\t")}


def read_webpbn(text: str) -> dict[str, Any]:
    root = ElementTree.fromstring(text)
    (puzzle,) = root
    assert (root.tag, puzzle.tag, puzzle.get("type")) == ("puzzleset", "puzzle", "grid")
    found: dict[str, Any] = {}
    for element in puzzle:
        if element.tag == "clues":
            assert {line.tag for line in element} <= {"line"}
            assert {number.tag for line in element for number in line} <= {"count"}
            found[element.get("type")] = [[int(number.text) for number in line] for line in element]
        elif element.tag == "solution":
            image = element.findtext("image").strip()
            rows = [["?.X".index(sign) - 1 for sign in row.strip("|")] for row in image.split("\n")]
            found["start" if element.get("type") == "saved" else "solution"] = rows
        elif element.tag != "color":
            found["catalogue" if element.tag == "source" else element.tag] = element.text
    return found


READERS = {name[5:]: function for name, function in list(globals().items()) if name.startswith("read_")}


# Blocks in files that may be faulty


def blocks_in(name: str, text: str) -> int | None:
    """Return how many numbers but 0 a file of the format has in its clues; None: this cannot be told so simply."""
    lines = [line.strip() for line in re.split("\r\n|\r|\n", text.removeprefix("\ufeff"))]
    if name in ("nin", "mk", "cwd"):
        while lines and lines[0][:1] in ("", "#"):
            lines.pop(0)
        return _numbers("\n".join(line for line in lines if not line.startswith("#"))) - 2
    if name in ("hv", "oneline"):
        return _numbers(text)
    if name == "lists":
        return None if re.search("start|solution|content|grid", text) else _numbers(_bare(text))
    if name == "letters":
        return len(re.findall("[A-Z]", text))
    if name == "taai":
        return _numbers("\n".join(line for line in lines if not line.startswith("$")))
    if name == "picross":
        return _numbers("\n".join(line for line in lines if line.startswith("[")))
    if name == "webpbn":
        return len(re.findall(r"<count\b", re.sub("<!--.*?-->", "", text, flags=re.DOTALL)))
    if name == "g":
        colons = [index for index, line in enumerate(lines) if line.startswith(":")][:3]
        inside = [line for line in lines[colons[0] : colons[2]] if not line.startswith(":")]
        return _numbers("\n".join(inside))
    if name not in ("grid", "non", "nonogrid", "pynogram"):
        return None
    found, part = [], False
    for line in lines:
        line = re.split("[#;]", line)[0] if name in ("pynogram", "nonogrid") else line
        key = re.match(r"\W*(rows|columns)\b", line, re.IGNORECASE)
        other = not key and re.match(r"\[?[A-Za-z]", line)
        part = bool(key) or (part and not other)
        found.append(line if part else "")
    return _numbers("\n".join(found))


def _bare(text: str) -> str:
    """Return a text without the strings and comments that `lists` may have."""
    text = re.sub("\r\n?", "\n", text)
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|(#|//).*', "", text)
    return re.sub(r"[^\W\d]\w*", "", text)


def _numbers(text: str) -> int:
    return sum(number.strip("0") != "" for number in re.findall("[0-9]+", text))
