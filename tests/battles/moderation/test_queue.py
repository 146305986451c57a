import pytest
from django.http import HttpResponse
from django.test import Client

from accounts.actor import Actor
from accounts.models import AuditEntry, Ban, User
from battles import actions
from battles.models import Action, Battle, ModerationCase, ModerationRule, Session, Turn, Vote
from battles.moderation.rule_timing import MAX_RULE_S, search_seconds
from common.errors import ArenaError
from common.text.markdown import render
from tests import make
from tests.leaderboard.tally_checks import aggregate

pytestmark = pytest.mark.django_db
QUEUE = "/admin/battles/moderationcase/"
DECISIONS = {
    "dismiss": ("moderation.dismiss", "dismissed"),
    "hide": ("moderation.hide", "settled"),
    "exclude_votes": ("moderation.exclude", "settled"),
    "ban": ("moderation.ban", "settled"),
    "show_again": ("moderation.show_again", "dismissed"),
}


def reported(actor: Actor, *, prompt: str = "A rude prompt", vote: bool = True) -> ModerationCase:
    battle = make.battle(make.model(), make.model(), actor=actor, prompt=prompt)
    battle.turns.update(state=Turn.State.DONE)
    for answer in battle.turns.get().answers.all():
        answer.state, answer.text, answer.html = "done", "a rude answer", render("a rude answer")
        answer.save()
    if vote:
        actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    actions.report(actor=make.member(), battle=battle, reason="It is rude.")
    return ModerationCase.objects.get(battle=battle)


def decide(client: Client, action: str, *cases: ModerationCase, because: str = "I looked at it.", **more: str):
    form = {"action": action, "_selected_action": [case.pk for case in cases], "because": because, **more}
    return client.post(QUEUE, form, follow=True)


def test_waiting_cases_come_first_with_reports(at_work: Client):
    decided, waiting = reported(make.visitor(), prompt="The first"), reported(make.visitor(), prompt="The second")
    ModerationCase.objects.filter(pk=decided.pk).update(state="dismissed")
    page = at_work.get(QUEUE).text
    assert 0 < page.index("The second") < page.index("The first")
    assert "1 report" in page
    shown = at_work.get(f"{QUEUE}{waiting.pk}/change/").text
    for words in ("It is rude.", "The second", "a rude answer", "Dismiss …", "Block the people …"):
        assert words in shown


def test_list_shows_state_outcome_and_author_together(at_work: Client, moderator: User):
    case = reported(make.member())
    assert '<td class="field-decision">waiting</td>' in at_work.get(QUEUE).text
    decide(at_work, "hide", case)
    shown = f'<td class="field-decision">settled<br>hidden<br>{moderator.email}</td>'
    assert shown in at_work.get(QUEUE).text


@pytest.mark.parametrize("action", DECISIONS)
def test_decision_needs_reason_and_is_audited(at_work: Client, moderator: User, action: str):
    cases = [reported(make.visitor()) for _ in range(2)]
    if action == "show_again":
        Battle.objects.update(hidden_at="2026-01-01T00:00Z")
    confirmation = at_work.post(QUEUE, {"action": action, "_selected_action": [case.pk for case in cases]})
    assert "2 cases are chosen" in confirmation.text
    decide(at_work, action, *cases, because=" ")
    assert not AuditEntry.objects.exists()
    assert "2 cases are decided" in decide(at_work, action, *cases).text
    name, state = DECISIONS[action]
    entry = AuditEntry.objects.get(action=name)
    assert (entry.user, entry.subject, entry.reason) == (moderator, "2 cases", "I looked at it.")
    assert entry.details["cases"] == [str(case) for case in cases]
    assert entry.created_at is not None
    decided = ModerationCase.objects.values_list("state", "decided_by", "reason")
    assert list(decided) == [(state, moderator.pk, "I looked at it.")] * 2


