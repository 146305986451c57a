from typing import TYPE_CHECKING

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from accounts.teams.roles import Right, teams_with
from battles.models.turns import Answer, Turn
from battles.text.labels import UNDETERMINED
from common.ids import new_public_id
from common.prepared import set_prefetched
from models_registry.models import LanguageModel

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager

    from battles.models.routing import RoutingDecision
    from battles.models.shares import Share
    from battles.models.votes import Vote


_SESSION_IS_IN_ANOTHER_PLACE = """
    IF (SELECT team_id FROM battles_session WHERE id = OLD.session_id)
        IS DISTINCT FROM (SELECT team_id FROM battles_session WHERE id = NEW.session_id)
    THEN
        RAISE EXCEPTION 'a_battle_stays_in_its_place' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
"""

# Condition on battles and votes.
OF_A_REVIEW = (Q(mode="review") & ~Q(series="")) | (~Q(mode="review") & Q(series=""))


def names_are_shown(battle: str = "") -> Q:
    """Return the condition that is the reverse of Battle.hides_names. battle: lookup that leads to it: "battle__"."""
    is_voted = Q(**{f"{battle}vote__isnull": False, f"{battle}conceals_names": False})
    is_gold = Q(**{f"{battle}vote__excluded_reason": "gold"})
    return ~Q(**{f"{battle}mode__in": Battle.BLIND_MODES}) | (is_voted & ~is_gold)


class BattleQuerySet(models.QuerySet["Battle"]):
    def owned_by(self, actor: Actor) -> "BattleQuerySet":
        if actor.user is not None:
            own = self.owned_by_user(actor.user.pk)
            return own if actor.token is None else own.filter(session__team=actor.place_id)
        return self.owned_by_visitor(actor.visitor.pk) if actor.visitor is not None else self.none()

    def owned_by_user(self, pk: int) -> "BattleQuerySet":
        return self.filter(session__owner_user=pk, session__discarded_at=None)

    def owned_by_visitor(self, pk: int) -> "BattleQuerySet":
        return self.filter(session__owner_visitor=pk, session__discarded_at=None)

    def revealed(self) -> "BattleQuerySet":
        """Filter to battles whose owner knows the models."""
        return self.filter(names_are_shown())

    def unrevealed_to(self, user_pk: int) -> "BattleQuerySet":
        """Filter to the member's battles whose models they may not know yet: staff votes blindly, too."""
        return self.filter(~names_are_shown(), session__owner_user=user_pk)

    def outside_of_reviews(self) -> "BattleQuerySet":
        return self.exclude(mode=Battle.Mode.REVIEW)

    def with_consent(self) -> "BattleQuerySet":
        return self.exclude(consent="").filter(consent_withdrawn_at=None)

    def find_visible(self, actor: Actor, public_id: str) -> "Battle | None":
        """Return the actor's battle, one shared with a team of the actor's, or the published one of a share's id."""
        own = self.owned_by(actor).select_related("session").filter(public_id=public_id).first()
        if own is not None:
            return own
        readable = self.filter(hidden_at=None)
        published = readable.select_related("session", "share").filter(share__public_id=public_id).first()
        return published or readable._shared_with_teams_of(actor).filter(public_id=public_id).first()

    def _shared_with_teams_of(self, actor: Actor) -> "BattleQuerySet":
        teams = list(teams_with(actor.memberships, Right.SEE))
        if not teams:
            return self.none()
        shared = self.outside_of_reviews().revealed().select_related("session__team").filter(session__team__in=teams)
        return shared.filter(session__is_shared=True, session__discarded_at=None, session__owner_user__isnull=False)


