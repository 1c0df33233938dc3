"""Installed versions: constraints.txt, the bounds of pyproject.toml, and the Pythons that documents name."""

import re
import tomllib

from packaging.requirements import Requirement

from nonobot.bot.kernels.compiler import NEWEST_NUMBA
from tests.helpers.places import REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
PYTHONS = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["project"]["classifiers"]))
NEXT = f"3.{int(PYTHONS[-1].removeprefix('3.')) + 1}"
LINE = re.compile(
    rf'([a-z0-9-]+)==(\S+) ; python_version >= "{PYTHONS[0]}" and python_version < "{NEXT}"(?: and \(.+\))?'
)


def needed() -> dict[str, str]:
    """Return each requirement of the project, its extras and its build, with its name as indexes spell it."""
    project = PROJECT["project"]
    every = [*project["dependencies"], *PROJECT["build-system"]["requires"]]
    every += [text for extra in project["optional-dependencies"].values() for text in extra]
    return {text: re.sub("[-_.]+", "-", Requirement(text).name.lower()) for text in every}


def test_constraints_contain_an_accepted_version_of_every_library():
    _, *lines = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8").splitlines()
    held = {}
    for line in lines:
        name, version = LINE.fullmatch(line).groups()  # nothing holds another Python
        held.setdefault(name, []).append(version)
    for text, name in needed().items():
        if name != "nonobot":
            accepts = Requirement(text).specifier
            assert all(accepts.contains(version, prereleases=True) for version in held[name]), (text, held[name])


def test_messages_state_the_installed_version_of_numba():
    lines = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line.partition(" ")[0] for line in lines if line.startswith("numba==")] == [f"numba=={NEWEST_NUMBA}"]


def test_only_the_build_has_an_upper_bound():
    """Users of a wheel get the newest libraries. A build is isolated from the constraints."""
    bounded = {name for text, name in needed().items() if re.search(r"<|==|~=", text.partition(";")[0])}
    assert bounded == {"setuptools"}


def test_every_page_names_the_same_pythons():
    read = {
        name: (REPOSITORY / name).read_text(encoding="utf-8") for name in ("README.md", "docs/compatibility.md")
    }
    assert f"{PYTHONS[0]} to {PYTHONS[-1]} are tested" in read["README.md"]
    assert f"| Python | {', '.join(PYTHONS)} |" in read["docs/compatibility.md"]
    workflow = (REPOSITORY / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    assert f"python: {PYTHONS}".replace("'", '"') in workflow
