"""Votes and star ratings, numbered in the order of their commits."""

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from accounts.models import Team
from battles.models.battles import OF_A_REVIEW, Battle
from battles.models.turns import Answer
from battles.text.labels import UNDETERMINED
from common.db.triggers import forbid_truncate, refuse_rows
from models_registry.models import LanguageModel


class VoteCounter(models.Model):
    """Gapless counters: row 1 for votes, row 2 for stars. Its lock orders commits."""

    last_order = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.last_order)


class NextStarOrder(models.Func):
    """Next star rating number; locks the counter until COMMIT. Migrations import this class."""

    function = "battles_next_star_order"
    arity = 0
    output_field = models.PositiveBigIntegerField()


VOTE_FACTS = [
    "battle", "mode", "origin", "choice", "model_left", "model_right", "created_at", "style", "turn_count", "team",
    "on_site_boards", "series",
]  # fmt: skip


def _team_of_evidence() -> "models.ForeignKey[Team | None]":
    # No constraint, as VoteNetwork.vote: teams are never deleted.
    return models.ForeignKey(
        Team, models.PROTECT, null=True, blank=True, editable=False, related_name="+", db_constraint=False,
        db_index=False,
    )  # fmt: skip


_VOTE_IS_OF_ANOTHER_PLACE = """NOT EXISTS (
        SELECT FROM battles_battle AS battle
        JOIN battles_session AS session ON session.id = battle.session_id
        WHERE battle.id = NEW.battle_id AND session.team_id IS NOT DISTINCT FROM NEW.team_id
            AND battle.series = NEW.series
    ) OR NEW.on_site_boards AND EXISTS (
        SELECT FROM models_registry_languagemodel
        WHERE id IN (NEW.model_left_id, NEW.model_right_id) AND team_id IS NOT NULL
    )"""
_STARS_ARE_OF_ANOTHER_PLACE = """NOT EXISTS (
        SELECT FROM battles_answer AS answer
        JOIN battles_side AS side ON side.id = answer.side_id
        JOIN battles_battle AS battle ON battle.id = side.battle_id
        JOIN battles_session AS session ON session.id = battle.session_id
        JOIN models_registry_languagemodel AS model ON model.id = side.model_id
        WHERE answer.id = NEW.answer_id AND session.team_id IS NOT DISTINCT FROM NEW.team_id
            AND NOT (NEW.on_site_boards AND model.team_id IS NOT NULL)
    )"""


class _IsIn(models.Func):
    """`IN` with all numbers as one parameter: a statement has at most 65,535."""

    template = "(%(expressions)s))"
    arg_joiner = " = ANY("
    output_field = models.BooleanField()

    def __init__(self, column: str, numbers: list[int]) -> None:
        array = ArrayField(models.PositiveBigIntegerField())
        super().__init__(F(column), models.Value(numbers, output_field=array))


class VoteQuerySet(models.QuerySet["Vote"]):
    def numbered(self, orders: list[int]) -> "VoteQuerySet":
        """Filter by `order`s, any number."""
        return self.filter(_IsIn("order", orders))

    def with_ids(self, ids: list[int]) -> "VoteQuerySet":
        """Filter by any number of ids."""
        return self.filter(_IsIn("pk", ids))

    def blind(self) -> "VoteQuerySet":
        return self.filter(mode=Battle.Mode.BLIND)

    def on_overall(self) -> "VoteQuerySet":
        """Filter to blind votes on drawn pairs, of the site."""
        return self.blind().filter(origin=Battle.Origin.DRAW, on_site_boards=True)

    def on_overall_of_team(self, team: int) -> "VoteQuerySet":
        return self.blind().filter(origin=Battle.Origin.DRAW, team=team)

    def outside_of_reviews(self) -> "VoteQuerySet":
        return self.filter(series="")

    def judged_in(self, team: int | None) -> "VoteQuerySet":
        """Filter to the votes that reviews of a place judge (docs/adr/0084)."""
        of_teams = self.outside_of_reviews().filter(on_site_boards=False)
        return self.filter(on_site_boards=True) if team is None else of_teams.filter(team=team)

    def owned_by(self, actor: Actor) -> "VoteQuerySet":
        return self.filter(battle__in=Battle.objects.owned_by(actor))

    def cast_by(self, actor: Actor) -> "VoteQuerySet":
        """Filter to votes in sessions that are not deleted; faster than owned_by."""
        if not actor.is_known:
            return self.none()
        cast = self.filter(voter=actor.key, battle__session__discarded_at=None)
        return cast if actor.token is None else cast.filter(team=actor.place_id)

    def with_names(self) -> "VoteQuerySet":
        """Leave out votes after which their person does not know the models (Battle.hides_names)."""
        return self.filter(battle__conceals_names=False).exclude(excluded_reason=Vote.ExcludedReason.GOLD)

    def with_consent(self) -> "VoteQuerySet":
        """Counted votes on visible battles with consent, outside of teams."""
        visible = Q(battle__hidden_at=None, battle__session__discarded_at=None, team=None)
        return self.filter(visible, battle__in=Battle.objects.with_consent(), excluded_reason="")


