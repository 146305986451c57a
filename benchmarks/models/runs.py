from typing import TYPE_CHECKING

import pgtrigger
from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import Team
from battles.errors import raised_by
from benchmarks.models.templates import Prompt, TemplateVersion
from common.db.triggers import refuse_rows
from common.ids import new_public_id
from models_registry.models import LanguageModel, Provider

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager

    from benchmarks.models.items import RunItem
    from benchmarks.models.judging import Judging
    from benchmarks.models.reports import RunReport


_TEMPLATE_OF_ANOTHER_PLACE = """(TG_OP = 'INSERT' OR NEW.version_id <> OLD.version_id) AND NOT EXISTS (
        SELECT FROM benchmarks_templateversion AS version
        JOIN benchmarks_template AS template ON template.id = version.template_id
        WHERE version.id = NEW.version_id AND (
            template.team_id = NEW.team_id OR template.team_id IS NULL
            AND (NEW.team_id IS NULL OR template.visibility = 'site')
        )
    ) OR NEW.checks_version_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM benchmarks_templateversion AS asked
        JOIN benchmarks_templateversion AS checking ON checking.template_id = asked.template_id
        WHERE asked.id = NEW.version_id AND checking.id = NEW.checks_version_id
    )"""
_MODEL_OF_ANOTHER_PLACE = """EXISTS (
        SELECT FROM models_registry_languagemodel AS model JOIN benchmarks_run AS run ON run.id = NEW.run_id
        WHERE model.id = NEW.model_id AND model.team_id IS NOT NULL AND model.team_id IS DISTINCT FROM run.team_id
    )"""
_MODEL_BECOMES_KNOWN = """
    IF EXISTS (
        SELECT FROM benchmarks_entrant AS entrant
        JOIN models_registry_languagemodel AS model ON model.id = entrant.model_id
        WHERE entrant.run_id = NEW.id AND model.team_id IS NOT NULL
    ) THEN
        RAISE EXCEPTION 'a_published_run_has_the_sites_models' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
"""


class RunQuerySet(models.QuerySet["Run"]):
    def live(self) -> "RunQuerySet":
        return self.exclude(state__in=Run.ENDED)

    def lock(self, pk: int) -> "Run":
        """Return the run, locked until COMMIT. Every transaction that moves items begins with this."""
        return self.select_for_update(no_key=True).get(pk=pk)

    def sharing_answers(self, run: "Run") -> "RunQuerySet":
        """Filter to other runs that have an answer of the run: one of the two reused it (worker.reuse)."""
        runs = self.filter(team=run.team_id).exclude(pk=run.pk)
        if run.team_id is None:
            runs = runs.filter(owner=run.owner_id)
        if run.reuse_days is None:
            runs = runs.exclude(reuse_days=None)
        return runs.filter(pk__in=self.model.objects.filter(items__replies__reply__items__item__run=run))

    def without_worker(self) -> "RunQuerySet":
        """Filter to runs with work and without a worker."""
        is_due = Q(driven_until=None) | Q(driven_until__lt=Now())
        return self.filter(is_due, state__in=Run.WITH_WORK)


