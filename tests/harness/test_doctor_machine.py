"""The doctor looks at machines that are shown to it as directories."""

import pytest

from benchproof import provenance
from benchproof.doctor import machine

GOVERNOR = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"


@pytest.fixture
def computer(tmp_path):
    """Writes files below a made-up root; returns the root."""

    def write(**files):
        for name, text in files.items():
            path = (
                tmp_path
                / {
                    "governor": GOVERNOR,
                    "boost": "sys/devices/system/cpu/cpufreq/boost",
                    "no_turbo": "sys/devices/system/cpu/intel_pstate/no_turbo",
                    "cpuinfo": "proc/cpuinfo",
                    "meminfo": "proc/meminfo",
                    "cpu_max": "sys/fs/cgroup/cpu.max",
                    "dockerenv": ".dockerenv",
                }[name]
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_a_performance_governor_is_fine(computer):
    assert machine.clock(computer(governor="performance\n")).state == "ok"


def test_a_governor_that_saves_power_has_a_command_as_remedy(computer):
    finding = machine.clock(computer(governor="powersave\n"))
    assert (finding.state, finding.affects) == ("degraded", ("wall",))
    assert "powersave" in finding.detail
    assert "cpupower" in finding.remedy


def test_a_clock_that_cannot_be_seen_is_not_called_fine(computer):
    assert machine.clock(computer()).state == "degraded"


@pytest.mark.parametrize(
    ("files", "remedy"),
    [
        ({"boost": "1"}, "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"),
        ({"boost": "0"}, ""),
        ({"no_turbo": "0"}, "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"),
        ({"no_turbo": "1"}, ""),
        ({}, ""),
    ],
)
def test_turbo_is_read_from_whichever_switch_there_is(computer, files, remedy):
    finding = machine.clock(computer(governor="performance", **files))
    assert (finding.state, finding.remedy) == ("degraded" if remedy else "ok", remedy)


def test_a_virtual_machine_is_told_from_a_container(computer):
    steady = computer(governor="performance", dockerenv="", cpuinfo="flags : fpu vme\n")
    assert machine.clock(steady).state == "ok"
    virtual = machine.clock(computer(cpuinfo="model name : x\nflags : fpu hypervisor\n"))
    assert virtual.state == "degraded"
    assert "a virtual machine" in virtual.detail


def test_all_that_makes_the_clock_unsteady_is_one_finding(computer):
    finding = machine.clock(computer(governor="powersave", boost="1", cpuinfo="flags : hypervisor"))
    assert finding.detail.count("; ") == finding.remedy.count("\n") == 2


def test_one_core_and_a_throttled_container_are_both_seen(computer, monkeypatch):
    monkeypatch.setattr(provenance, "usable_cores", lambda: [0, 1, 2, 3])
    assert machine.cores(computer(cpu_max="max 100000\n")).state == "ok"
    throttled = machine.cores(computer(cpu_max="150000 100000\n"))
    assert throttled.state == "degraded"
    assert "1.5" in throttled.detail
    monkeypatch.setattr(provenance, "usable_cores", lambda: [0])
    assert machine.cores(computer(cpu_max="max 100000\n")).state == "degraded"


def test_a_system_without_affinity_measures_wall_time_less_well(monkeypatch):
    monkeypatch.setattr(provenance, "pinned_core", lambda: None)
    assert machine.affinity().affects == ("wall",)


def test_a_busy_machine_is_told_from_a_quiet_one(monkeypatch):
    monkeypatch.setattr(provenance, "usable_cores", lambda: [0, 1])
    assert machine.load(0.1).state == "ok"
    assert machine.load(1.9).state == "degraded"


def test_little_memory_is_seen(computer):
    assert machine.memory(computer(meminfo="MemAvailable:  8000000 kB\n")).state == "ok"
    assert machine.memory(computer(meminfo="MemAvailable:   200000 kB\n")).state == "degraded"
    assert machine.memory(computer(meminfo="MemTotal: 1 kB\n")).detail == "not shown by this system"


@pytest.mark.parametrize(
    ("megabytes", "state"), [(50, "missing"), (300, "degraded"), (90_000, "ok")]
)
def test_a_disk_without_room_stops_the_main_job(tmp_path, megabytes, state):
    finding = machine.disk(tmp_path / "not" / "there", megabytes * 1_000_000)
    assert finding.state == state
    assert finding.stops_the_main_job == (state == "missing")
    assert str(tmp_path) in finding.detail
