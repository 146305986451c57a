"""Guarded children have limits, and neither the settings nor the open files of their parent."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from common.child_process import process
from common.child_process.frames import pack, receive, unpack
from common.child_process.process import PROJECT_DIR, ChildFailed, kill, run_once, start_connected
from tests.waiting import wait_for

pytestmark = pytest.mark.processes

CHILD = "tests.common.surroundings"
SURROUNDINGS = {
    "environment": {"PYTHONDONTWRITEBYTECODE": "1"}, "descriptors": [0, 1, 2], "folder": str(PROJECT_DIR),
    "leads_session": True,
}  # fmt: skip


def test_child_has_no_secrets_and_no_files():
    assert json.loads(run_once(CHILD, "0", content=b"")) == SURROUNDINGS


def test_connected_child_has_no_secrets_and_ends_with_us():
    child, connection = start_connected(CHILD, "reply")
    with connection:
        connection.sendall(pack(b""))
        reply = receive(connection)
    assert reply is not None
    assert json.loads(reply) == SURROUNDINGS
    assert child.wait(60) == 0


def test_failed_child_leaves_its_output():
    with pytest.raises(ChildFailed) as failed:
        run_once(CHILD, "3", content=b"begun ")
    assert failed.value.output.startswith(b"begun {")


def test_output_is_reported_until_the_timeout(monkeypatch):
    monkeypatch.setattr(process, "_OUTPUT_EVERY_S", 0.05)
    seen: list[bytes] = []
    with pytest.raises(ChildFailed) as failed:
        run_once(CHILD, "hang", content=b"begun ", timeout_s=1.5, on_output=seen.append)
    assert (seen[-1], failed.value.output, failed.value.status) == (b"begun ", b"begun ", None)


def test_killed_child_ends_with_its_children():
    child, connection = start_connected(CHILD, "nested")
    with connection:
        pid = receive(connection)
    assert pid is not None
    kill(child)
    assert child.returncode == -9
    command = Path(f"/proc/{int(pid)}/cmdline")
    wait_for(lambda: not command.exists() or not command.read_bytes())  # empty until it is reaped


def test_incomplete_message_is_left_out():
    output = pack(b"one") + pack(b"") + pack(b"two")
    assert [list(unpack(output[:end])) for end in (18, 17, 10, 0)] == [
        [b"one", b"", b"two"],
        [b"one", b""],
        [b"one"],
        [],
    ]


@pytest.mark.parametrize(
    ("code", "status", "message"),
    [
        ("while True: pass", -9, b""),
        ("bytearray(2 << 30)", 1, b"MemoryError"),
        ("with open('written', 'w') as file: file.write('x')", 1, b"File too large"),
    ],
)
def test_kernel_limits_end_the_child(code: str, status: int, message: bytes, tmp_path: Path):
    limited = "from common.child_process.limits import limit_run; limit_run(cpu_s=1)"
    ended = subprocess.run(
        [sys.executable, "-c", f"{limited}\n{code}"],
        cwd=tmp_path, env={"PYTHONPATH": str(PROJECT_DIR)}, capture_output=True, check=False,
    )  # fmt: skip
    assert ended.returncode == status
    assert message in ended.stderr
