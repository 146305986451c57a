"""Look for a wheel of each pinned package: `python -m tools.wheels`, for each Python and processor that is supported.

pip resolves the lists of `requirements/` for a machine that it does not run on, without installing. A wheel counts if
the list has its hash. Prints a row for each machine with the oldest glibc that its wheels run on, and each package
that would be built from its sources. Only glibc: the included PostgreSQL and Valkey do not run on musl.
"""

import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from packaging.utils import parse_wheel_filename

from tests.worlds import requirements

REQUIREMENTS = Path(__file__).resolve().parents[1] / "requirements"
# Those of a running arena, and of the tests that a release runs there.
LISTS = ("arena.txt", "local-model.txt", "pip.txt", "dev.txt", "postgres-16.txt")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PROCESSORS = ("x86_64", "aarch64")
# glibc 2.N, the oldest first: pip prefers a wheel that older systems run. Debian 12 has 2.36.
GLIBCS = range(5, 37)
OLD_NAMES = ("manylinux1", "manylinux2010", "manylinux2014")
# Packages without a wheel for a machine, with what happens there.
KNOWN: dict[str, str] = {}

HASH = re.compile(r"--hash=sha256:(\w+)")
MISSING = re.compile(r"No matching distribution found for (\S+?)==")
GLIBC = re.compile(r"manylinux_2_(\d+)_")


@dataclass
class Found:
    wheels: dict[str, str] = field(default_factory=dict)  # digest by file name
    missing: list[str] = field(default_factory=list)

    @property
    def glibc(self) -> int:
        """Return the oldest 2.N that runs all wheels; 0 if any does."""
        return max((needed_glibc(name) for name in self.wheels), default=0)


def main() -> int:
    unexpected = 0
    machines = [(name, python, processor) for name in LISTS for processor in PROCESSORS for python in PYTHONS]
    with ThreadPoolExecutor(2) as pool:
        results = pool.map(find_wheels, *zip(*machines, strict=True))
        for (name, python, processor), found in zip(machines, results, strict=True):
            needs = f"glibc 2.{found.glibc}" if found.glibc else "any libc"
            row = f"{name:16}  Python {python}  {processor:7}  {len(found.wheels):3} wheels, {needs}"
            print(row, flush=True)
            for package in found.missing:
                print(f"    no wheel of {package}: {KNOWN.get(package, 'UNEXPECTED')}")
            foreign = set(found.wheels.values()) - set(HASH.findall(read(name)))
            if foreign:
                print(f"    wheels whose hash is not in the list: {len(foreign)}")
            unexpected += len(foreign) + len(set(found.missing) - set(KNOWN))
    return bool(unexpected)


def read(list_name: str) -> str:
    return (REQUIREMENTS / list_name).read_text()


def pins(text: str, python: str) -> list[str]:
    """Return `name==version` of each package of a list that this Python installs."""
    environment = {"python_version": python, "python_full_version": f"{python}.9"}
    return [f"{pin.name}{pin.specifier}" for pin in requirements.pins(text, environment)]


def needed_glibc(wheel: str) -> int:
    """Return N of the oldest glibc 2.N that the wheel runs on; 0 if any does."""
    platforms = {tag.platform for tag in parse_wheel_filename(wheel)[3]}
    return min((int(found[1]) for platform in platforms if (found := GLIBC.match(platform))), default=0)


def find_wheels(list_name: str, python: str, processor: str) -> Found:
    """Raises RuntimeError if pip fails for another reason than a missing wheel."""
    found, wanted = Found(), pins(read(list_name), python)
    tags = [*OLD_NAMES, *(f"manylinux_2_{minor}" for minor in GLIBCS)]
    platforms = [f"--platform={tag}_{processor}" for tag in tags]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        # pip ends with the first package that has no wheel.
        while wanted:
            done = subprocess.run(
                [
                    *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--dry-run"),
                    *("--ignore-installed", "--no-deps", "--only-binary=:all:", f"--target={folder}/none"),
                    *(f"--report={report}", f"--python-version={python}", *platforms, *wanted),
                ],
                capture_output=True,
                text=True,
            )
            if done.returncode == 0:
                break
            if not (match := MISSING.search(done.stderr)):
                raise RuntimeError(done.stderr)
            found.missing.append(match[1])
            wanted = [requirement for requirement in wanted if not requirement.startswith(f"{match[1]}==")]
        for package in json.loads(report.read_text())["install"] if wanted else ():
            download = package["download_info"]
            name = unquote(download["url"].rpartition("/")[2])
            found.wheels[name] = download["archive_info"]["hashes"]["sha256"]
    return found


if __name__ == "__main__":
    sys.exit(main())
