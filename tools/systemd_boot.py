"""Run the units of `make service` in a container that systemd boots: `python -m tools.systemd_boot`, as root.

A clone of this tree, without its changes, is run first as a unit of the system and then as one of its owner. Each
starts, answers, is killed and comes back, starts with the machine, and stops without leaving a process. Needs
Debian's packages mmdebstrap and systemd-container. The container shares the network; pip gets this machine's
configuration. Prints a line for each step with its seconds.
"""

import argparse
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.waiting import wait_for
from tools.machine import is_ready, pip_configuration, pip_settings

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = "systemd-sysv,dbus,dbus-user-session,libpam-systemd,python3,python3-venv,make,git,ca-certificates,procps"
OWNER, TREE = "arena", "/srv/arena"
BOOT_TIMEOUT_S, START_TIMEOUT_S, STOP_TIMEOUT_S = 60, 300, 70


@dataclass
class Machine:
    """A container with systemd that can be started several times."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    def make(self) -> None:
        run("mmdebstrap", "--quiet", "--variant=minbase", f"--include={PACKAGES}", "bookworm", self.folder)
        run("chroot", self.folder, "useradd", "--create-home", "--shell=/bin/bash", OWNER)
        tree = self.folder / TREE.lstrip("/")
        run("git", "clone", "--quiet", "--depth=1", f"file://{ROOT}", tree)
        (tree / ".env").write_text(f"ARENA_PORT={self.port}\nARENA_LOCAL_MODEL=0\n")
        run("chroot", self.folder, "chown", "--recursive", f"{OWNER}:", TREE)
        (self.folder / "etc/pip.conf").write_text(pip_configuration(pip_settings()))

    def boot(self) -> None:
        files = [f"--bind-ro={file}" for file in named_files(pip_configuration(pip_settings()))]
        with (self.folder.parent / "boot.log").open("ab") as log:
            command = ["systemd-nspawn", "--register=no", "--keep-unit", "--quiet", "--machine=arena-boot", *files]
            # A session of its own keeps its console off the terminal.
            self.process = subprocess.Popen(
                [*command, f"--directory={self.folder}", "--boot"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        wait_for(lambda: self.output("systemctl", "is-system-running") in ("running", "degraded"), BOOT_TIMEOUT_S)

    def power_off(self) -> None:
        if self.process and self.process.poll() is None:
            self.output("systemctl", "poweroff")
            self.process.wait(BOOT_TIMEOUT_S)

    def command(self, *words: str, owner: bool = False) -> list[str]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children") if self.process else Path("/none")
        first = children.read_text().split()[0]
        inside = [
            "nsenter",
            f"--target={first}",
            "--all",
            "env",
            "--ignore-environment",
            "--chdir=/",
            "PATH=/usr/bin:/usr/sbin",
        ]
        if owner:
            inside += ["runuser", "--user", OWNER, "--", "env", f"HOME=/home/{OWNER}", "XDG_RUNTIME_DIR=/run/user/1000"]
        return [*inside, *words]

    def output(self, *words: str, owner: bool = False) -> str:
        """Return what a command printed; empty before the container has a first program."""
        try:
            return subprocess.run(self.command(*words, owner=owner), capture_output=True, text=True).stdout.strip()
        except (OSError, IndexError):
            return ""

    def run(self, *words: str, owner: bool = False) -> None:
        run(*self.command(*words, owner=owner))

    def is_ready(self) -> bool:
        return is_ready(f"http://127.0.0.1:{self.port}")

    def processes(self) -> list[str]:
        return self.output("pgrep", "--list-full", "--full", f"{TREE}/.venv/bin/python|postgres|valkey").splitlines()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8010)
    port = parser.parse_args().port
    with tempfile.TemporaryDirectory(prefix="arena-boot-") as folder:
        machine = Machine(Path(folder, "root"), port)
        with step("make a Debian 12 with systemd and a clone"):
            machine.make()
        try:
            with step("boot"):
                machine.boot()
            for owner in (False, True):
                try_unit(machine, owner=owner)
        finally:
            machine.power_off()


def try_unit(machine: Machine, *, owner: bool) -> None:
    """Raises AssertionError, and CalledProcessError if a command fails."""
    kind, systemctl = ("of the owner", ("systemctl", "--user")) if owner else ("of the system", ("systemctl",))

    def show(name: str) -> str:
        return machine.output(*systemctl, "show", "--value", f"--property={name}", "arena", owner=owner)

    with step(f"unit {kind}: make service"):
        machine.run("make", "--silent", f"--directory={TREE}", "service", owner=owner)
        if owner:
            machine.run("loginctl", "enable-linger", OWNER)
        not_owned = machine.output("find", f"{TREE}/.venv", "-not", "-user", OWNER, "-print", "-quit")
        assert not not_owned, f"{not_owned} is not {OWNER}'s: the next start could not replace it"
    with step(f"unit {kind}: enable --now, until it is ready"):
        if owner:
            wait_for(lambda: bool(machine.output(*systemctl, "is-system-running", owner=True)), BOOT_TIMEOUT_S)
            machine.run(*systemctl, "daemon-reload", owner=True)
        machine.run(*systemctl, "enable", "--now", "--quiet", "arena", owner=owner)
        wait_for(machine.is_ready, START_TIMEOUT_S)
    for victim in ("the launcher", "every program"):
        with step(f"unit {kind}: kill {victim}, until it is ready again"):
            before = show("MainPID")
            if victim == "the launcher":
                machine.run("kill", "-9", before)
            else:
                machine.run(*systemctl, "kill", "--signal=KILL", "arena", owner=owner)
            wait_for(lambda old=before: show("MainPID") not in ("", "0", old) and machine.is_ready(), START_TIMEOUT_S)
    with step(f"unit {kind}: restart, until it is ready"):
        machine.run(*systemctl, "restart", "arena", owner=owner)
        wait_for(machine.is_ready, START_TIMEOUT_S)
    with step(f"unit {kind}: power off"):
        machine.power_off()
        assert not machine.is_ready()
    with step(f"unit {kind}: boot, until it is ready without a command"):
        machine.boot()
        wait_for(machine.is_ready, START_TIMEOUT_S)
    with step(f"unit {kind}: disable --now"):
        machine.run(*systemctl, "disable", "--now", "--quiet", "arena", owner=owner)
        assert (show("Result"), machine.processes()) == ("success", []), (show("Result"), machine.processes())


@contextmanager
def step(name: str) -> Iterator[None]:
    began = time.monotonic()
    try:
        yield
    except BaseException:
        print(f"{name:62} FAILED", flush=True)
        raise
    print(f"{name:62} {time.monotonic() - began:5.1f} s", flush=True)


def run(*words: str | Path) -> None:
    subprocess.run(words, check=True)


def named_files(configuration: str) -> list[str]:
    words = {word for word in configuration.split() if word.startswith("/")}
    return sorted(word for word in words if Path(word).exists())


if __name__ == "__main__":
    main()
