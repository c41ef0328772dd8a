"""`benchspec import`: what another tool left becomes observations that a spec can hold."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from benchspec.cli.import_ import command
from benchspec.errors import UsageError
from benchspec.judge.judge import judge
from benchspec.judge.result import CheckResult
from benchspec.observations.from_spec import observations_of
from benchspec.observations.model import Observations, Series
from benchspec.spec.loader import load
from benchspec.spec.models import Spec
from benchspec.spec.source import parse
from benchspec.telemetry.nvml_counters import REASONS

DMON = """\
# gpu     sm   mem  rxpci  txpci  mtemp
# Idx      %     %   MB/s   MB/s      C
    0     93    41     42    117      -
    0     90    40     44    119      -
"""
QUERY = """\
index, utilization.gpu [%], power.draw [W], temperature.memory
0, 97 %, 287.41 W, N/A
1, [N/A], [Not Supported], N/A
"""
SPEC = """\
benchspec: 1
study: {title: Somebody's cards}
hardware: {devices: [{id: gpu0, name: a}, {id: gpu1, name: b}]}
"""


def pasted(*arguments: str) -> Observations:
    """What the judge would see, after a person pasted what was printed."""
    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    loaded = load(parse((SPEC + done.stdout).encode(), "spec.yaml"))
    assert not loaded.problems
    assert loaded.spec is not None
    return observations_of(loaded.spec)


def imported(tmp_path: Path, kind: str, text: str) -> list[Series]:
    log = tmp_path / "log"
    log.write_text(text, "utf-8")
    return pasted(kind, str(log)).series


def test_a_dmon_log_keeps_its_samples_and_says_what_was_not_measured(tmp_path: Path) -> None:
    series = {one.counter: one for one in imported(tmp_path, "dmon", DMON)}
    assert series["utilization"].values == [93, 90]
    assert series["pcie_tx"].values == [117, 119]
    assert series["pcie_tx"].unit == "MB/s"
    assert (series["pcie_tx"].interval_s, series["pcie_tx"].window_s) == (1.0, 0.02)
    assert series["temperature_memory"].values == []
    assert series["temperature_memory"].not_measured


def test_a_query_log_gives_one_series_for_each_card(tmp_path: Path) -> None:
    series = {(one.device, one.counter): one for one in imported(tmp_path, "query", QUERY)}
    assert series["gpu0", "power"].values == [287.41]
    assert series["gpu1", "power"].not_measured
    assert series["gpu1", "utilization"].values == []


STAMPED = """\
timestamp, index, power.draw [W], clocks_event_reasons.active
2026/01/01 23:59:58.000, 0, 200 W, 0x0000000000000000
2026/01/01 23:59:58.100, 1, 210 W, 0x0000000000000001
2026/01/02 00:00:00.000, 0, 250 W, 0x0000000000000004
2026/01/02 00:00:00.100, 1, 260 W, 0x0000000000000060
2026/01/02 00:00:07.000, 0, [N/A], [N/A]
2026/01/02 00:00:07.100, 1, 270 W, 0x00000000000000c8
"""


def test_a_query_log_keeps_its_times(tmp_path: Path) -> None:
    """Lines at 0, 2 and 9 s are not lines at 0, 1 and 2 s."""
    series = {(one.device, one.counter): one for one in imported(tmp_path, "query", STAMPED)}
    first, second = series["gpu0", "power"], series["gpu1", "power"]
    assert (first.times_s, first.values) == ([0, 2, 9], [200, 250, None])
    assert second.times_s == [0.1, 2.1, 9.1]
    assert first.interval_s == 4.5


@pytest.mark.parametrize(
    "column", ["clocks_event_reasons.active", "clocks_throttle_reasons.active"]
)
def test_the_reasons_of_a_query_log_are_counters_as_nvml_gives_them(
    tmp_path: Path, column: str
) -> None:
    text = STAMPED.replace("clocks_event_reasons.active", column)
    series = {(one.device, one.counter): one for one in imported(tmp_path, "query", text)}
    found = {
        counter: (series["gpu0", counter].values, series["gpu1", counter].values)
        for counter in REASONS
    }
    assert found == {
        "throttle_power_cap": ([0, 100, None], [0, 0, 0]),
        "throttle_hw_slowdown": ([0, 0, None], [0, 0, 100]),
        "throttle_thermal": ([0, 0, None], [0, 100, 100]),
        "throttle_power_brake": ([0, 0, None], [0, 0, 100]),
    }
    assert {series["gpu0", counter].unit for counter in REASONS} == {"%"}


@pytest.mark.parametrize(
    "lines",
    [
        "2026/01/01 12:00:05, 0, 1 W\n2026/01/01 12:00:00, 0, 2 W\n",
        "2026/01/01 12:00:00, 0, 1 W\nyesterday, 0, 2 W\n",
        "[N/A], [N/A], 1 W\n[N/A], [N/A], 2 W\n",
    ],
)
def test_times_that_cannot_be_are_not_kept_and_the_values_are(tmp_path: Path, lines: str) -> None:
    (series,) = imported(tmp_path, "query", "timestamp, index, power.draw [W]\n" + lines)
    assert (series.device, series.values, series.times_s) == ("gpu0", [1, 2], [])
    assert series.interval_s == 1.0


def test_the_interval_of_a_dmon_log_is_that_of_its_times(tmp_path: Path) -> None:
    text = "#Time gpu sm\n#HH:MM:SS Idx %\n12:00:00 0 5\n12:00:02 0 6\n12:00:04 0 7\n"
    (series,) = imported(tmp_path, "dmon", text)
    assert (series.times_s, series.interval_s) == ([0, 2, 4], 2.0)


@pytest.mark.parametrize("text", ["", "hello\n", "\x00\xff\n" * 100, "# gpu\n"])
def test_what_is_no_such_log_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="no samples"):
        imported(tmp_path, "dmon", text)


# --- files: when answers were written -------------------------------------------------------------


def answers(folder: Path, *seconds: float, start: float = 1_700_000_000) -> Path:
    """A folder with one answer for each time, changed so many seconds after `start`."""
    folder.mkdir()
    for index, at in enumerate(seconds):
        path = folder / f"{index}.json"
        path.write_text("an answer")
        os.utime(path, ns=(0, round((start + at) * 1e9)))
    return folder


def started(tmp_path: Path, start: float = 1_700_000_000) -> str:
    path = tmp_path / "start"
    path.touch()
    os.utime(path, ns=(0, round(start * 1e9)))
    return str(path)


def check_of(observed: Observations, name: str) -> CheckResult:
    raw = {"benchspec": 1, "study": {"title": "x"}, "workload": {"output": {"forced": True}}}
    spec = Spec.model_validate(raw)
    (found,) = [c for c in judge(spec, observed, spec_sha256="0" * 64).checks if c.check == name]
    return found


def test_answers_written_in_two_groups_are_two_batches(tmp_path: Path) -> None:
    """The casebook's first study: four files after 15 and 16 s, four after 31 s."""
    folder = answers(tmp_path / "responses", 15, 16, 15, 16, 31, 31, 31, 31)
    observed = pasted("files", "--mtime", str(folder), "--start", started(tmp_path))
    (step,) = observed.steps
    assert (step.concurrency, step.provenance, step.mode) == (8, "derived", "burst")
    assert step.completions_s == [15, 15, 16, 16, 31, 31, 31, 31]
    assert step.source == "times of change of 8 files, resolution 1 s"
    shape = check_of(observed, "completion-shape")
    assert (shape.reading, shape.value) == ("batches", 4)


@pytest.mark.parametrize(
    ("times", "resolution"),
    [((2, 4, 6, 8), 2), ((2, 4, 6), 1), ((1, 2, 4, 8), 1), ((1.5, 2, 3), 0.01), ((1,), 1)],
)
def test_the_source_says_how_fine_the_times_are(
    tmp_path: Path, times: tuple[float, ...], resolution: float
) -> None:
    folder = answers(tmp_path / "responses", *times)
    (step,) = pasted("files", "--mtime", str(folder), "--start", started(tmp_path)).steps
    assert (step.source or "").endswith(f"resolution {resolution:g} s")


def test_empty_files_failed_and_what_is_no_file_is_passed_over(tmp_path: Path) -> None:
    folder = answers(tmp_path / "responses", 5, 6)
    (folder / "empty.json").touch()
    (folder / ".hidden").write_text("x")
    (folder / "deeper").mkdir()
    (folder / "link").symlink_to(folder / "0.json")
    (step,) = pasted("files", "--mtime", str(folder), "--start", started(tmp_path)).steps
    assert (step.concurrency, step.errors, step.completions_s) == (3, 1, [5, 6])


def test_a_start_may_be_a_time(tmp_path: Path) -> None:
    folder = answers(tmp_path / "responses", 5, start=1_700_000_000)
    (step,) = pasted("files", "--mtime", str(folder), "--start", "2023-11-14T22:13:20+00:00").steps
    assert step.completions_s == [5]


@pytest.mark.parametrize("start", ["2023-11-14T22:14:20+00:00", "yesterday", "\0", "9999-99-99"])
def test_a_start_that_cannot_be_is_refused(tmp_path: Path, start: str) -> None:
    folder = answers(tmp_path / "responses", 5)
    with pytest.raises(UsageError, match=r"before the start|neither a time nor a file"):
        pasted("files", "--mtime", str(folder), "--start", start)


def test_a_folder_without_answers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file with an answer"):
        pasted("files", "--mtime", str(answers(tmp_path / "none")), "--start", started(tmp_path))


def test_files_that_were_copied_since_are_suspected(tmp_path: Path) -> None:
    folder = answers(tmp_path / "responses", 5, 5, 5)
    asked = ["files", "--mtime", str(folder), "--start", started(tmp_path)]
    done = CliRunner().invoke(command, asked)
    assert "may have been copied" in done.stderr


# --- nsys: a summary of kernels --------------------------------------------------------------------

KERNELS = """\
Generating SQLite file round.sqlite from round.nsys-rep
Processing [round.sqlite] with [cuda_gpu_kern_sum.py]...

Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
21.0,17000000,400,42500.0,42000.0,40000,50000,900.0,"void matmul<half, (int)128>(T1 *, int)"
64.2,52000000,16,3250000.0,3249000.0,3240000,3300000,8000.0,"attention(float *, int)"
14.8,12000000,64,187500.0,187000.0,180000,190000,700.0,gated_delta
"""


def kernels(tmp_path: Path, text: str, *options: str) -> Observations:
    log = tmp_path / "kernels.csv"
    log.write_text(text, "utf-8")
    return pasted("nsys", str(log), *options)


def test_kernels_become_a_budget_the_most_expensive_first(tmp_path: Path) -> None:
    (budget,) = kernels(tmp_path, KERNELS).budgets
    assert list(budget.parts.items()) == [
        ("attention(float *, int)", 52.0),
        ("void matmul<half, (int)128>(T1 *, int)", 17.0),
        ("gated_delta", 12.0),
    ]
    assert (budget.total_ms, budget.provenance) == (81.0, "measured")


def test_the_time_of_the_whole_leaves_what_is_no_kernel(tmp_path: Path) -> None:
    """The fifth part of the casebook's study of old cards: 52 of 93 ms in one kernel."""
    r = check_of(kernels(tmp_path, KERNELS, "--total", "93"), "time-budget")
    assert r.reading == "unexplained"
    assert r.remainder == pytest.approx(12 / 93)
    assert "without attention(float *, int) at most 2.27 x" in (r.arithmetic or "")


@pytest.mark.parametrize(
    ("unit", "value"),
    [("ns", "2000000"), ("us", "2000"), ("μs", "2000"), ("ms", "2"), ("s", ".002")],
)
def test_times_are_in_the_unit_of_their_column(tmp_path: Path, unit: str, value: str) -> None:
    (budget,) = kernels(tmp_path, f"Time (%),Total Time ({unit}),Name\n100,{value},a\n").budgets
    assert budget.parts == {"a": pytest.approx(2.0)}


def test_many_kernels_are_a_dozen_and_the_others(tmp_path: Path) -> None:
    rows = "".join(f"1,{1000 * n},1,kernel {n}\n" for n in range(1, 21))
    (budget,) = kernels(tmp_path, f"Time (%),Total Time (us),Instances,Name\n{rows}").budgets
    assert next(iter(budget.parts)) == "kernel 20"
    assert list(budget.parts)[-1] == "8 other kernels"
    assert budget.parts["8 other kernels"] == pytest.approx(sum(range(1, 9)))
    assert budget.total_ms == pytest.approx(sum(range(1, 21)))


def test_hostile_names_stay_text_and_long_ones_are_cut_and_added(tmp_path: Path) -> None:
    long = "template<" * 5000
    text = (
        "Time (%),Total Time (ms),Name\n"
        f'50,3,"{long}a"\n50,4,"{long}b"\n1,1,"a: [b, {{c}} # d ""e"" \\ \x07é"\n'
    )
    (budget,) = kernels(tmp_path, text).budgets
    assert list(budget.parts.values()) == [7.0, 1.0]
    assert max(map(len, budget.parts)) == 100
    assert 'a: [b, {c} # d "e"' in list(budget.parts)[1]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no summary",
        "Time (%),Total Time (ns),Name\n",
        "Time (%),Total Time (fortnights),Name\n1,1,a\n",
        "Total Time (ns),Name\nnan,a\ninf,b\n-5,c\nx,d\n0,e\n",
        "\x00\xff,\n" * 100,
        '"' * 1000,
    ],
)
def test_what_is_no_kernel_summary_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="no kernel summary"):
        kernels(tmp_path, text)


