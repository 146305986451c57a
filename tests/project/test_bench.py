"""Measurements of `make bench`: processor time of processes that end, and peers that do."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.waiting import wait_for
from tests.worlds.arena import free_port
from tools.bench import gateway, peers
from tools.bench.capacity import growth
from tools.bench.meter import ProcessorTime, not_negative, spent
from tools.bench.peer_programs import PeerSkipped, running_peer, skips

BURN = "import time\nwhile time.process_time() < {seconds}: pass\n"
# Starts a child that works; at a line of input lets it end and waits for it, at the next one ends.
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {child!r}], stdin=subprocess.PIPE)
print(child.pid, flush=True)
sys.stdin.readline()
child.communicate(b"end")
print("ended", flush=True)
sys.stdin.readline()
"""
PEER_THAT_ENDS = "print('first line')\nraise SystemExit('the prisma CLI is neither on PATH nor here')"
PEER_THAT_SHOWS = """
import http.server, os, sys
print(sorted(os.environ), flush=True)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()
"""

COSTS = growth.Costs(
    web=0.03, answers=0.06, rendering=0.01, postgres=0.02, valkey=0.002, vote_web=0.02, vote_postgres=0.004,
    seconds=5, votes_at_commit=500, votes=0.5,
)  # fmt: skip