class Vote(models.Model):
    """A person's vote on a battle. Database triggers keep VOTE_FACTS unchanged."""

    class Choice(models.TextChoices):
        LEFT = "left", _("left is better")
        RIGHT = "right", _("right is better")
        TIE = "tie", _("tie")
        BOTH_BAD = "both_bad", _("both are bad")

    class ExcludedReason(models.TextChoices):
        IDENTITY_LEAK = "identity_leak", _("a model named itself")
        MODERATION = "moderation", _("moderation")
        ANOMALY = "anomaly", _("anomaly")
        DUPLICATE_PROMPT = "duplicate_prompt", _("duplicate prompt")
        INCOMPLETE = "incomplete", _("an answer was stopped")
        OPERATOR = "operator", _("operator")
        OVER_DAILY_CAP = "over_daily_cap", _("over the daily cap")
        KNEW_ANSWERS = "knew_answers", _("knew the answers of a review")
        REPEATED = "repeated", _("repeated pair of a review")
        SET_ASIDE = "set_aside", _("set aside by the owner of a review")
        TOO_FAST = "too_fast", _("too fast in a review")
        GOLD = "gold", _("gold pair of a review")

        @classmethod
        def chosen_by_staff(cls) -> "list[Vote.ExcludedReason]":
            """A review settles ANOMALY, the arena the others."""
            return [cls.MODERATION, cls.OPERATOR]

    # People are told that a vote under review counts.
    COUNTED_REASONS = ("", ExcludedReason.ANOMALY)

    battle = models.OneToOneField(Battle, models.PROTECT, related_name="vote")
    # The battle's mode: side-by-side votes, cast with visible names, have a board of their own.
    mode = models.CharField(max_length=12, choices=Battle.Mode, default=Battle.Mode.BLIND, db_default=Battle.Mode.BLIND)
    # The battle's origin: votes on pairs that auto mode chose have a board of their own.
    origin = models.CharField(
        max_length=6, choices=Battle.Origin, default=Battle.Origin.DRAW, db_default=Battle.Origin.DRAW
    )
    choice = models.CharField(max_length=8, choices=Choice)
    model_left = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+")
    model_right = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+")
    # The session's team; its votes count on the team's boards.
    team = _team_of_evidence()
    # Whether it counts on the site's boards, where a team's votes do only by its wish and on models of the site.
    on_site_boards = models.BooleanField(default=True, db_default=True, editable=False)
    # The battle's review, on whose board alone the vote counts; empty otherwise.
    series = models.CharField(max_length=22, blank=True, default="", db_default="", editable=False)
    # Assigned by a trigger at COMMIT, so that the counter is locked briefly. NULL only inside the vote's transaction.
    order = models.PositiveBigIntegerField(unique=True, null=True, editable=False)
    turn_count = models.PositiveSmallIntegerField()
    # Tokens, headings, bold runs and list items of each side's judged answers. `context` is a VoteContext, in votes
    # cast since it was introduced; not a column of its own, because the released schema has none.
    style = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now())

    # Columns that may change: voter, labels, and whether the vote counts.
    voter = models.CharField(max_length=40, db_index=True)
    categories = ArrayField(models.CharField(max_length=40), default=list, db_default=[], blank=True)
    # Those of its team that fit, as addresses; NULL without a team.
    team_categories = ArrayField(models.CharField(max_length=40), null=True, blank=True, editable=False)
    language = models.CharField(max_length=3, default=UNDETERMINED, db_default=UNDETERMINED)
    # Version of the classifier that set the labels; empty before.
    labelled_by = models.CharField(max_length=60, blank=True, default="", db_default="")
    # battles.text.prompt_digest of the judged prompts; empty while unknown.
    prompt_digest = models.CharField(max_length=32, blank=True, default="", db_default="", db_collation="C")
    # A vote without one is counted if its number is not above that of the newest run (leaderboard.counting.vote_log).
    excluded_reason = models.CharField(max_length=16, choices=ExcludedReason, blank=True)
    tags = models.JSONField(default=dict, blank=True)
    comment = models.TextField(blank=True, max_length=2000)

    objects = VoteQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(model_left=F("model_right")), name="a_vote_is_about_two_different_models"
            ),
            models.CheckConstraint(condition=Q(mode__in=Battle.VOTED_MODES), name="a_vote_is_on_a_battle_of_two"),
            models.CheckConstraint(
                condition=Q(on_site_boards=True) | Q(team__isnull=False) | ~Q(series=""),
                name="a_vote_counts_for_the_site_a_team_or_a_review",
            ),
            models.CheckConstraint(condition=OF_A_REVIEW, name="a_reviews_vote_names_its_review"),
            models.CheckConstraint(
                condition=Q(series="") | Q(on_site_boards=False), name="a_reviews_vote_counts_on_its_board_alone"
            ),
            models.CheckConstraint(
                condition=Q(team_categories=None) | Q(team__isnull=False), name="only_a_team_has_categories_of_a_team"
            ),
        ]
        indexes = [
            # For the number of excluded votes by board and reason, without reading the votes.
            models.Index(
                fields=["excluded_reason"],
                include=["order", "mode", "origin", "language", "categories"],
                name="excluded_votes_of_the_site",
                condition=~Q(excluded_reason="") & Q(on_site_boards=True),
            ),
            # Boards of teams and leaderboard.counting.site_numbers use these.
            models.Index(fields=["team", "order"], name="votes_of_a_team", condition=Q(team__isnull=False)),
            models.Index(fields=["order"], name="votes_for_no_site_board", condition=Q(on_site_boards=False)),
            models.Index(fields=["series", "order"], name="votes_of_a_review", condition=~Q(series="")),
            # Used by leaderboard.boards.model_page: few votes have tags, and a model may have a million votes.
            models.Index(fields=["model_left"], name="tagged_votes_left", condition=~Q(tags={})),
            models.Index(fields=["model_right"], name="tagged_votes_right", condition=~Q(tags={})),
            # Used by the administration: votes by the hour, and its list by date.
            models.Index(fields=["created_at"], name="votes_by_time"),
            # Used by battles.labels.daily_caps.
            models.Index(fields=["voter", "created_at"], name="votes_of_a_voter_by_time"),
            # Used by battles.labels.duplicates.
            models.Index(fields=["prompt_digest"], name="votes_by_prompt", condition=~Q(prompt_digest="")),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="facts_of_a_vote_never_change", fields=VOTE_FACTS),
            pgtrigger.Protect(
                name="a_votes_number_never_changes",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__order__isnull=False) & pgtrigger.Q(old__order__df=pgtrigger.F("new__order")),
            ),
            pgtrigger.Trigger(
                name="a_vote_is_numbered_at_commit",
                when=pgtrigger.After,
                operation=pgtrigger.Insert,
                timing=pgtrigger.Deferred,
                condition=pgtrigger.Q(new__order__isnull=True),
                func="""
                    UPDATE battles_vote SET "order" = battles_next_vote_order() WHERE id = NEW.id;
                    RETURN NULL;
                """,
            ),
            pgtrigger.Protect(name="a_vote_is_never_deleted", operation=pgtrigger.Delete),
            refuse_rows("a_vote_is_of_its_sessions_place", _VOTE_IS_OF_ANOTHER_PLACE),
            forbid_truncate("votes_are_never_emptied"),
        ]

    def __str__(self) -> str:
        return f"vote {self.order}"

    @property
    def counts(self) -> bool:
        return self.excluded_reason in self.COUNTED_REASONS