class Run(models.Model):
    """The cases of a version, asked of entrants. All state is in rows, so that any worker can continue."""

    class State(models.TextChoices):
        PREPARING = "preparing", _("preparing")
        QUEUED = "queued", _("ready to start")
        RUNNING = "running", _("running")
        PAUSED = "paused", _("paused")
        SCORING = "scoring", _("scoring")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")

    ENDED = (State.DONE, State.FAILED, State.CANCELLED)
    # States in which entrants can be left out.
    UNDER_WAY = (State.QUEUED, State.RUNNING, State.PAUSED)
    # States in which a worker has something to do.
    WITH_WORK = (State.PREPARING, State.RUNNING, State.SCORING)

    class Reason(models.TextChoices):
        # Why a run is paused or failed.
        OWNER = "person", _("Paused by its owner.")
        STAFF = "staff", _("Paused by the administrators.")
        BUDGET = "budget", _("The budget does not pay for the next call. Raise it to go on.")
        DAY_BUDGET = (
            "day_budget",
            _("A daily budget of the arena is used up. The run goes on by itself after midnight UTC."),
        )
        # The account of the team, or of the member in it, that refused: reason_sentence has who can raise it.
        TEAM_DAY = "team_day", _("The team has reached its budget for today.")
        TEAM_MONTH = "team_month", _("The team has reached its budget for this month.")
        QUOTA = "quota", _("The quota for this month is used up.")
        REQUESTS = "requests", _("The requests for this month are used up.")
        HALTED = "paid_calls_halted", _("The administrators have stopped all paid calls.")
        REFUSED_KEY = "refused_key", _("A provider refuses its key. An administrator has to mend it.")
        NO_KEY = "no_key", _("A provider’s key is missing. An administrator has to mend it.")
        MODELS_AWAY = "models_away", _("A model is inactive or fails all the time. Resume the run later.")
        NOT_PREPARABLE = "not_preparable", _("Some cases cannot be prepared.")

    OF_TEAM = (Reason.TEAM_DAY, Reason.TEAM_MONTH, Reason.QUOTA, Reason.REQUESTS)

    MAX_REPEATS, MAX_CONCURRENCY, MAX_ATTEMPTS = 32, 256, 5
    MAX_ENTRANTS, MAX_ITEMS = 50, 200_000
    MAX_REUSE_DAYS = 365

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    version = models.ForeignKey(TemplateVersion, models.PROTECT, related_name="runs")
    # Its checks score the run; null: those of `version`.
    checks_version = models.ForeignKey(TemplateVersion, models.PROTECT, null=True, related_name="rescored_runs")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="benchmark_runs")
    # The owner, if there is one; owner is then who started it, and pays with the team.
    team = models.ForeignKey(Team, models.PROTECT, null=True, related_name="benchmark_runs", db_index=False)
    name = models.CharField(max_length=120, blank=True)
    state = models.CharField(max_length=9, choices=State, default=State.PREPARING)
    # A Reason, and details for people.
    reason = models.CharField(max_length=40, blank=True)
    detail = models.TextField(blank=True)
    # Calls begin as soon as the run is prepared.
    starts_at_once = models.BooleanField(default=True)
    repeats = models.PositiveSmallIntegerField(default=1)
    concurrency = models.PositiveSmallIntegerField(default=16)
    attempts = models.PositiveSmallIntegerField(default=3)
    order_seed = models.PositiveBigIntegerField(default=0)
    # Equal calls of the owner's runs give their answers again if they are at most so old; null: every call is made.
    reuse_days = models.PositiveSmallIntegerField(null=True)
    is_paid = models.BooleanField(default=False)
    # Its entrant is a judge, its cases are replies of another run; in no list.
    is_judging = models.BooleanField(default=False, db_default=False)
    # US dollars.
    budget = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    reserved = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    spent = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    entrant_count = models.PositiveSmallIntegerField(default=0)
    item_count = models.PositiveIntegerField(default=0)
    # Lease of the worker that prepares or drives the run.
    driven_until = models.DateTimeField(null=True)
    # A paused run goes on by itself then: a day's budget begins anew.
    day_wait_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    # The run began or went on then; its pace is counted from there.
    paced_from = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    published_at = models.DateTimeField(null=True)
    # False: of a published run, only the report is readable, without names, prompts and answers.
    publishes_names = models.BooleanField(default=True, db_default=True)
    # Number of the report that others read; null: the newest.
    published_number = models.PositiveSmallIntegerField(null=True)

    objects = RunQuerySet.as_manager()

    if TYPE_CHECKING:
        entrants: RelatedManager["Entrant"]
        items: RelatedManager["RunItem"]
        reports: RelatedManager["RunReport"]
        judgings: RelatedManager["Judging"]

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(budget=None) | Q(budget__gte=F("reserved") + F("spent")),
                name="a_run_spends_no_more_than_its_budget",
            ),
            models.CheckConstraint(condition=Q(reserved__gte=0), name="a_run_releases_only_what_it_reserved"),
            models.CheckConstraint(
                condition=Q(is_paid=False) | Q(budget__isnull=False), name="a_paid_run_has_a_budget"
            ),
            models.CheckConstraint(
                condition=Q(repeats__range=(1, 32), concurrency__range=(1, 256), attempts__range=(1, 5)),
                name="a_run_keeps_its_limits",
            ),
            models.CheckConstraint(
                condition=Q(reuse_days=None) | Q(reuse_days__range=(1, 365)), name="a_run_reuses_answers_of_a_year"
            ),
        ]
        indexes = [
            # RunQuerySet.live, for the sweeper and for shares between runs.
            models.Index(
                fields=["state"], name="runs_under_way", condition=~Q(state__in=["done", "failed", "cancelled"])
            ),
            models.Index(fields=["team", "-created_at"], name="runs_of_a_team", condition=Q(team__isnull=False)),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="a_run_stays_with_its_owner", fields=["team"]),
            refuse_rows(
                "a_runs_template_is_of_its_place",
                _TEMPLATE_OF_ANOTHER_PLACE,
                updated=("version_id", "checks_version_id"),
            ),
            pgtrigger.Trigger(
                name="a_published_run_has_the_sites_models",
                when=pgtrigger.Before,
                operation=pgtrigger.UpdateOf("published_at"),  # type: ignore[no-untyped-call]
                condition=pgtrigger.Q(new__team__isnull=False, new__published_at__isnull=False),
                func=_MODEL_BECOMES_KNOWN,
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.public_id

    @property
    def scoring_version(self) -> TemplateVersion:
        return self.checks_version or self.version

    @property
    def reason_sentence(self) -> str:
        """Return why the run is paused or failed, else ""."""
        if not self.reason or self.state not in (self.State.PAUSED, self.State.FAILED):
            return ""
        sentence = str(dict(self.Reason.choices).get(self.reason, self.reason))
        if self.team is None or self.reason not in self.OF_TEAM:
            return sentence
        goes_on = gettext("The run goes on then, or when the budget begins anew.")
        return " ".join(filter(None, [sentence, raised_by(self.team), goes_on]))

    @property
    def person(self) -> str:
        """Return Actor.key of the payer, or ""."""
        return f"user:{self.owner_id}" if self.owner_id else ""


class Entrant(models.Model):
    """A model with one of the version's prompts."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="entrants", db_index=False)
    position = models.PositiveSmallIntegerField()
    model = models.ForeignKey(LanguageModel, models.PROTECT, null=True, related_name="+")
    imported = models.CharField(max_length=120, blank=True)
    prompt = models.ForeignKey(Prompt, models.PROTECT, related_name="+")
    # Overrides of the model's own.
    parameters = models.JSONField(default=dict, blank=True)
    # SHA-256 of the parameters, hexadecimal.
    parameters_digest = models.CharField(max_length=64, blank=True)
    label = models.CharField(max_length=120, blank=True)
    is_baseline = models.BooleanField(default=False)
    # Failures of the run's own calls since the last answer: their number, the first one's time, the last error.
    failures = models.PositiveIntegerField(default=0, db_default=0)
    failing_since = models.DateTimeField(null=True)
    failure = models.CharField(max_length=40, blank=True, default="", db_default="")
    # Cooldowns since the last answer, and the end of the last one: nothing is asked before.
    cooldowns = models.PositiveSmallIntegerField(default=0, db_default=0)
    next_try_at = models.DateTimeField(null=True)
    # A Run.Reason: nothing is asked until the run is resumed.
    halted = models.CharField(max_length=40, blank=True, default="", db_default="")
    # When the entrant was left out: nothing more is asked, its answers stay.
    left_out_at = models.DateTimeField(null=True)
    # Ended items at Run.paced_from.
    ended_before = models.PositiveIntegerField(default=0, db_default=0)

    class Meta:
        ordering = ["run", "position"]
        constraints = [
            models.UniqueConstraint(fields=["run", "position"], name="a_run_has_its_entrants_in_order"),
            models.UniqueConstraint(
                fields=["run", "model", "prompt", "parameters_digest"], name="a_run_has_each_entrant_once"
            ),
            models.UniqueConstraint(fields=["run"], condition=Q(is_baseline=True), name="a_run_has_one_baseline"),
            models.CheckConstraint(
                condition=Q(model__isnull=False, imported="") | (Q(model__isnull=True) & ~Q(imported="")),
                name="an_entrant_is_asked_or_imported",
            ),
        ]
        triggers = [
            refuse_rows("an_entrants_model_is_of_its_place", _MODEL_OF_ANOTHER_PLACE, updated=("model_id", "run_id")),
        ]

    def __str__(self) -> str:
        return self.label or str(self.model or self.imported)

    @property
    def is_active(self) -> bool:
        return self.model is not None and self.model.status == LanguageModel.Status.ACTIVE


class ProviderPace(models.Model):
    """Number of calls of runs that a provider takes at once, learned from its refusals."""

    provider = models.OneToOneField(Provider, models.CASCADE, related_name="pace", primary_key=True)
    allowed = models.PositiveSmallIntegerField(
        default=8, validators=[MinValueValidator(1), MaxValueValidator(Run.MAX_CONCURRENCY)]
    )
    # Answers since the last change.
    answers = models.PositiveIntegerField(default=0)
    halved_at = models.DateTimeField(null=True)
    # End of the provider's Retry-After.
    blocked_until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.provider_id}: {self.allowed}"
