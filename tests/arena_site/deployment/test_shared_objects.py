import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from django.conf import settings

from arena_site.embedded.program import CANNOT_START_STATUS
from tests.arena_site.deployment.elf import NEEDED, is_elf, names
from tests.arena_site.deployment.test_deployment import dockerfile
from tests.worlds.requirements import pins

BASE = {
    line
    for line in Path(__file__).with_name("slim_base_libraries.txt").read_text().splitlines()
    if not line.startswith("#")
}
SONAMES = {"libgomp1": {"libgomp.so.1"}, "libatomic1": {"libatomic.so.1"}}
CI = (settings.BASE_DIR / ".ci" / "run").read_text()


def packages_of_image(target: str) -> set[str]:
    packages: dict[str, set[str]] = {}
    for instruction, rest in dockerfile():
        if instruction == "FROM":
            base, _, stage = rest.partition(" AS ")
            packages[stage] = set(packages.get(base, ()))
        for words in re.findall(r"apt-get install ([^&|;]*)", rest):
            packages[stage] |= {word for word in words.split() if not word.startswith("-")}
    return packages[target]


def needed_by_wheels(requirements: str) -> set[str]:
    text = (settings.BASE_DIR / "requirements" / requirements).read_text()
    needed, brought = set(), set()
    for pin in pins(text):
        for file in distribution(pin.name).files or []:
            path = Path(file.locate())
            if path.is_file() and is_elf(path):
                brought.add(path.name)
                needed |= {soname for tag, soname in names(path) if tag == NEEDED}
    return needed - brought


def missing_sonames(requirements: str, packages: set[str]) -> set[str]:
    of_packages = set().union(*(SONAMES.get(package, set()) for package in packages))
    missing = needed_by_wheels(requirements) - BASE - of_packages
    return {soname for soname in missing if not soname.startswith("ld-linux-")}  # its name has the architecture


@pytest.mark.slow
@pytest.mark.parametrize(
    ("requirements", "packages"),
    [
        ("arena.txt", packages_of_image("arena")),
        ("local-model.txt", packages_of_image("local-model")),
        ("local-model.txt", packages_of_image("arena-all")),
        ("dev.txt", set(re.findall(r"[\w-]+", CI))),
    ],
    ids=["arena", "local-model", "arena-all", "dev"],
)
def test_image_has_the_shared_objects_of_its_wheels(requirements: str, packages: set[str]):
    try:
        assert missing_sonames(requirements, packages) == set()
    except PackageNotFoundError as error:
        if requirements != "local-model.txt":
            raise
        pytest.skip(f"not installed: {error}")


def test_needed_shared_objects_are_found_in_python_itself():
    assert "libc.so.6" in {soname for tag, soname in names(Path(sys.executable).resolve()) if tag == NEEDED}
    assert "libgomp.so.1" not in BASE


def test_local_model_names_the_shared_object_it_lacks(tmp_path: Path):
    (tmp_path / "xllamacpp.py").write_text("raise ImportError('libz.so.1: cannot open shared object file')")
    command = [sys.executable, "-m", "arena_site.embedded.local_model", "--port", "1"]
    ended = subprocess.run(
        command, cwd=settings.BASE_DIR, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )
    sentence = "llama.cpp cannot be loaded: libz.so.1: cannot open shared object file.\n"
    assert (ended.returncode, ended.stderr) == (CANNOT_START_STATUS, sentence)
