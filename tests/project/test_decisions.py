"""Each decision record has a number, a title and a status that names later decisions only."""

import re

import pytest
from django.conf import settings

DECISIONS = {int(path.name[:4]): path for path in sorted((settings.BASE_DIR / "docs/adr").glob("*.md"))}
LINK = r"\[(\d+)\]\(([\w.-]+)\)"
STATUS = re.compile(
    rf"Status: accepted(, amended by {LINK}(, {LINK})*( and {LINK})?)?(, replaced by {LINK} in one point \([^()]+\))?"
)


def test_decisions_are_numbered_without_gaps():
    assert list(DECISIONS) == list(range(1, len(DECISIONS) + 1))


@pytest.mark.parametrize("number", DECISIONS)
def test_decision_has_a_status_naming_later_decisions(number: int):
    title, blank, status, below, *_ = DECISIONS[number].read_text().split("\n")
    assert re.fullmatch(rf"# {number}\. .+", title)
    assert (blank, below) == ("", "")
    assert STATUS.fullmatch(status), status
    links = re.findall(LINK, status)
    assert {later: DECISIONS[int(later)].name for later, _ in links} == dict(links)
    assert all(int(later) > number for later, _ in links)