def test_json_is_one_object(tmp_path: Path) -> None:
    log = tmp_path / "kernels.csv"
    log.write_text(KERNELS)
    done = CliRunner().invoke(command, ["nsys", str(log), "--json"], catch_exceptions=False)
    said = json.loads(done.stdout)
    assert said["observations"]["budgets"][0]["total_ms"] == 81.0


# --- log: what engines and clients say of themselves -----------------------------------------------

SAMPLES = Path(__file__).parent.parent / "observations" / "data" / "log-formats.yaml"
FORMS = {form["id"]: form["lines"] for form in yaml.safe_load(SAMPLES.read_text("utf-8"))}


def run_log(tmp_path: Path, text: str, *options: str) -> Result:
    log = tmp_path / "server.log"
    log.write_text(text, "utf-8")
    return CliRunner().invoke(command, ["log", str(log), *options], catch_exceptions=False)


@pytest.mark.parametrize("form", ["LF05", "LF06", "LF09", "LF10", "LF11", "LF12", "LF13"])
def test_a_log_can_be_pasted_into_a_spec(tmp_path: Path, form: str) -> None:
    log = tmp_path / "server.log"
    log.write_text("\n".join(FORMS[form]), "utf-8")
    observed = pasted("log", str(log))
    assert observed.steps
    assert all((step.source or "").startswith("server.log: ") for step in observed.steps)
    judge(
        Spec.model_validate({"benchspec": 1, "study": {"title": "x"}}),
        observed,
        spec_sha256="0" * 64,
    )


