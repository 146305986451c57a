"""podman and buildah with images and containers in a folder of their own."""

import json
import os
import resource
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.machine import pip_configuration, pip_settings

BASE = "python:3.11-slim-bookworm"
PACKAGES_OF_BASE = ("ca-certificates", "python-is-python3", "python3", "python3-venv")
MAX_LIMIT = 32_768  # buildah lowers its own limits to this
LIMITS = {"nofile": resource.RLIMIT_NOFILE, "nproc": resource.RLIMIT_NPROC}


class Engine:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        storage = ["--root", str(folder / "storage"), "--runroot", str(folder / "run"), "--storage-driver", "overlay"]
        # runc, because crun refuses machines with both kinds of control groups.
        self._podman = ["podman", *storage, "--runtime", "runc", "--cgroup-manager", "cgroupfs"]
        self._buildah = ["buildah", *storage]
        # The default limits of containers may be higher than this machine's.
        hard = {name: min(resource.getrlimit(number)[1], MAX_LIMIT) for name, number in LIMITS.items()}
        limits = [f"{name}={limit}:{limit}" for name, limit in hard.items()]
        (folder / "containers.conf").write_text(f"[containers]\ndefault_ulimits = {json.dumps(limits)}\n")
        self._environment = os.environ | {"CONTAINERS_CONF": str(folder / "containers.conf")}

    def podman(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Return the ended command; raises AssertionError with its output if `check` and it failed."""
        done = subprocess.run(
            [*self._podman, *arguments], env=self._environment, capture_output=True, text=True, check=False
        )
        assert not check or done.returncode == 0, f"podman {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done

    def make_base(self) -> None:
        """Make a stand-in of the Dockerfile's base from Debian's packages."""
        archive = self.folder / "base.tar"
        include = f"--include={','.join(PACKAGES_OF_BASE)}"
        subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", include, "bookworm", archive], check=True)
        self.podman("import", str(archive), BASE)
        archive.unlink()

    def build(self, image: str, context: Path, target: str = "") -> None:
        """Build with this machine's settings of pip, which the image does not keep."""
        with _pip_volumes(self.folder) as volumes:
            subprocess.run(
                [
                    *self._buildah, "build", "--format", "docker", "--isolation", "chroot", "--layers", "--quiet",
                    *volumes, *(["--target", target] if target else []), "--tag", image, str(context),
                ],
                env=self._environment, stdout=subprocess.DEVNULL, check=True,
            )  # fmt: skip

    def megabytes(self, image: str) -> int:
        return int(self.podman("image", "inspect", image, "--format", "{{.Size}}").stdout) // 1_000_000


@contextmanager
def _pip_volumes(folder: Path) -> Iterator[list[str]]:
    """Yield options that mount pip's index and certificates."""
    settings = {name: value for name, value in pip_settings().items() if name in ("cert", "index-url")}
    with tempfile.NamedTemporaryFile("w", dir=folder) as file:
        file.write(pip_configuration(settings))
        file.flush()
        certificates = [settings["cert"]] if "cert" in settings else []
        yield [f"--volume={file.name}:/etc/pip.conf:ro", *(f"--volume={path}:{path}:ro" for path in certificates)]
