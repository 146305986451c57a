import pytest

from tools import wheels

LIST = """\
old==1.0 ; python_version < "3.14" \\
    --hash=sha256:00
new==2.0 ; python_version >= "3.14" \\
    --hash=sha256:01
any==3.0 \\
    --hash=sha256:02
"""


@pytest.mark.parametrize(
    ("python", "expected"), [("3.13", ["old==1.0", "any==3.0"]), ("3.14", ["new==2.0", "any==3.0"])]
)
def test_pins_are_those_of_the_python(python: str, expected: list[str]):
    assert wheels.pins(LIST, python) == expected


def test_list_needs_the_newest_glibc_of_its_wheels():
    names = ["a-1-cp313-cp313-manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl", "b-1-py3-none-any.whl"]
    assert wheels.Found(dict.fromkeys(names, "")).glibc == 17
    assert wheels.Found({names[1]: ""}).glibc == 0


@pytest.mark.parametrize("name", wheels.LISTS)
def test_each_supported_python_has_pins(name: str):
    assert all(wheels.pins(wheels.read(name), python) for python in wheels.PYTHONS)