class Battle(models.Model):
    """Blind, side by side and review take one vote; comparisons take stars per answer.

    Blind battles and those of reviews hide names. Models of the former are drawn, or chosen by auto mode; the latter
    have stored answers (docs/adr/0088).
    """

    class Mode(models.TextChoices):
        BLIND = "blind", _("blind")
        SIDE_BY_SIDE = "side_by_side", _("side by side")
        COMPARE = "compare", _("compare")
        DIRECT = "direct", _("direct chat")
        REVIEW = "review", _("review")

    class Origin(models.TextChoices):
        """Chooser of the pair: only drawn pairs count on Overall and on boards of categories and languages."""

        DRAW = "draw", _("drawn")
        ROUTER = "router", _("auto mode")

    VOTED_MODES = (Mode.BLIND, Mode.SIDE_BY_SIDE, Mode.REVIEW)
    # Modes that hide the names until the vote.
    BLIND_MODES = (Mode.BLIND, Mode.REVIEW)
    CONSENT_CHARACTERS = 40

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    session = models.ForeignKey("Session", models.PROTECT, related_name="battles")
    mode = models.CharField(max_length=12, choices=Mode, default=Mode.BLIND)
    origin = models.CharField(max_length=6, choices=Origin, default=Origin.DRAW, db_default=Origin.DRAW)
    # Public id of the review; empty in other modes.
    series = models.CharField(max_length=22, blank=True, default="", db_default="", editable=False)
    # Hides the names from who voted, too: the same answers may come again in the open review.
    conceals_names = models.BooleanField(default=False, db_default=False, editable=False)
    # Labels of a vote cast now; Vote has the same four columns.
    categories = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    language = models.CharField(max_length=3, default=UNDETERMINED, db_default=UNDETERMINED)
    labelled_by = models.CharField(max_length=60, blank=True, default="", db_default="")
    prompt_digest = models.CharField(max_length=32, blank=True, default="", db_default="")
    # Probability with which the sampler drew this unordered pair (after a redraw, the final one); 1 without a draw.
    propensity = models.FloatField()
    # battles.prompting.lineup.Filters of the draw, which a redraw applies again.
    filters = models.JSONField(default=dict, db_default={}, blank=True)
    # All models accept images, so follow-ups may have some.
    needs_images = models.BooleanField(default=False, db_default=False)
    # Version of the text by which the owner consented to publication; empty without consent.
    consent = models.CharField(max_length=CONSENT_CHARACTERS, blank=True, default="", db_default="")
    # Set instead of clearing `consent`, to record that it existed. Deleting a session withdraws the consent.
    consent_withdrawn_at = models.DateTimeField(null=True, blank=True)
    voided_at = models.DateTimeField(null=True, blank=True)
    # Set by a moderator; only staff sees the text.
    hidden_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    objects = BattleQuerySet.as_manager()

    if TYPE_CHECKING:
        sides: RelatedManager["Side"]
        turns: RelatedManager["Turn"]
        vote: "Vote"
        share: "Share"
        decision: "RoutingDecision"

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(propensity__gt=0, propensity__lte=1), name="a_propensity_is_a_probability"
            ),
            models.CheckConstraint(condition=Q(mode="blind") | Q(filters={}), name="only_a_blind_draw_is_narrowed"),
            models.CheckConstraint(
                condition=Q(origin__in=["draw", "router"]), name="a_pair_is_drawn_or_chosen_by_auto_mode"
            ),
            models.CheckConstraint(condition=OF_A_REVIEW, name="a_reviews_battle_names_its_review"),
            models.CheckConstraint(
                condition=Q(consent_withdrawn_at=None) | ~Q(consent=""), name="only_consent_that_was_given_is_withdrawn"
            ),
        ]
        triggers = [
            pgtrigger.Trigger(
                name="a_battle_stays_in_its_place",
                when=pgtrigger.Before,
                operation=pgtrigger.UpdateOf("session_id"),  # type: ignore[no-untyped-call]
                condition=pgtrigger.Q(old__session__df=pgtrigger.F("new__session")),
                func=_SESSION_IS_IN_ANOTHER_PLACE,
            ),
            pgtrigger.ReadOnly(name="a_battle_stays_in_its_review", fields=["series"]),
        ]
        # Used by the administration: number of today's battles, list by date.
        indexes = [
            models.Index(fields=["created_at"], name="battles_by_time"),
            models.Index(fields=["created_at"], name="void_battles_by_time", condition=Q(voided_at__isnull=False)),
            # Used by battles.actions.stored_battles.
            models.Index(fields=["series", "session"], name="battles_of_a_review", condition=~Q(series="")),
        ]

    def __str__(self) -> str:
        return self.public_id

    def get_absolute_url(self) -> str:
        """Return the address in the session's page; a review's session may be long, so there it is the battle alone."""
        alone = f"?battle={self.public_id}" if self.is_review else ""
        return f"{self.session.get_absolute_url()}{alone}#battle-{self.public_id}"

    def set_related(
        self,
        *,
        sides: "list[Side]",
        turns: list[Turn],
        answers: list[Answer],
        decision: "RoutingDecision | None" = None,
    ) -> None:
        """Fill the caches of a new battle as battles.queries: these parts, no vote, no share."""
        self._state.fields_cache["vote"] = self._state.fields_cache["share"] = None
        self._state.fields_cache["decision"] = decision
        set_prefetched(self, "sides", sides)
        set_prefetched(self, "turns", turns)
        for turn in turns:
            set_prefetched(turn, "answers", [answer for answer in answers if answer.turn_id == turn.pk])

    @property
    def vote_or_none(self) -> "Vote | None":
        return getattr(self, "vote", None)

    @property
    def share_or_none(self) -> "Share | None":
        return getattr(self, "share", None)

    @property
    def decision_or_none(self) -> "RoutingDecision | None":
        return getattr(self, "decision", None)

    @property
    def has_consent(self) -> bool:
        return bool(self.consent) and self.consent_withdrawn_at is None

    @property
    def is_void(self) -> bool:
        return self.voided_at is not None

    @property
    def is_hidden(self) -> bool:
        return self.hidden_at is not None

    @property
    def is_blind(self) -> bool:
        """Return whether names are hidden until the vote."""
        return self.mode in self.BLIND_MODES

    @property
    def is_review(self) -> bool:
        return self.mode == self.Mode.REVIEW

    @property
    def hides_names(self) -> bool:
        """Return whether its person may not know the models yet."""
        # One model gave both answers of a gold pair.
        vote = self.vote_or_none
        is_secret = vote is None or vote.excluded_reason == vote.ExcludedReason.GOLD
        return self.is_blind and (is_secret or self.conceals_names)

    @property
    def accepts_vote(self) -> bool:
        return self.mode in self.VOTED_MODES