@pytest.mark.parametrize(
    "wrap",
    [
        lambda line: "Jan 01 12:00:00 host serve[24]: " + line.replace("\t", "#011"),
        lambda line: f"2026-10-21T12:00:00.123456789Z {line}",
        lambda line: f"engine-1  | {line}",
        lambda line: json.dumps({"log": line + "\n", "stream": "stderr", "time": "2026"}),
        lambda line: f"\x1b[32m{line}\x1b[0m",
    ],
    ids=["journald", "docker -t", "compose", "docker json", "colours"],
)
@pytest.mark.parametrize("form", ["LF05", "LF06", "LF09", "LF10", "LF11", "LF12", "LF13"])
def test_what_kept_a_log_does_not_matter(
    tmp_path: Path, form: str, wrap: Callable[[str], str]
) -> None:
    plain = run_log(tmp_path, "\n".join(FORMS[form])).stdout
    assert run_log(tmp_path, "\n".join(map(wrap, FORMS[form]))).stdout == plain


def test_what_has_no_key_is_named_in_one_line(tmp_path: Path) -> None:
    done = run_log(tmp_path, "\n".join(FORMS["LF09"]))
    (line,) = [one for one in done.stderr.splitlines() if one.startswith("left out")]
    assert "CPU KV cache usage" in line
    assert "CPU" not in done.stdout