@pytest.mark.slow
def test_hidden_battle_is_shown_to_staff_only(at_work: Client):
    actor = make.visitor()
    case, owner = reported(actor), make.browser(actor)
    share = actions.publish(battle=case.battle)
    session = case.battle.session
    Session.objects.update(title="A rude prompt")
    decide(at_work, "hide", case)
    api = f"/api/v1/battles/{case.battle.public_id}/"
    pages = [session.get_absolute_url(), api, f"/battles/{case.battle.public_id}/", "/sessions/", "/"]
    pages += [f"/s/{session.public_id}/export/?as={form}" for form in ("json", "markdown")]
    pages += [f"/api/v1/sessions/{session.public_id}/", "/api/v1/sessions/"]
    for page in pages:
        assert "rude" not in owner.get(page, follow=True).text, page
    assert "A moderator has hidden this battle" in owner.get(pages[0]).text
    assert owner.get(api).json()["hidden"] is True
    assert Client().get(share.get_absolute_url()).status_code == 404
    assert "A rude prompt" in at_work.get(f"{QUEUE}{case.pk}/change/").text
    refused = owner.post(f"{api}messages/", {"prompt": "And now?"}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (409, "battle_hidden")
    decide(at_work, "show_again", case)
    assert "a rude answer" in owner.get(pages[0]).text
    assert Client().get(share.get_absolute_url()).status_code == 200
    assert Session.objects.get(pk=session.pk).title == "A rude prompt"


@pytest.mark.slow
def test_stored_results_tell_nothing_of_a_hidden_battle(at_work: Client):
    for _ in range(2):
        make.model()
    owner = make.browser(make.visitor())

    def post(path: str, key: str) -> HttpResponse:
        sent = {"prompt": "A rude prompt"}
        return owner.post(f"/api/v1/{path}", sent, "application/json", headers={"Idempotency-Key": key})

    def repeated() -> list[HttpResponse]:
        return [
            post("sessions/", "one"),
            post(f"sessions/{session['id']}/battles/", "two"),
            post(f"battles/{second['id']}/stop/", "three"),
        ]

    session = post("sessions/", "one").json()
    [first] = session["battles"]
    second = post(f"sessions/{session['id']}/battles/", "two").json()
    assert post(f"battles/{second['id']}/stop/", "three").json()["turns"][0]["prompt"] == "A rude prompt"

    decide(at_work, "hide", ModerationCase.objects.create(battle=Battle.objects.get(public_id=first["id"])))
    assert ["rude" in response.text for response in repeated()] == [False, True, True]
    decide(at_work, "hide", ModerationCase.objects.create(battle=Battle.objects.get(public_id=second["id"])))
    assert [response.json()["code"] for response in repeated()] == ["battle_hidden"] * 3
    assert Battle.objects.count() == 2


def test_hiding_keeps_title_given_by_owner(at_work: Client):
    case = reported(make.visitor())
    Session.objects.update(title="Mine")
    decide(at_work, "hide", case)
    assert Session.objects.get(pk=case.battle.session_id).title == "Mine"


def test_vote_on_hidden_battle_is_refused(at_work: Client):
    actor = make.visitor()
    case = reported(actor, vote=False)
    decide(at_work, "hide", case)
    api = f"/api/v1/battles/{case.battle.public_id}/vote/"
    refused = make.browser(actor).post(api, {"choice": "left"}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (409, "battle_hidden")
    assert not Vote.objects.filter(battle=case.battle).exists()


def test_hiding_stops_running_turn(at_work: Client):
    case = reported(make.visitor(), vote=False)
    live = make.turn(case.battle, prompt="And then?")
    decide(at_work, "hide", case)
    assert Turn.objects.get(pk=live.pk).state == Turn.State.DONE


def test_excluded_vote_leaves_board(at_work: Client, moderator: User):
    case, other = reported(make.visitor()), reported(make.visitor(), vote=False)
    reported(make.visitor())
    assert aggregate().votes_counted == 2
    assert "1 case is decided" in decide(at_work, "exclude_votes", case, other).text
    vote = Vote.objects.get(battle=case.battle)
    assert vote.excluded_reason == "moderation"
    run = aggregate()
    assert (run.votes_counted, run.votes_excluded) == (1, {"moderation": 1})
    assert AuditEntry.objects.get(action="vote.retract").user == moderator


@pytest.mark.slow
def test_blocked_person_sees_reason(at_work: Client):
    actor, member = make.visitor(), make.member()
    cases = [reported(actor), reported(actor), reported(member)]
    decide(at_work, "ban", *cases, because="Advertising.", days="7")
    bans = Ban.objects.in_force().order_by("pk")
    assert [(ban.user, ban.visitor, ban.reason) for ban in bans] == [
        (member.user, None, "Advertising."), (None, actor.visitor, "Advertising."),
    ]  # fmt: skip
    assert all(6 < (ban.expires_at - ban.created_at).total_seconds() / 86_400 <= 7 for ban in bans)
    refused = make.browser(actor).post("/", {"prompt": "hello"})
    assert (refused.status_code, "Advertising." in refused.text) == (403, True)
    decide(at_work, "ban", *cases)
    assert Ban.objects.count() == 2


def test_staff_cannot_be_blocked_from_queue(at_work: Client):
    case = reported(make.member(is_staff=True))
    decide(at_work, "ban", case)
    assert not Ban.objects.exists()


def test_person_with_refused_prompt_can_be_blocked(at_work: Client):
    ModerationRule.objects.create(category="weapons", action=Action.BLOCK, patterns=["bomb"])
    make.model(), make.model()
    actor = make.visitor()
    with pytest.raises(ArenaError, match="weapons"):
        actions.start_session(actor=actor, prompt="a bomb")
    case = ModerationCase.objects.get()
    assert "weapons (refuse)" in at_work.get(QUEUE).text
    assert "are not kept" in at_work.get(f"{QUEUE}{case.pk}/change/").text
    assert "0 cases are decided" in decide(at_work, "hide", case).text
    decide(at_work, "ban", case)
    assert Ban.objects.get().visitor == actor.visitor


@pytest.mark.slow
def test_queue_is_searched_and_filtered(at_work: Client):
    case = reported(make.visitor(), prompt="Needle")
    reported(make.visitor(), prompt="Hay")
    queries = [f"q={case.battle.public_id}", "q=rude", "state__exact=waiting", "by=people", "by=rules"]
    counts = [at_work.get(f"{QUEUE}?{query}").text.count('name="_selected_action"') for query in queries]
    assert counts == [1, 2, 2, 2, 0]
    assert at_work.get(f"{QUEUE}?verdicts__action__exact=warn&hidden=1").status_code == 200


@pytest.mark.slow
def test_queue_has_fixed_query_count(at_work: Client, django_assert_max_num_queries):
    for _ in range(2):
        reported(make.visitor())
    with django_assert_max_num_queries(14):
        at_work.get(QUEUE)
    cases = [reported(make.visitor()) for _ in range(6)]
    with django_assert_max_num_queries(14):
        at_work.get(QUEUE)
    for action, max_queries in (("dismiss", 20), ("hide", 22), ("exclude_votes", 45)):
        with django_assert_max_num_queries(max_queries):
            at_work.post(QUEUE, {"action": action, "_selected_action": [case.pk for case in cases], "because": "So."})


def test_decisions_need_permission(client: Client):
    case = reported(make.visitor())
    client.force_login(make.user(is_staff=True))
    assert client.get(QUEUE).status_code == 403
    for action in DECISIONS:
        assert decide(client, action, case).status_code == 403
    assert not AuditEntry.objects.exists()


@pytest.mark.slow
def test_rules_are_validated_and_audited(client: Client):
    client.force_login(make.user(is_staff=True, is_superuser=True))
    form = {"category": "weapons", "kind": "phrases", "patterns": "bomb*\nknife", "threshold": "0.5", "action": "block"}
    for patterns, kind in (("(", "expressions"), ("a*", "expressions"), ("…", "phrases"), ("", "endpoint")):
        wrong = client.post("/admin/battles/moderationrule/add/", {**form, "patterns": patterns, "kind": kind})
        assert wrong.status_code == 200, patterns
    before = set(ModerationRule.objects.values_list("pk", flat=True))
    assert client.post("/admin/battles/moderationrule/add/", form).status_code == 302
    rule = ModerationRule.objects.exclude(pk__in=before).get()
    assert rule.patterns == ["bomb*", "knife"]
    assert AuditEntry.objects.get().action == "add moderation rule"
    assert client.post(f"/admin/battles/moderationrule/{rule.pk}/delete/", {"post": "yes"}).status_code == 403


def test_second_endpoint_is_refused(client: Client):
    client.force_login(make.user(is_staff=True, is_superuser=True))
    provider = make.provider("http://127.0.0.1:9/v1")
    form = {"provider": provider.pk, "model": "judge", "seconds": "3", "is_active": "on"}
    path = "/admin/battles/moderationendpoint/add/"
    assert [client.post(path, form).status_code for _ in range(2)] == [302, 403]
    assert AuditEntry.objects.get().action == "add moderation endpoint"


@pytest.mark.slow
def test_slow_rule_is_refused_when_saved(client: Client):
    client.force_login(make.user(is_staff=True, is_superuser=True))
    slow = "\n".join(f"(?:a{{0,100}}){{9}}{number}" for number in range(40))
    form = {"category": "slow", "kind": "expressions", "patterns": slow, "threshold": "0.5", "action": "block"}
    page = client.post("/admin/battles/moderationrule/add/", form)
    assert "Searching a long prompt takes more than 50 ms." in page.text
    assert not ModerationRule.objects.filter(category="slow").exists()


@pytest.mark.slow
def test_built_in_rules_are_fast_enough():
    for rule in ModerationRule.objects.exclude(kind=ModerationRule.Kind.ENDPOINT):
        assert search_seconds([rule.matcher], rule.patterns) < MAX_RULE_S
