"""What figures are worth, in words: for each condition, and the same in run and table."""

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from nonobot.harness import cli
from nonobot.harness.results.conditions import CgroupMeasures, Configuration, Contain
from nonobot.harness.results.result_files import read_result
from nonobot.harness.results.run_result import EndReason
from nonobot.harness.results.worth import worth
from tests.helpers.judged import RECIPE, command
from tests.helpers.ranked import MACHINE, run_result

EXACT = CgroupMeasures(cpu=True, memory=True, processes=True)
ALL_EXACT = "wall time, CPU time and memory are exact"
SAMPLED = "wall time is exact; CPU time and memory are approximate"
BUBBLEWRAP = "for a sandbox, install and allow bubblewrap"
CGROUPS = "for exact figures, allow cgroups (docs/measuring.md)"
FILTER = "for a filter of system calls, install libseccomp"


def run(sandboxed=False, measures=UNSET, contain=Contain.AUTO, system="Linux 6.1", **more):
    result = run_result(terms=Configuration(contain=contain), machine=replace(MACHINE, system=system))
    attempts = [replace(result.attempts[0], sandboxed=sandboxed, cgroup_measures=measures, **more)]
    return replace(result, attempts=attempts)


@pytest.mark.parametrize(
    ("runs", "lines"),
    [
        (
            [run(unmeasured=["files in memory"])],
            [f"sandbox: no; {SAMPLED}, without files in memory", f"{BUBBLEWRAP}; {CGROUPS}"],
        ),
        ([run(contain=Contain.NO)], [f"sandbox: no; {SAMPLED}", CGROUPS]),
        ([run(measures=EXACT)], [f"sandbox: no; {ALL_EXACT}", BUBBLEWRAP]),
        ([run(measures=EXACT, contain=Contain.NO)], [f"sandbox: no; {ALL_EXACT}"]),
        ([run(True, EXACT)], [f"sandbox: yes; {ALL_EXACT}"]),
        ([run(True)], [f"sandbox: yes; {SAMPLED}", CGROUPS]),
        ([run(True, EXACT, filtered=False)], [f"sandbox: yes, system calls not filtered; {ALL_EXACT}", FILTER]),
        (
            [run(True, CgroupMeasures(cpu=True))],
            ["sandbox: yes; wall time and CPU time are exact; memory is approximate", CGROUPS],
        ),
        ([run(system="Darwin 23.1")], [f"sandbox: no; {SAMPLED}", "sandboxes and exact figures need Linux"]),
        ([run(True, EXACT), run()], [f"sandbox: in some runs; {SAMPLED}", f"{BUBBLEWRAP}; {CGROUPS}"]),
        ([run(True, EXACT), run_result(end=EndReason.NOT_STARTED)], [f"sandbox: yes; {ALL_EXACT}"]),
        ([run_result(end=EndReason.NOT_STARTED)], []),
        ([], []),
    ],
)
def test_two_lines_describe_the_reliability_of_a_run_and_how_to_improve_it(runs, lines):
    assert worth(runs) == lines
    assert all(len(line) <= 100 for line in lines)


@pytest.mark.usefixtures("short_look")
def test_run_and_table_describe_reliability_in_the_same_words(tmp_path, capsys):
    arguments = ["run", "--quiet", "--set", str(RECIPE), "--result", str(tmp_path / "one.json")]
    assert cli.run([*arguments, "--", *command("perfect", tmp_path)]) == 0
    shown = capsys.readouterr().out.splitlines()
    lines = worth([read_result(tmp_path / "one.json")])
    assert shown[-1 - len(lines) : -1] == lines
    assert cli.run(["table", str(tmp_path / "one.json")]) == 0
    table = capsys.readouterr().out.splitlines()
    assert table[2 : 2 + len(lines)] == lines