def test_the_arm_that_ran_may_be_named(tmp_path: Path) -> None:
    log = "\n".join(FORMS["LF09"])
    said = json.loads(run_log(tmp_path, log, "--arm", "tuned", "--json").stdout)["observations"]
    assert said["arms"] == {"tuned": {"kv_tokens": 80000}}
    assert {one["arm"] for one in (*said["steps"], *said["series"])} == {"tuned"}


def test_the_name_of_an_arm_is_text_whatever_it_is(tmp_path: Path) -> None:
    done = run_log(tmp_path, "\n".join(FORMS["LF09"]), "--arm", 'a: {"b\n')
    assert 'a: {"b\n' in yaml.safe_load(done.stdout)["observations"]["arms"]


def test_what_is_no_log_is_refused_with_the_formats_that_are_read(tmp_path: Path) -> None:
    for text in ("", "hello\n", "\x00\xff\n" * 100, DMON, "[100B blob data]\n"):
        with pytest.raises(UsageError, match="no line of a log") as refused:
            run_log(tmp_path, text)
        assert "llama-server timings" in (refused.value.hint or "")


def test_a_log_with_lines_and_no_figure_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no figure that a key holds"):
        run_log(tmp_path, FORMS["LF06"][-1])


def test_what_a_long_log_gives_can_still_be_pasted(tmp_path: Path) -> None:
    gin = '[GIN] 2026/01/01 - 12:{:02}:{:02} | 200 | 5.1s | 127.0.0.1 | POST "/api/chat"'
    log = tmp_path / "server.log"
    log.write_text("\n".join(gin.format(n // 60 % 60, n % 60) for n in range(12_000)), "utf-8")
    (step,) = pasted("log", str(log)).steps
    assert len(step.requests) == 6_000


# --- perf: why clocks were low ----------------------------------------------------------------------

PERFORMANCE = """\
GPU 00000000:01:00.0
    Performance State                     : P2
{0}
GPU 00000000:02:00.0
    Clocks Throttle Reasons
        SW Power Cap                      : Not Active
            HW Thermal Slowdown           : Active
        GPU T.Limit Temp                  : N/A
"""


def test_reasons_are_series_of_each_card_and_the_judge_reads_them(tmp_path: Path) -> None:
    text = PERFORMANCE.format("\n".join(FORMS["LF04"]))
    series = {(o.device, o.counter): o for o in imported(tmp_path, "perf", text * 2)}
    assert series["gpu0", "throttle_power_cap"].values == [100, 100]
    assert series["gpu0", "throttle_thermal"].values == [0, 0]
    assert series["gpu1", "throttle_power_cap"].values == [0, 0]
    assert series["gpu1", "throttle_thermal"].values == [100, 100]
    assert ("gpu1", "throttle_hw_slowdown") not in series
    observed = pasted("perf", str(tmp_path / "log"))
    raw = {"benchspec": 1, "study": {"title": "x"}}
    checks = judge(Spec.model_validate(raw), observed, spec_sha256="0" * 64).checks
    readings = {c.at.get("device"): c.reading for c in checks if c.check == "thermal"}
    assert readings == {"gpu0": "power-capped", "gpu1": "throttled"}


def test_an_excerpt_without_a_card_is_of_the_first(tmp_path: Path) -> None:
    series = imported(tmp_path, "perf", "\n".join(FORMS["LF04"]))
    assert {one.device for one in series} == {"gpu0"}


@pytest.mark.parametrize("text", ["", "hello\n", "GPU 00000000:01:00.0\n", "SW Power Cap : N/A\n"])
def test_what_names_no_reason_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="holds no reason"):
        imported(tmp_path, "perf", text)
