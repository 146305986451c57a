import shutil
import subprocess
from pathlib import Path

import pytest

from arena_site.embedded.program import CannotStart
from arena_site.supervisor import systemd_unit


def test_unit_of_the_system_runs_as_the_owner_of_the_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setattr(systemd_unit, "SYSTEM_DIR", tmp_path)
    monkeypatch.setattr(systemd_unit.os, "getuid", lambda: 0)
    systemd_unit.write_unit()
    lines = (tmp_path / "arena.service").read_text().splitlines()
    assert f"User={systemd_unit.BASE_DIR.owner()}" in lines
    assert "WantedBy=multi-user.target" in lines
    assert "systemctl enable --now arena" in capsys.readouterr().out


def test_unit_of_a_person_is_in_their_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(systemd_unit.os, "getuid", lambda: 1000)
    systemd_unit.write_unit()
    text = (tmp_path / ".config/systemd/user/arena.service").read_text()
    assert "User=" not in text
    assert "WantedBy=default.target" in text
    assert "systemctl --user enable --now arena" in capsys.readouterr().out


@pytest.mark.parametrize("folder", ["/srv/two\nlines", "/srv/a\\b", '/srv/a"b'])
def test_folder_that_no_unit_can_name_is_refused(folder: str):
    with pytest.raises(CannotStart, match="cannot name the folder"):
        systemd_unit.unit_text(Path(folder), user="")


@pytest.mark.processes
@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs Debian's package systemd")
@pytest.mark.parametrize("folder", ["arena", "an arena", "50%h$HOME"])
@pytest.mark.parametrize("user", ["root", ""])
def test_systemd_understands_the_unit(folder: str, user: str, tmp_path: Path):
    program = tmp_path / folder / ".venv/bin/python"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = tmp_path / "arena.service"
    unit.write_text(systemd_unit.unit_text(tmp_path / folder, user=user))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
    assert (done.returncode, [line for line in done.stderr.splitlines() if "arena.service" in line]) == (0, [])