class Position(models.TextChoices):
    """Sides of a pair; a direct chat has a left side only."""

    LEFT = "left", _("left")
    RIGHT = "right", _("right")


# Positions of the sides of a comparison.
NUMBERED_POSITIONS = ("1", "2", "3", "4", "5", "6")


_MODEL_IS_ANOTHER_TEAMS = """
    SELECT team_id INTO owner FROM models_registry_languagemodel WHERE id = NEW.model_id;
    IF owner IS NOT NULL AND NOT EXISTS (
        SELECT FROM battles_battle AS battle JOIN battles_session AS session ON session.id = battle.session_id
        WHERE battle.id = NEW.battle_id AND session.team_id = owner
    ) THEN
        RAISE EXCEPTION 'a_sides_model_is_of_its_place' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
"""


class Side(models.Model):
    """A redraw changes the model; earlier calls keep theirs."""

    battle = models.ForeignKey(Battle, models.PROTECT, related_name="sides")
    position = models.CharField(
        max_length=5, choices=[*Position.choices, *((number, number) for number in NUMBERED_POSITIONS)]
    )
    model = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+")
    # Chosen by the person, so it is not redrawn.
    chosen = models.BooleanField(default=False, db_default=False)
    redrawn = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["battle", "position"], name="a_battle_has_each_side_once"),
            models.UniqueConstraint(fields=["battle", "model"], name="a_model_meets_itself_in_no_battle"),
            models.CheckConstraint(
                condition=Q(position__in=[*Position.values, *NUMBERED_POSITIONS]),
                name="a_side_sits_left_right_or_by_a_number",
            ),
            models.CheckConstraint(condition=~Q(chosen=True, redrawn=True), name="a_chosen_model_is_not_redrawn"),
        ]
        triggers = [
            pgtrigger.Trigger(
                name="a_sides_model_is_of_its_place",
                when=pgtrigger.After,
                timing=pgtrigger.Immediate,  # a restore defers it
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("model_id"),  # type: ignore[no-untyped-call]
                declare=[("owner", "bigint")],
                func=_MODEL_IS_ANOTHER_TEAMS,
            ),
            pgtrigger.ReadOnly(name="a_side_stays_in_its_battle", fields=["battle"]),
        ]

    def __str__(self) -> str:
        return f"{self.battle_id} {self.position}"

    @property
    def has_own_context(self) -> bool:
        """True if follow-ups depend on this side's answers alone."""
        return self.position in NUMBERED_POSITIONS
