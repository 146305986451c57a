"""Stored answers of a run or of a battle, which people compare blind."""

from typing import TYPE_CHECKING

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import Team
from battles.models import Battle, Vote
from benchmarks.models import Run
from common.db.triggers import refuse_rows
from common.ids import new_public_id

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager

    from reviews.models import Contrast, ReviewBattle, ReviewItem
    from reviews.models.grades import GradedAnswer, ReviewGrade
    from reviews.models.people import PersonalCode, Reviewer

_RUN_OF_ANOTHER_PLACE = """NEW.run_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM benchmarks_run AS run WHERE run.id = NEW.run_id AND run.team_id IS NOT DISTINCT FROM NEW.team_id
    )"""
_BATTLE_OF_ANOTHER_PLACE = """NEW.battle_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM battles_battle AS battle JOIN battles_session AS session ON session.id = battle.session_id
        WHERE battle.id = NEW.battle_id AND battle.mode = 'blind' AND session.team_id IS NOT DISTINCT FROM NEW.team_id
    )"""
# People are asked under these terms, and the results depend on them.
TERMS = [
    "instructions", "audience", "plan", "opinions_per_item", "most_per_person", "takes_ties",
    "takes_both_bad", "names_after_vote", "hides_results", "seed", "opens_at", "item_count", "left_out",
    "expected_people", "repeats_percent", "gold_percent", "least_seconds", "stop_share", "stop_level", "questions",
    "asks_for", "cases",
]  # fmt: skip


def _repeats_percent() -> int:
    return settings.ARENA_REVIEWS["repeats_percent"]


def _least_seconds() -> int:
    return settings.ARENA_REVIEWS["least_seconds"]


def odds_of(share: int) -> str:
    """Return 60 : 40 of 60."""
    return f"{share} : {100 - share}"


class ReviewQuerySet(models.QuerySet["Review"]):
    def open(self) -> "ReviewQuerySet":
        return self.filter(state=Review.State.OPEN)

    def closed(self) -> "ReviewQuerySet":
        return self.filter(state=Review.State.CLOSED)

    def lock(self, pk: int) -> "Review":
        """Return the review, locked until COMMIT."""
        return self.select_for_update(no_key=True).get(pk=pk)

    def joinable(self) -> "ReviewQuerySet":
        """Filter to open reviews before their deadline; their first votes may be later."""
        return self.open().exclude(closes_at__lte=Now())

    def due_to_open(self) -> "ReviewQuerySet":
        return self.filter(opens_when_done=True, state=Review.State.DRAFT, run__state=Run.State.DONE)

    def past_deadline(self) -> "ReviewQuerySet":
        return self.open().filter(closes_at__lte=Now())


