import sys
import threading
from pathlib import Path

import pytest

from arena_site.embedded.program import Program
from arena_site.supervisor import child, terminal
from arena_site.supervisor.process_manager import ProcessManager, Stage
from tests.waiting import wait_for

WRITES_ON_REQUEST = """
import sys, time
from pathlib import Path
for number in range(3):
    while not Path(f"write-{number}").exists():
        time.sleep(0.01)
    print(str(number) * 60, flush=True)
time.sleep(60)
"""


def test_slow_step_of_a_start_is_announced(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(terminal, "SILENCE_S", 60.0)
    with terminal.announced_if_slow("Waiting …"):
        pass
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(terminal, "SILENCE_S", 0.0)
    printed = ""
    with terminal.announced_if_slow("Waiting …"):
        while not printed:
            printed = capsys.readouterr().out
    assert printed == "Waiting …\n"
    assert not [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]


@pytest.mark.processes
def test_large_log_becomes_the_previous_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(child, "MAX_LOG_BYTES", 100)
    processes = ProcessManager(tmp_path, tmp_path)
    command = [sys.executable, "-c", WRITES_ON_REQUEST]
    program = Program("writer", "Writer", command, cwd=tmp_path, is_ready=lambda: True)
    log, previous = processes.start(program, Stage.BACKGROUND).log, tmp_path / "writer.log.1"

    def line_is_written(number: int) -> None:
        (tmp_path / f"write-{number}").touch()
        wait_for(lambda: log.read_text().endswith(str(number) * 60 + "\n"))

    try:
        line_is_written(0)
        processes.rotate_logs()
        assert not previous.exists()
        line_is_written(1)
        processes.rotate_logs()
        assert (log.read_text(), previous.read_text()) == ("", "0" * 60 + "\n" + "1" * 60 + "\n")
        line_is_written(2)
        assert log.read_text() == "2" * 60 + "\n"
    finally:
        processes.stop()
