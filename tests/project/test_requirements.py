"""The pinned requirements fit every supported Python, not only the one they were compiled with."""

from importlib.metadata import requires
from pathlib import Path

import pytest
from django.conf import settings
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.worlds.requirements import pins

DEBIAN_12 = {"python_version": "3.11", "python_full_version": "3.11.2", "extra": ""}


@pytest.mark.parametrize("name", ["arena.txt", "dev.txt"])
def test_requirements_of_debians_python_are_pinned(name: str):
    text = Path(settings.BASE_DIR / "requirements" / name).read_text()
    pinned = {canonicalize_name(pin.name) for pin in pins(text, DEBIAN_12)}
    needed = {
        (package, canonicalize_name(requirement.name))
        for package in pinned
        for requirement in map(Requirement, requires(package) or [])
        if requirement.marker is None or requirement.marker.evaluate(DEBIAN_12)
    }
    assert {(package, other) for package, other in needed if other not in pinned} == set()