class VoteNetwork(models.Model):
    """Keyed monthly hash of the vote's network (common.client_ip); deleted after some time."""

    # No constraint: votes are never deleted, and checking it at COMMIT would make other votes wait.
    vote = models.OneToOneField(Vote, models.CASCADE, primary_key=True, related_name="+", db_constraint=False)
    network = models.CharField(max_length=32)
    # The vote's day in UTC.
    day = models.DateField()

    class Meta:
        indexes = [models.Index(fields=["network", "day"], name="votes_of_a_network_by_day")]

    def __str__(self) -> str:
        return f"network of vote {self.vote_id}"


class NetworkCap(models.Model):
    """Wider daily cap of a named network's votes; deleted with VoteNetwork."""

    network = models.CharField(max_length=32)
    day = models.DateField()
    # Factor of the cap (accounts.limiting.groups).
    times = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["network", "day"], name="a_network_has_one_wider_cap_a_day")]

    def __str__(self) -> str:
        return f"{self.times} times the cap of {self.day}"


class StarRating(models.Model):
    """Only an answer's latest rating counts; all are stored."""

    answer = models.ForeignKey(Answer, models.PROTECT, related_name="ratings")
    stars = models.PositiveSmallIntegerField()
    # The same as of a vote.
    team = _team_of_evidence()
    on_site_boards = models.BooleanField(default=True, db_default=True, editable=False)
    # Gapless and in commit order: once a number is visible, all lower ones are.
    order = models.PositiveBigIntegerField(unique=True, db_default=NextStarOrder(), editable=False)
    created_at = models.DateTimeField(db_default=Now())

    # Columns that may change.
    voter = models.CharField(max_length=40, db_index=True)
    renamed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(stars__range=(1, 5)), name="stars_are_one_to_five"),
            models.CheckConstraint(
                condition=Q(on_site_boards=True) | Q(team__isnull=False), name="stars_count_for_the_site_or_a_team"
            ),
        ]
        indexes = [
            models.Index(fields=["team", "order"], name="stars_of_a_team", condition=Q(team__isnull=False)),
            models.Index(fields=["order"], name="stars_for_no_site_board", condition=Q(on_site_boards=False)),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="given_stars_never_change",
                fields=["answer", "stars", "order", "created_at", "team", "on_site_boards"],
            ),
            pgtrigger.Protect(name="given_stars_are_never_deleted", operation=pgtrigger.Delete),
            refuse_rows("stars_are_of_their_sessions_place", _STARS_ARE_OF_ANOTHER_PLACE),
            forbid_truncate("given_stars_are_never_emptied"),
        ]

    def __str__(self) -> str:
        return f"{self.stars} stars for {self.answer_id}"
