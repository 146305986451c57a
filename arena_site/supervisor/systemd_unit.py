"""`make service`: a systemd unit that runs this arena from the machine's start on."""

import os
import pwd
from pathlib import Path

from arena_site.embedded.program import CannotStart
from arena_site.settings.env import BASE_DIR
from arena_site.supervisor.site import Site
from arena_site.supervisor.terminal import echo

UNIT = "arena.service"
# Directories of a system's units, and of a user's below the home directory.
SYSTEM_DIR, USER_DIR = Path("/etc/systemd/system"), Path(".config/systemd/user")
NEXT_STEPS_OF_USER = """\
Stop an arena that runs in a terminal (make stop), then:

  systemctl --user daemon-reload
  systemctl --user enable --now arena     # start it now and with each start of the machine
  loginctl enable-linger                  # also while you are not signed in

  systemctl --user status arena           # is it running?
  journalctl --user --unit arena          # its messages; logs of its programs are in {logs}
  systemctl --user restart arena          # after git pull, or a change of .env
  systemctl --user disable --now arena    # stop it for good; its data stays
"""
NEXT_STEPS_OF_SYSTEM = """\
Stop an arena that runs in a terminal (make stop), then:

  systemctl daemon-reload
  systemctl enable --now arena            # start it now and with each start of the machine

  systemctl status arena                  # is it running?
  journalctl --unit arena                 # its messages; logs of its programs are in {logs}
  systemctl restart arena                 # after git pull, or a change of .env
  systemctl disable --now arena           # stop it for good; its data stays
"""


def write_unit() -> None:
    """Write root's unit for the system, anybody else's for themselves; print the next steps.

    Raises CannotStart, and OSError if the unit cannot be written.
    """
    owner = pwd.getpwuid(BASE_DIR.stat().st_uid)
    logs = Site.from_environment().logs
    if os.getuid() == 0:
        path, steps = SYSTEM_DIR / UNIT, NEXT_STEPS_OF_SYSTEM
        text = unit_text(BASE_DIR, user=owner.pw_name)
    else:
        path, steps = Path.home() / USER_DIR / UNIT, NEXT_STEPS_OF_USER
        text = unit_text(BASE_DIR, user="")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    echo(f"Wrote {path}.\n{steps.format(logs=logs)}")


def unit_text(root: Path, *, user: str) -> str:
    """Return a unit for the tree at `root`: of the system, run by `user`, or of one's own if that is "".

    Raises CannotStart for a path that a unit cannot name.
    """
    if any(not letter.isprintable() or letter in '\\"' for letter in str(root)):
        raise CannotStart(f"A systemd unit cannot name the folder {str(root)!r}.")
    folder = str(root).replace("%", "%%")
    lines = [
        "# Written by `make service`, and again by the next one. Your own changes: systemctl edit arena",
        "[Unit]",
        "Description=Arena for language models",
        "After=network-online.target",
        "Wants=network-online.target",
        "",
        "[Service]",
        "Type=exec",
        *([f"User={user}"] if user else []),
        f"WorkingDirectory={folder}",
        # Installs what a newer version needs; without changes it takes a tenth of a second.
        "ExecStartPre=/usr/bin/env make --silent --no-print-directory install",
        f'ExecStart="{folder}/.venv/bin/python" -m arena_site.supervisor',
        # Only the launcher gets the signal: it ends its programs in their order.
        "KillMode=mixed",
        "TimeoutStartSec=infinity",
        "TimeoutStopSec=60",
        "Restart=on-failure",
        "RestartSec=5",
        "LimitNOFILE=65536",
        "NoNewPrivileges=yes",
        *(["ProtectSystem=full", "ProtectKernelTunables=yes", "ProtectControlGroups=yes"] if user else []),
        "",
        "[Install]",
        f"WantedBy={'multi-user.target' if user else 'default.target'}",
    ]
    return "\n".join(lines) + "\n"
