"""Prompts are looked at before any model sees them: refused, noted or let pass, and never rewritten."""

from collections.abc import Iterable, Sequence

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts.actor import Actor
from battles.errors import PromptRefused
from battles.models import Action, Battle, ModerationCase, ModerationVerdict, Turn
from battles.moderation import endpoint, policy
from battles.moderation.findings import Finding
from battles.text.deobfuscation import text_variants
from uploads.message_parts import sent_text
from uploads.models import Upload


def examine(
    *, actor: Actor, prompt: str, uploads: Sequence[Upload] = (), battle: Battle | None = None
) -> list[Finding]:
    """What the rules find in a prompt, read after the battle's earlier ones, and in its files as models are sent them.

    No query while every rule is off. May wait for the moderation endpoint: not inside a transaction, if it can be
    helped. Raises PromptRefused, of which a case is kept, and NotExamined.
    """
    rules = policy.current()
    if not rules:
        return []
    said = battle.turns.order_by("index").values_list("prompt", flat=True) if battle is not None else ()
    passages = [[*said, prompt], [text for upload in uploads if (text := sent_text(upload))]]
    findings = _matched(rules, passages)
    if refusing_one(findings) is None:
        findings += endpoint.judged(rules, passages)
    if (refusing := refusing_one(findings)) is not None:
        _keep_refusal(actor, findings, battle)
        sentence = _("Your prompt was not sent: this arena does not allow “%(category)s”.")
        sentence %= {"category": refusing.rule.category_words}
        raise PromptRefused(sentence, fields={"prompt": [sentence]})
    return findings


def keep(findings: Iterable[Finding], turn: Turn) -> None:
    """Beside the turn, in its transaction: what was not found in its battle before. Only of that a person is warned."""
    findings = list(findings)
    if not findings:
        return
    known = ModerationVerdict.objects.filter(case__battle=turn.battle, turn__isnull=False)
    before = set(known.values_list("rule", flat=True))
    new = [finding for finding in findings if finding.rule.pk not in before]
    if new:
        _write(flagged(turn.battle), new, turn)
    turn.warnings = list(dict.fromkeys(one.rule.category for one in new if one.rule.action == Action.WARN))
    if turn.warnings:
        turn.save(update_fields=["warnings"])


def flagged(battle: Battle) -> ModerationCase:
    """The battle's case, which waits for a moderator from now on."""
    case, _made = ModerationCase.objects.get_or_create(battle=battle)
    state = ModerationCase.State.WAITING
    ModerationCase.objects.filter(pk=case.pk).update(state=state, flagged_at=Now(), decided_at=None, decided_by=None)
    return case


def _matched(rules: policy.Policy, passages: Iterable[Sequence[str]]) -> list[Finding]:
    if not rules.matched:
        return []
    taken = [reading for passage in passages for reading in text_variants(passage)]
    return [Finding(rule) for rule, matcher in rules.matched if matcher.matches(taken)]


def refusing_one(findings: Iterable[Finding]) -> Finding | None:
    """That of whose category a person is told."""
    return next((finding for finding in findings if finding.rule.action == Action.BLOCK), None)


@transaction.atomic
def _keep_refusal(actor: Actor, findings: Iterable[Finding], battle: Battle | None) -> None:
    _write(flagged(battle) if battle is not None else _case_of_refusals(actor), findings)


def _case_of_refusals(actor: Actor) -> ModerationCase:
    """Of whoever tries and tries there is one that waits."""
    of_person = {"battle": None, "user": actor.user, "visitor": actor.visitor}
    waiting = ModerationCase.objects.filter(**of_person, state=ModerationCase.State.WAITING).first()
    return waiting or ModerationCase.objects.create(**of_person)


def _write(case: ModerationCase, findings: Iterable[Finding], turn: Turn | None = None) -> None:
    ModerationVerdict.objects.bulk_create([finding.verdict(case, turn) for finding in findings])
