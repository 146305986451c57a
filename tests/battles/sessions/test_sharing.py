import json
import re

import pytest
from django.test import Client

from accounts.actor import Actor
from battles import actions
from battles.models import Answer, Battle, Share, Turn, Vote
from battles.prompting.lineup import BattleRequest
from common.text.markdown import render
from tests import make
from uploads.actions import keep_upload

pytestmark = pytest.mark.django_db


@pytest.fixture
def actor() -> Actor:
    return make.visitor()


@pytest.fixture
def owner(actor: Actor) -> Client:
    return make.browser(actor)


def answered(battle: Battle, text: str = "an answer", **fields: object) -> Battle:
    battle.turns.update(state=Turn.State.DONE)
    fields = {"text": text, "html": render(text), "reasoning": "", **fields}
    Answer.objects.filter(turn__battle=battle, state=Answer.State.QUEUED).update(state=Answer.State.DONE, **fields)
    return battle


def blind(actor: Actor, prompt: str = "Why is the sky blue?", **fields: object) -> Battle:
    left, right = make.model(name="Ada <b>", organization="Ada & Co"), make.model(name="Bob")
    return answered(make.battle(left, right, actor=actor, prompt=prompt), **fields)


def voted(actor: Actor, choice: Vote.Choice = Vote.Choice.LEFT, **fields: object) -> Battle:
    battle = blind(actor, **fields)
    actions.cast_vote(actor=actor, battle=battle, choice=choice)
    return battle


def address(battle: Battle) -> str:
    return Share.objects.get(battle=battle).get_absolute_url()


def publish(client: Client, battle: Battle) -> str:
    response = client.post(f"/api/v1/battles/{battle.public_id}/publish/")
    assert response.status_code == 200, response.content
    return str(response.json()["url"])


# ---- Publishing ----


def test_only_the_owner_publishes_a_battle(owner: Client, actor: Actor):
    battle = voted(actor)
    for path in (f"/battles/{battle.public_id}/publish/", f"/api/v1/battles/{battle.public_id}/publish/"):
        assert Client().post(path).status_code == 404
    assert owner.post(f"/battles/{battle.public_id}/publish/").status_code == 302
    assert address(battle) in owner.get(battle.session.get_absolute_url()).text
    assert Client().get(address(battle)).status_code == 200


def test_publishing_twice_creates_one_share(owner: Client, actor: Actor):
    battle = voted(actor)
    assert publish(owner, battle) == publish(owner, battle)
    assert Share.objects.count() == 1


def test_blind_battle_cannot_be_published_before_its_vote(owner: Client, actor: Actor):
    battle = blind(actor)
    refused = owner.post(f"/api/v1/battles/{battle.public_id}/publish/")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_voted_yet")
    assert owner.post(f"/battles/{battle.public_id}/publish/").status_code == 409
    assert "Share this battle" not in owner.get(battle.session.get_absolute_url()).text
    assert not Share.objects.exists()


def test_live_or_void_battle_cannot_be_published(owner: Client, actor: Actor):
    live, void = voted(actor), voted(actor)
    make.turn(live)
    Battle.objects.filter(pk=void.pk).update(voided_at=void.created_at)
    for battle, code in ((live, "still_answering"), (void, "battle_void")):
        refused = owner.post(f"/api/v1/battles/{battle.public_id}/publish/")
        assert (refused.status_code, refused.json()["code"]) == (409, code)


@pytest.mark.parametrize("mode", [Battle.Mode.SIDE_BY_SIDE, Battle.Mode.COMPARE, Battle.Mode.DIRECT])
def test_open_battle_is_published_without_a_vote(owner: Client, actor: Actor, mode: Battle.Mode):
    chosen = [make.model(name=name).slug for name in ("Ada", "Bob")][: 1 if mode == Battle.Mode.DIRECT else 2]
    battle = answered(
        actions.start_session(actor=actor, prompt="hello", battle_request=BattleRequest(mode, tuple(chosen)))
    )
    if mode == Battle.Mode.COMPARE:
        actions.give_stars(actor=actor, answer=Answer.objects.earliest("pk"), stars=4)
    page = Client().get(publish(owner, battle)).text
    assert "Answered by Ada" in page
    assert ("4 stars" in page) == (mode == Battle.Mode.COMPARE)
    assert page.partition("<main")[2].partition("</main>")[0].count("<form") == 1  # the report form


# ---- Content ----


def test_shared_page_shows_conversation_vote_and_names(owner: Client, actor: Actor):
    battle = voted(actor, text="Rayleigh", reasoning="I think")
    page = Client().get(publish(owner, battle)).text
    for text in ("Why is the sky blue?", "Rayleigh", "I think", "Ada &lt;b&gt;", "Bob"):
        assert text in page
    assert "Ada &lt;b&gt; was found better than Bob." in page
    assert re.search(r"<details class=.reasoning.>", page)
    assert "<b>" not in page.replace("<bdi>", "")


def test_shared_page_has_escaped_link_preview(owner: Client, actor: Actor):
    battle = voted(actor, Vote.Choice.TIE, prompt='"><script>alert(1)</script> &amp; why?')
    page = Client().get(publish(owner, battle)).text
    meta = dict(re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)">', page))
    assert meta["og:title"] == "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp;amp; why?"
    assert meta["description"] == meta["og:description"] == "Ada &lt;b&gt; and Bob were found equally good."
    assert meta["og:url"] == f"http://testserver{address(battle)}"
    assert not {"og:image", "twitter:image"} & set(meta)