@contextmanager
def family(child: str) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """Yield a process and the id of its child."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT.format(child=child)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        yield parent, int(parent.stdout.readline())
        parent.communicate("\n\n")


def end_child(parent: "subprocess.Popen[str]") -> None:
    parent.stdin.write("\n")
    parent.stdin.flush()
    assert parent.stdout.readline() == "ended\n"


@pytest.mark.processes
def test_time_of_ended_process_stays_with_its_part():
    with family(BURN.format(seconds=0.3) + "input()\n" + BURN.format(seconds=0.5)) as (parent, child):
        time = ProcessorTime()
        parts = {"answers": [parent.pid], "scoring": [child]}
        wait_for(lambda: time.look(parts)["scoring"] >= 0.29)
        before = time.look(parts)
        end_child(parent)
        after = time.look({"answers": [parent.pid], "scoring": []})
    seconds = spent(before, after)
    assert after["scoring"] == before["scoring"]
    # The child worked for 0.2 s more after it was last measured, which its parent knows.
    assert 0.1 < seconds["answers"] < 0.5
    assert min(seconds.values()) >= 0


@pytest.mark.processes
def test_time_of_unseen_process_counts_for_its_parent():
    with family(BURN.format(seconds=0.3)) as (parent, _child):
        time = ProcessorTime()
        before = time.look({"web": [parent.pid]})
        end_child(parent)
        assert spent(before, time.look({"web": [parent.pid]}))["web"] > 0.25


@pytest.mark.processes
def test_family_that_ended_between_two_looks_counts_once():
    outer = PARENT.format(child=BURN.format(seconds=0.3) + "input()")
    with subprocess.Popen(
        [sys.executable, "-c", f"import sys\nexec({outer!r})"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        child, own, time = int(parent.stdout.readline()), os.getpid(), ProcessorTime()
        parts = {"launcher": [own], "web": [parent.pid], "scoring": [child]}
        wait_for(lambda: time.look(parts)["scoring"] >= 0.29)
        before = time.look(parts)
        parent.communicate("\n\n")
    seconds = spent(before, time.look({"launcher": [own], "web": [], "scoring": []}))
    assert (seconds["web"], seconds["scoring"]) == (0, 0)
    assert seconds["launcher"] < 0.28  # without the child's time, which was counted


def test_negative_processor_time_ends_the_bench():
    with pytest.raises(SystemExit, match=r"cannot be negative, .*: scoring -1\.0000"):
        spent({"web": 1.0, "scoring": 3.0}, {"web": 2.0, "scoring": 2.0})
    assert not_negative({"web": 0.0}) == {"web": 0.0}


def peer(source: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", source, *arguments]


@pytest.mark.processes
def test_peer_that_ends_is_skipped_with_its_last_lines(tmp_path: Path, capfd):
    port = free_port()
    with skips("litellm"), running_peer(
        peer(PEER_THAT_ENDS), f"http://127.0.0.1:{port}/", home=tmp_path, environment={}
    ):  # fmt: skip
        pytest.fail("it never answered")
    shown = capfd.readouterr().out
    assert shown.startswith("  skipped: litellm: it ended with exit code 1. Its last lines:")
    assert "the prisma CLI is neither on PATH nor here" in shown


@pytest.mark.processes
def test_peer_has_nothing_of_the_environment(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://arena")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    port = free_port()
    with running_peer(
        peer(PEER_THAT_SHOWS, str(port)), f"http://127.0.0.1:{port}/", home=tmp_path, environment={"OWN": "1"}
    ) as pid:
        assert os.getpgid(pid)
    names = set((tmp_path / "output").read_text().splitlines()[0].strip("[]").replace("'", "").split(", "))
    assert {"HOME", "OWN", "PATH"} <= names
    assert names <= {"HOME", "OWN", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"}
    assert "DATABASE_URL" not in peers.peer_environment(tmp_path)


def test_peer_that_never_answers_is_skipped(tmp_path: Path):
    silent = peer("import time\nprint('waiting', flush=True)\ntime.sleep(60)")
    with pytest.raises(PeerSkipped, match=r"(?s)did not answer within 1 s.*waiting"), running_peer(
        silent, f"http://127.0.0.1:{free_port()}/", home=tmp_path, environment={}, within_s=1
    ):  # fmt: skip
        pytest.fail("it never answered")


def test_peer_that_ends_while_it_is_measured_is_skipped(tmp_path: Path):
    port = free_port()

    def measure() -> None:
        command = peer(PEER_THAT_SHOWS, str(port))
        with running_peer(command, f"http://127.0.0.1:{port}/", home=tmp_path, environment={}) as pid:
            os.kill(pid, 9)
            raise ConnectionError

    with pytest.raises(PeerSkipped, match="exit code -9"):
        measure()


def test_absent_and_failing_peers_are_skipped(tmp_path: Path, monkeypatch):
    with pytest.raises(PeerSkipped, match="cannot be started: No such file"):
        peers._measure([str(tmp_path / "nothing")], tmp_path, "http://127.0.0.1:1")
    with pytest.raises(PeerSkipped, match="neither on PATH"):
        peers._measure(peer(PEER_THAT_ENDS), tmp_path, "http://127.0.0.1:1")
    monkeypatch.setattr(gateway, "LITELLM", tmp_path / "litellm")
    with pytest.raises(PeerSkipped, match="cannot be started"), gateway._litellm("http://127.0.0.1:1", "m"):
        pytest.fail("there is no such program")


def test_needs_of_a_rate_follow_from_the_costs():
    # A battle takes 0.03 + 0.5 × 0.02 s of web and 0.02 + 0.5 × 0.004 s of PostgreSQL; a core works 0.6 of the time.
    needed = growth.needs(COSTS, 60)
    assert (needed.web, needed.answers, needed.machines) == (4, 6, 2)  # (4 + 6 + 1 + 2.2 + 0.2) / 8 cores
    assert (needed.postgres, needed.valkey, needed.numbering) == pytest.approx((2.2, 0.2, 0.06))


def test_answers_under_way_need_workers_when_cpu_does_not():
    slow = replace(COSTS, seconds=200, answers=0.0001, web=0.0001, vote_web=0)
    assert (growth.needs(slow, 10).answers, growth.needs(slow, 10).web) == (5, 2)  # 2,000 turns, 2,000 streams


def test_first_limit_is_the_lowest_and_the_table_has_every_rate():
    assert growth.first_limits(COSTS) == [
        (pytest.approx(300), "one Valkey, which uses one core"),
        (pytest.approx(600), "numbering of votes at COMMIT"),
        (pytest.approx(1745.45, abs=0.01), "one PostgreSQL with 64 cores"),
    ]
    rows = growth.table(COSTS, [60, 6_000]).splitlines()[2:]
    assert rows[0] == "| 60 | 4 | 6 | 2.2 | 0.20 | 6% | 2 |"
    assert rows[1].startswith("| 6,000 | 400 | 600 | 220.0 | 20.00 | 600% |")
