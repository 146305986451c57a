import pytest

from reviews.second_opinions.queries import read_site_agreement
from tests import make
from tests.worlds.reviews.second_opinions import asked_about, prefer

pytestmark = pytest.mark.django_db


def test_agreement_is_unknown_from_few_pairs():
    owner, pair = make.member(), (make.model(), make.model())
    asked = asked_about(owner, models=pair)
    prefer(make.visitor(), asked, pair[0])
    assert read_site_agreement() is None


def test_agreement_counts_pairs_of_people(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("reviews.second_opinions.queries.MIN_PAIRS", 1)
    pair = make.model(), make.model()
    for agrees in (True, True, True, False):  # with the owner, who preferred the first model
        asked = asked_about(make.member(), models=pair)
        prefer(make.visitor(), asked, pair[0] if agrees else pair[1])
    site = read_site_agreement()
    assert site is not None
    assert (site.value, site.pairs, site.battles, site.people) == (0.75, 4, 4, 8)
    assert site.low < 0.75 < site.high


def test_team_and_uncounted_votes_are_left_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("reviews.second_opinions.queries.MIN_PAIRS", 1)
    owner, pair = make.member(), (make.model(), make.model())
    asked = asked_about(owner, models=pair)
    prefer(owner, asked, pair[0])
    assert read_site_agreement() is None
    team = make.team(owner.user)
    of_team = asked_about(owner, models=pair, place=team)
    assert of_team.team == team
    assert read_site_agreement() is None
