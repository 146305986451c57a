"""Pins of the lists in requirements/."""

import re
from collections.abc import Mapping

from packaging.requirements import Requirement

_PIN = re.compile(r"^[\w.-]+==[^\\\n]+", re.MULTILINE)


def pins(text: str, environment: Mapping[str, str] | None = None) -> list[Requirement]:
    """Return the pins that a Python installs. environment: values of markers; by default of this one."""
    found = map(Requirement, _PIN.findall(text))
    return [pin for pin in found if pin.marker is None or pin.marker.evaluate(environment and dict(environment))]