def test_shared_page_has_no_private_data_or_ids(owner: Client, actor: Actor):
    battle = voted(actor)
    actions.give_feedback(battle=battle, tags={"left": ["clear"]}, comment="my secret comment")
    actions.update_session(battle.session, title="my secret title")
    url = publish(owner, battle)
    texts = "".join(Client().get(f"{url}{more}").text for more in ("", "export/?as=json", "export/"))
    ids = [battle.public_id, battle.session.public_id, *Answer.objects.values_list("public_id", flat=True)]
    for secret in ("secret", str(actor.visitor.key), "/stream/", *ids):
        assert secret not in texts


def test_shared_page_names_files_without_content(owner: Client, actor: Actor):
    file = keep_upload(actor=actor, content=b"the text of a file", name="notes.txt")
    for _ in range(3):
        make.model()
    battle = actions.start_session(
        actor=actor, prompt="hello", battle_request=BattleRequest(attachments=(file.public_id,))
    )
    actions.cast_vote(actor=actor, battle=answered(battle), choice=Vote.Choice.LEFT)
    page = Client().get(publish(owner, battle)).text
    assert "notes.txt" in page
    assert file.public_id not in page
    assert "the text of a file" not in page


def test_later_turns_are_shared_by_publishing_again(owner: Client, actor: Actor):
    battle = voted(actor)
    url = publish(owner, battle)
    make.turn(battle, prompt="a later question")
    assert "a later question" not in Client().get(url).text
    answered(battle)
    assert "Publish the later turns too" in owner.get(battle.session.get_absolute_url()).text
    assert "a later question" not in Client().get(url).text
    assert publish(owner, battle) == url
    assert "a later question" in Client().get(url).text
    assert "Publish the later turns too" not in owner.get(battle.session.get_absolute_url()).text


def test_shared_battle_is_exported_as_markdown_and_json(owner: Client, actor: Actor):
    url = publish(owner, voted(actor, text="Rayleigh"))
    text = Client().get(f"{url}export/?as=markdown")
    assert "### Bob\n\nRayleigh" in text.text
    assert "attachment" in text["Content-Disposition"]
    [battle] = json.loads(Client().get(f"{url}export/?as=json").content)["battles"]
    assert (battle["vote"], battle["sides"][0]["messages"][1]["content"]) == ("left", "Rayleigh")
    assert Client().get(f"{url}export/?as=pdf").status_code == 400


# ---- Withdrawal ----


def test_withdrawn_page_is_gone_and_its_url_is_not_reused(owner: Client, actor: Actor):
    battle = voted(actor)
    url = publish(owner, battle)
    assert "no-store" in Client().get(url)["Cache-Control"]
    for _ in range(2):
        assert owner.delete(f"/api/v1/battles/{battle.public_id}/publish/").status_code == 204
    assert Client().get(url).status_code == Client().get(f"{url}export/").status_code == 404
    assert publish(owner, battle) != url
    assert Client().get(url).status_code == 404
    assert owner.post(f"/battles/{battle.public_id}/withdraw/").status_code == 302
    assert not Share.objects.exists()


def test_deleting_a_session_withdraws_its_shares(owner: Client, actor: Actor):
    battle = voted(actor)
    url = publish(owner, battle)
    actions.delete_session(battle.session)
    assert Client().get(url).status_code == 404
    assert not Share.objects.exists()


def test_hidden_battle_is_neither_shared_nor_publishable(owner: Client, actor: Actor):
    battle = voted(actor)
    url = publish(owner, battle)
    Battle.objects.filter(pk=battle.pk).update(hidden_at=battle.created_at)
    assert Client().get(url).status_code == Client().get(f"{url}export/").status_code == 404
    refused = owner.post(f"/api/v1/battles/{battle.public_id}/publish/")
    assert (refused.status_code, refused.json()["code"]) == (409, "battle_hidden")


# ---- Access ----


@pytest.mark.parametrize("is_indexed", [False, True])
def test_shared_pages_are_noindex_unless_configured(owner, actor, settings, is_indexed: bool):
    settings.ARENA_INDEX_SHARED = is_indexed
    url = publish(owner, voted(actor))
    for more in ("", "export/"):
        assert Client().get(url + more).has_header("X-Robots-Tag") != is_indexed
    assert ('content="noindex"' in Client().get(url).text) != is_indexed


def test_shared_page_in_private_arena_needs_sign_in(settings):
    member = make.member()
    battle = voted(member)
    actions.publish(battle=battle)
    settings.ARENA_ACCESS = "private"
    assert Client().get(address(battle))["Location"].startswith("/accounts/login/")
    colleague = Client()
    colleague.force_login(make.user())
    assert colleague.get(address(battle)).status_code == 200
    client = Client()
    client.force_login(member.user)
    assert "Every member with the link" in client.get(battle.session.get_absolute_url()).text


def test_shared_page_query_count_is_independent_of_turns(owner: Client, actor: Actor, django_assert_max_num_queries):
    battle = voted(actor)
    for _ in range(5):
        make.turn(battle)
    url = publish(owner, answered(battle))
    with django_assert_max_num_queries(7):
        assert Client().get(url).text.count("one two three") >= 5
