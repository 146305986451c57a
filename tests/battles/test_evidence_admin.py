import pytest
from django.test import Client

from accounts.actor import Actor
from battles import actions
from battles.models import Answer, Battle, Call, Session, Vote
from tests import make


@pytest.fixture
def admin(db) -> Client:
    client = Client()
    client.force_login(make.user(is_staff=True, is_superuser=True))
    return client


@pytest.mark.slow
@pytest.mark.parametrize("model", [Session, Battle, Answer, Call, Vote])
def test_evidence_pages_are_read_only(admin: Client, model: type, django_assert_max_num_queries):
    for _ in range(3):
        battle = make.answered_battle(make.model(), make.model())
        Call.objects.create(
            answer=battle.turns.get().answers.first(), model=battle.sides.first().model, attempt=1, fence=1
        )
        owner = Actor(visitor=battle.session.owner_visitor)
        actions.cast_vote(actor=owner, battle=battle, choice=Vote.Choice.LEFT)
    path = f"/admin/battles/{model._meta.model_name}/"
    with django_assert_max_num_queries(14):
        assert admin.get(path).status_code == 200
    assert admin.get(path, {"q": "x"}).status_code == 200
    assert admin.get(f"{path}add/").status_code == 403
    row = model.objects.first()
    assert admin.get(f"{path}{row.pk}/change/").status_code == 200
    assert admin.post(f"{path}{row.pk}/delete/", {"post": "yes"}).status_code == 403