class Review(models.Model):
    """Blind battles on the stored answers of a run; its votes make a board of its own. Or grades of single answers.

    A second opinion is a review of one battle: those who have its address are asked.
    """

    class Audience(models.TextChoices):
        OWNER = "owner", _("you alone, to try it")
        TEAM = "team", _("all people of the team, guests too")
        MEMBERS = "members", _("all members of the site")
        EVERYONE = "everyone", _("everybody, also without an account")
        LINK = "link", _("people who have its link or its code, also without an account")
        CODES = "codes", _("people with a code of their own, which works once, also without an account")

    class AsksFor(models.TextChoices):
        PAIRS = "pairs", _("which of two answers is better")
        PASS = "pass", _("whether an answer is correct")
        STARS = "stars", _("one to five stars for an answer")

    OF_TEAMS = (Audience.OWNER, Audience.TEAM)
    # People of these join before their first battle.
    JOINED = (Audience.LINK, Audience.CODES)

    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        OPEN = "open", _("open")
        CLOSED = "closed", _("closed")
        WITHDRAWN = "withdrawn", _("withdrawn")

    class Plan(models.TextChoices):
        ALL = "all", _("every pair of models on each question")
        REGULAR = "regular", _("a ring of pairs on each question: fewer pairs, every model equally often")
        ADAPTIVE = "adaptive", _("every pair, those more often of which a vote tells more about the ranking")

    class Ending(models.TextChoices):
        OWNER = "owner", _("closed early by its owner")
        DEADLINE = "deadline", _("closed at its deadline")
        QUOTA = "quota", _("closed when every pair had its opinions")
        DECIDED = "decided", _("closed by its stop rule: every comparison was decided")

    MAX_OPINIONS, MAX_ITEMS, MAX_TITLE, MAX_INSTRUCTIONS = 50, 50_000, 120, 5_000
    MIN_STOP_SHARE, MAX_STOP_SHARE, MAX_STOP_LEVEL, MAX_CONTRASTS = 51, 95, 20, 50
    MAX_PEOPLE, MAX_REPEATS_PERCENT, MAX_GOLD_PERCENT, MAX_LEAST_SECONDS = 2_000, 30, 30, 60

    # Why pairs are left out, in the order in which reasons are given where several hold.
    LEFT_OUT = {
        "imported": _("an answer was imported, not given by a model of the arena"),
        "parameters": _("a model was asked with other parameters than the template’s"),
        "failed": _("an answer failed, or was never asked for"),
        "cut": _("an answer was cut off"),
        "names_itself": _("an answer names its model"),
    }

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    title = models.CharField(max_length=MAX_TITLE)
    # Markdown.
    instructions = models.TextField(blank=True, max_length=MAX_INSTRUCTIONS)
    # A draft that opens by itself when its run is done.
    opens_when_done = models.BooleanField(default=False, db_default=False)
    # Null after the run's deletion.
    run = models.ForeignKey(Run, models.SET_NULL, null=True, related_name="reviews")
    # The battle of a second opinion.
    battle = models.ForeignKey(Battle, models.PROTECT, null=True, related_name="second_opinions", db_index=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="reviews")
    # Team of the run, which then owns the review, or of the battle.
    team = models.ForeignKey(Team, models.PROTECT, null=True, related_name="reviews", db_index=False)
    audience = models.CharField(max_length=8, choices=Audience, default=Audience.MEMBERS)
    state = models.CharField(max_length=9, choices=State, default=State.DRAFT)
    # A review that asks for grades shows single answers: it has no pairs, battles and board.
    asks_for = models.CharField(max_length=5, choices=AsksFor, default=AsksFor.PAIRS, db_default=AsksFor.PAIRS)
    plan = models.CharField(max_length=8, choices=Plan, default=Plan.ALL)
    # Number of the run's cases, drawn by the seed. Null: all.
    cases = models.PositiveIntegerField(null=True, blank=True)
    opinions_per_item = models.PositiveSmallIntegerField(default=1)
    # Null: no limit.
    most_per_person = models.PositiveIntegerField(null=True, blank=True)
    takes_ties = models.BooleanField(default=True)
    takes_both_bad = models.BooleanField(default=True)
    # People by link or codes: no more can join.
    expected_people = models.PositiveIntegerField(null=True, blank=True)
    # The link's, while people can join by it.
    code = models.CharField(max_length=8, blank=True, default="")
    # Share of battles that show a pair again with its sides swapped; these votes count nowhere.
    repeats_percent = models.PositiveSmallIntegerField(default=_repeats_percent)
    # Share of battles that show one answer and the same one cut in half; these votes count nowhere.
    gold_percent = models.PositiveSmallIntegerField(default=0)
    # A vote that comes sooner after its battle does not count.
    least_seconds = models.PositiveSmallIntegerField(default=_least_seconds)
    # Share of preferences (%) from which on a difference matters, 60 for 60 : 40; null without a stop rule.
    stop_share = models.PositiveSmallIntegerField(null=True, blank=True)
    # Chance (%) that any of the contrasts is decided wrongly.
    stop_level = models.PositiveSmallIntegerField(default=5)
    # Else the names are shown at the close: an answer comes again in other pairs, which would not be blind.
    names_after_vote = models.BooleanField(default=False)
    # Nothing but progress is shown before the close, to the owner neither.
    hides_results = models.BooleanField(default=True)
    # A list of reviews.payload_types.QuestionPayload: asked after the choice, before the names are shown.
    questions = models.JSONField(default=list, blank=True)
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    # Seed of the plan, and of the sample of cases.
    seed = models.PositiveBigIntegerField(default=0)
    item_count = models.PositiveIntegerField(default=0)
    # Numbers of pairs that are not shown, by keys of LEFT_OUT.
    left_out = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    opened_at = models.DateTimeField(null=True)
    # An Ending, and its time.
    ended_by = models.CharField(max_length=8, choices=Ending, blank=True)
    ended_at = models.DateTimeField(null=True)
    # Most people with votes from one network, noted at the end: hashes of networks are not kept.
    most_of_a_network = models.PositiveIntegerField(null=True)
    # The time of its newest board.
    published_at = models.DateTimeField(null=True)

    objects = ReviewQuerySet.as_manager()

    if TYPE_CHECKING:
        items: RelatedManager["ReviewItem"]
        answers: RelatedManager["GradedAnswer"]
        grades: RelatedManager["ReviewGrade"]
        battles: RelatedManager["ReviewBattle"]
        reviewers: RelatedManager["Reviewer"]
        personal_codes: RelatedManager["PersonalCode"]
        contrasts: RelatedManager["Contrast"]

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(team=None, audience__in=["owner", "members", "everyone", "link", "codes"])
                | Q(team__isnull=False, audience__in=["owner", "team"]),
                name="a_review_of_a_team_stays_in_the_team",
            ),
            models.CheckConstraint(
                condition=Q(opinions_per_item__range=(1, 50)) & (Q(most_per_person=None) | Q(most_per_person__gte=1)),
                name="a_review_asks_for_some_opinions",
            ),
            models.CheckConstraint(
                condition=~Q(audience__in=["link", "codes"]) | Q(expected_people__range=(1, 2_000)),
                name="people_who_join_by_code_are_expected",
            ),
            models.CheckConstraint(
                condition=Q(repeats_percent__lte=30, least_seconds__lte=60), name="quality_of_votes_is_within_bounds"
            ),
            models.CheckConstraint(condition=Q(gold_percent__lte=30), name="few_battles_are_gold_pairs"),
            models.CheckConstraint(condition=Q(cases=None) | Q(cases__gte=1), name="a_sample_has_some_cases"),
            models.CheckConstraint(
                condition=Q(stop_share=None) | Q(stop_share__range=(51, 95), stop_level__range=(1, 20)),
                name="a_stop_rule_has_a_difference_and_a_level",
            ),
            models.CheckConstraint(
                condition=Q(stop_share=None) | ~Q(plan="adaptive"), name="a_plan_that_looks_at_winners_has_no_stop_rule"
            ),
            models.CheckConstraint(
                condition=Q(code="") | Q(state="open", audience="link"), name="a_code_is_of_an_open_review_by_link"
            ),
            models.UniqueConstraint(fields=["code"], condition=~Q(code=""), name="a_code_is_of_one_review"),
            models.CheckConstraint(
                condition=Q(state="draft", opened_at=None) | ~Q(state="draft"), name="a_draft_was_never_open"
            ),
            models.CheckConstraint(
                condition=Q(state="closed", ended_at__isnull=False) & ~Q(ended_by="") | ~Q(state="closed"),
                name="a_closed_review_has_an_ending",
            ),
            models.CheckConstraint(
                condition=Q(battle=None) | Q(run=None), name="a_second_opinion_is_about_a_battle_alone"
            ),
            models.UniqueConstraint(
                fields=["battle"], condition=~Q(state="withdrawn"), name="a_battle_has_one_second_opinion"
            ),
            models.CheckConstraint(
                condition=Q(battle=None) | Q(asks_for="pairs"), name="a_second_opinion_compares_two_answers"
            ),
        ]
        indexes = [
            models.Index(fields=["closes_at"], name="reviews_with_deadlines", condition=Q(state="open")),
            models.Index(fields=["run"], name="drafts_that_open", condition=Q(opens_when_done=True, state="draft")),
            models.Index(fields=["team", "-created_at"], name="campaigns_of_a_team", condition=Q(team__isnull=False)),
            models.Index(fields=["battle"], name="second_opinions_on_a_battle", condition=Q(battle__isnull=False)),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="a_review_stays_with_its_owner", fields=["team"]),
            refuse_rows("a_reviews_run_is_of_its_place", _RUN_OF_ANOTHER_PLACE, updated=("run_id",)),
            pgtrigger.ReadOnly(name="a_second_opinion_keeps_its_battle", fields=["battle"]),
            refuse_rows("a_second_opinions_battle_is_of_its_place", _BATTLE_OF_ANOTHER_PLACE),
            pgtrigger.Protect(
                name="terms_of_an_open_review_never_change",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition(
                    "OLD.state <> 'draft' AND ("
                    + " OR ".join(f'OLD."{name}" IS DISTINCT FROM NEW."{name}"' for name in TERMS)
                    + ")"
                ),
            ),
            pgtrigger.Protect(
                name="an_ended_review_never_opens_again",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition(
                    "OLD.state <> NEW.state AND (OLD.state = 'withdrawn' OR NEW.state = 'draft'"
                    " OR OLD.state = 'closed' AND NEW.state = 'open')"
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.title if self.team_id is None else self.public_id

    def get_absolute_url(self) -> str:
        return reverse("reviews:review", args=[self.public_id])

    @property
    def settings_url(self) -> str:
        if self.battle is not None:
            return reverse("reviews:second_opinion", args=[self.battle.public_id])
        return reverse("reviews:settings", args=[self.public_id])

    @property
    def people_url(self) -> str:
        return reverse("reviews:people", args=[self.public_id])

    @property
    def is_graded(self) -> bool:
        return self.asks_for != self.AsksFor.PAIRS

    @property
    def grades_taken(self) -> list[int]:
        """Return the values that a grade may have, the lowest first."""
        return {self.AsksFor.PASS: [0, 1], self.AsksFor.STARS: [1, 2, 3, 4, 5]}.get(self.AsksFor(self.asks_for), [])

    @property
    def most_votes_of_a_person(self) -> int:
        return min(self.item_count, self.most_per_person or self.item_count)

    @property
    def is_joined(self) -> bool:
        return self.audience in self.JOINED

    @property
    def has_stop_rule(self) -> bool:
        return self.stop_share is not None

    @property
    def keeps_deadline(self) -> bool:
        # It ends people for the stop rule, and its owner sees who leads.
        return self.has_stop_rule and not self.hides_results

    @property
    def stop_odds(self) -> str:
        return odds_of(self.stop_share or 0)

    @property
    def left_out_sentences(self) -> list[tuple[int, str]]:
        return [(n, str(self.LEFT_OUT.get(reason, reason))) for reason, n in self.left_out.items()]

    @property
    def choices(self) -> list[str]:
        """Return the choices that a vote may have."""
        refused = {Vote.Choice.TIE: not self.takes_ties, Vote.Choice.BOTH_BAD: not self.takes_both_bad}
        return [choice.value for choice in Vote.Choice if not refused.get(choice)]

    @property
    def takes_votes(self) -> bool:
        now = timezone.now()
        has_begun = self.opens_at is None or self.opens_at <= now
        return self.state == self.State.OPEN and has_begun and (self.closes_at is None or self.closes_at > now)

    @property
    def shows_results(self) -> bool:
        # reviews.access.shows_results decides who reads them while it is open.
        return self.state == self.State.CLOSED or (self.state == self.State.OPEN and not self.hides_results)
