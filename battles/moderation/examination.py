"""Checks of prompts against the moderation rules. Prompts are never rewritten."""

import threading
from collections.abc import Iterable, Sequence

import msgspec
from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts.actor import Actor
from battles.errors import NotExamined, PromptRefused
from battles.models import Action, Battle, ModerationCase, ModerationRule, ModerationVerdict, Turn
from battles.moderation import endpoint, policy
from battles.moderation.child import Examination, RulePatterns
from battles.moderation.findings import Finding
from battles.text.deobfuscation import text_variants
from common.child_process.process import ChildFailed, run_once
from uploads.message_parts import sent_text
from uploads.models import Upload

# Longer texts are examined in a child process, two at a time.
MAX_CHARACTERS_INLINE = 100_000
RETRY_AFTER_S = 10
_children = threading.BoundedSemaphore(2)


def check_prompt(
    *,
    actor: Actor,
    prompt: str,
    uploads: Sequence[Upload] = (),
    battle: Battle | None = None,
    team_id: int | None = None,
) -> list[Finding]:
    """Return findings in a prompt, joined to the battle's earlier ones, and in its files' text. team_id: the place.

    No query while every rule is off. May wait for the moderation endpoint: call it outside transactions.
    Raises PromptRefused after storing a case, and NotExamined.
    """
    rules = policy.in_place(team_id)
    if not rules:
        return []
    earlier = battle.turns.order_by("index").values_list("prompt", flat=True) if battle is not None else ()
    passages = [[*earlier, prompt], [text for upload in uploads if (text := sent_text(upload))]]
    return _examine(rules, actor, passages, battle)


def check_passages(*, actor: Actor, passages: Sequence[Sequence[str]]) -> None:
    """Refuse passages, lists of consecutive texts, of what is not stored, in the token's place.

    Raises as check_prompt.
    """
    if rules := policy.in_place(actor.place_id):
        _examine(rules, actor, passages)


def _examine(
    rules: policy.Policy, actor: Actor, passages: Sequence[Sequence[str]], battle: Battle | None = None
) -> list[Finding]:
    findings = _rule_findings(rules, passages)
    if first_blocking(findings) is None:
        findings += endpoint.scored_findings(rules, passages)
    if (blocking := first_blocking(findings)) is not None:
        store_refusal(actor, findings, battle)
        sentence = _("Your prompt was not sent: this arena does not allow “%(category)s”.")
        sentence %= {"category": blocking.rule.localized_category}
        raise PromptRefused(sentence, fields={"prompt": [sentence]})
    return findings


def refused_by_rules(prompts: Iterable[Sequence[str]], *, team_id: int | None = None) -> list[Finding | None]:
    """Return for each prompt, a list of its texts, the finding that refuses it. Asks no endpoint."""
    rules = policy.in_place(team_id)
    return [first_blocking(_rule_findings(rules, [texts])) for texts in prompts]


def store_findings(findings: Iterable[Finding], turn: Turn) -> None:
    """Store findings that are new in the battle; warn about these only. Needs the turn's transaction."""
    findings = list(findings)
    if not findings:
        return
    of_site, of_team = _of_site(findings), [finding for finding in findings if finding.rule.team_id is not None]
    verdicts = ModerationVerdict.objects.filter(case__battle=turn.battle, turn__isnull=False)
    known_rules = set(verdicts.values_list("rule", flat=True)) if of_site else set()
    new = [finding for finding in of_site if finding.rule.pk not in known_rules]
    if new:
        _create_verdicts(open_case(turn.battle), new, turn)
    if of_team:  # they leave no verdicts
        earlier = turn.battle.turns.exclude(pk=turn.pk).values_list("warnings", flat=True)
        known = {category for warnings in earlier for category in warnings}
        new += [finding for finding in of_team if finding.rule.category not in known]
    turn.warnings = list(dict.fromkeys(finding.rule.category for finding in new if finding.rule.action == Action.WARN))
    if turn.warnings:
        turn.save(update_fields=["warnings"])


def open_case(battle: Battle) -> ModerationCase:
    case, _created = ModerationCase.objects.get_or_create(battle=battle)
    state = ModerationCase.State.WAITING
    ModerationCase.objects.filter(pk=case.pk).update(state=state, flagged_at=Now(), decided_at=None, decided_by=None)
    return case


def _rule_findings(rules: policy.Policy, passages: Sequence[Sequence[str]]) -> list[Finding]:
    if not rules.matchers:
        return []
    if sum(len(text) for passage in passages for text in passage) > MAX_CHARACTERS_INLINE:
        return _findings_of_child(rules, passages)
    variants = [variant for passage in passages for variant in text_variants(passage)]
    return [Finding(rule) for rule, matcher in rules.matchers if matcher.matches(variants)]


def _findings_of_child(rules: policy.Policy, passages: Sequence[Sequence[str]]) -> list[Finding]:
    """Raises NotExamined."""
    expressions = ModerationRule.Kind.EXPRESSIONS
    patterns = [RulePatterns(rule.kind == expressions, list(rule.patterns)) for rule, _ in rules.matchers]
    examination = Examination(patterns, [list(passage) for passage in passages])
    try:
        with _children:
            output = run_once("battles.moderation.child", content=msgspec.msgpack.encode(examination))
    except ChildFailed as error:
        raise NotExamined(retry_after=RETRY_AFTER_S) from error
    return [Finding(rules.matchers[index][0]) for index in msgspec.msgpack.decode(output, type=list[int])]


def first_blocking(findings: Iterable[Finding]) -> Finding | None:
    """Return the finding whose category a refusal names."""
    return next((finding for finding in findings if finding.rule.action == Action.BLOCK), None)


@transaction.atomic
def store_refusal(actor: Actor, findings: Iterable[Finding], battle: Battle | None = None) -> None:
    """Store what refused a person's prompt, for the moderators; rules of teams are not theirs."""
    if of_site := _of_site(findings):
        _create_verdicts(open_case(battle) if battle is not None else _refusals_case(actor), of_site)


def _of_site(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.rule.team_id is None]


def _refusals_case(actor: Actor) -> ModerationCase:
    """Return one waiting case for all of the person's refused prompts."""
    owner = {"battle": None, "user": actor.user, "visitor": actor.visitor}
    waiting = ModerationCase.objects.filter(**owner, state=ModerationCase.State.WAITING).first()
    return waiting or ModerationCase.objects.create(**owner)


def _create_verdicts(case: ModerationCase, findings: Iterable[Finding], turn: Turn | None = None) -> None:
    ModerationVerdict.objects.bulk_create([finding.verdict(case, turn) for finding in findings])
