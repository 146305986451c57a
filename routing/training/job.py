"""Training: one row of RouterSnapshot for each slot."""

import hashlib
import logging
import time
from dataclasses import replace
from datetime import UTC

import numpy as np
from django.db import connection, transaction
from django.db.models import F, OuterRef, Subquery
from django.db.models.functions import Coalesce

from accounts.models import Team
from battles.models import Vote
from common.allocator import keep_freed_arrays
from leaderboard.counting import schedule
from routing.deciding.candidates import current_table
from routing.deciding.router_cache import overall_of_place
from routing.learning.choosing import dial_table, win_chances
from routing.learning.features import VERSION
from routing.learning.heads import METHOD, HeadReport, clustered_lower_bound, fit_router, train
from routing.learning.router import Router, UnusableSnapshot
from routing.models import RouterSnapshot
from routing.training.predictions import expected_costs, predict_losses, predict_scores
from routing.training.vote_log import VoteLog, read_votes

logger = logging.getLogger(__name__)

MIN_VOTES = 30
# Trained in one night.
MAX_TEAMS = 50
# Newest prompts that the prices of the dials are found on.
MAX_PRICED_PROMPTS = 5_000
# Votes since the published router that compare it with its successor.
MIN_COMPARED_VOTES, MAX_COMPARED_VOTES = 30, 5_000
_PROMPTS_AT_ONCE = 200
_LOCK = 0x524F5554
State = RouterSnapshot.State


def train_if_due() -> RouterSnapshot | None:
    return train_router(slot=_today())


def train_teams_if_due() -> None:
    """Train for teams that cast enough votes since their last training, those that wait longest first."""
    newest = RouterSnapshot.objects.in_place(OuterRef("pk")).order_by("-pk")  # type: ignore[arg-type]
    since = Coalesce(Subquery(newest.values("trained_until")[:1]), 0)
    teams = Team.objects.active().annotate(since=since, last=Subquery(newest.values("pk")[:1]))
    trained = 0
    for team_id, after in teams.order_by(F("last").asc(nulls_first=True), "pk").values_list("pk", "since"):
        if trained == MAX_TEAMS:
            return
        own = Vote.objects.blind().filter(team=team_id, excluded_reason="", order__gt=after)
        if len(own.values_list("pk")[:MIN_VOTES]) == MIN_VOTES:
            trained += 1
            try:
                train_router(slot=f"{_today()} team:{team_id}", team_id=team_id)
            except Exception:  # the other teams' turn comes
                logger.exception("auto mode of team %s cannot be trained", team_id)


def _today() -> str:
    return schedule.database_now().astimezone(UTC).date().isoformat()


def train_router(*, slot: str, team_id: int | None = None) -> RouterSnapshot | None:
    """Train and store the snapshot; return None if the slot has one or another training is active."""
    started = time.monotonic()
    keep_freed_arrays()
    try:
        with transaction.atomic():
            if not _try_lock() or RouterSnapshot.objects.filter(slot=slot).exists():
                return None
            snapshot = _train(slot, team_id)
            snapshot.seconds = round(time.monotonic() - started, 3)
            snapshot.save(force_insert=True)
            return snapshot
    except Exception as error:
        message = f"{type(error).__name__}: {error}"[:1000]
        failed = RouterSnapshot(slot=slot, team_id=team_id, state=State.FAILED, message=message)
        RouterSnapshot.objects.bulk_create([failed], ignore_conflicts=True)
        raise


def _try_lock() -> bool:
    """Take the lock of trainings until COMMIT, and let the transaction wait for the fits."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = '900s'")
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK])
        return bool(cursor.fetchone()[0])


def _train(slot: str, team_id: int | None) -> RouterSnapshot:
    log = read_votes(team_id)
    snapshot = RouterSnapshot(
        slot=slot, team_id=team_id, method=METHOD, features_version=VERSION, votes=len(log), trained_until=log.until,
        board=overall_of_place(team_id).first(),
    )  # fmt: skip
    if len(log) < MIN_VOTES:
        snapshot.state = State.FEW_VOTES
        snapshot.message = f"{len(log)} counted votes with their prompts; {MIN_VOTES} are needed."
        return snapshot
    trained = train(log.votes)
    snapshot.heads = list(trained.heads)
    if message := _worse_than_published(log, trained.heads, team_id):
        snapshot.state, snapshot.message = State.WORSE, message
        return snapshot
    router = replace(trained.router, prices=find_prices(trained.router, log, team_id))
    snapshot.state = State.PUBLISHED
    snapshot.parameters = router.to_bytes()
    snapshot.prices = list(router.prices)
    snapshot.checksum = hashlib.sha256(snapshot.parameters).hexdigest()
    return snapshot


def _worse_than_published(log: VoteLog, heads: list[HeadReport], team_id: int | None) -> str:
    """Return a sentence if the published router predicts the votes since its training better; else "".

    Its rival has the new scales, and only the votes before.
    """
    published = RouterSnapshot.objects.in_place(team_id).published().first()
    if published is None:
        return ""
    is_new = log.order > published.trained_until
    new, old = np.flatnonzero(is_new)[-MAX_COMPARED_VOTES:], np.flatnonzero(~is_new)
    if len(new) < MIN_COMPARED_VOTES or len(old) < MIN_VOTES:
        return ""
    try:
        before = Router.from_bytes(bytes(published.parameters))
    except UnusableSnapshot:
        return ""
    labels, features = heads
    rival = fit_router(log.votes.subset(old), label_scale=labels["scale"], feature_scale=features["scale"])
    loss, loss_before = (predict_losses(router, log, new) for router in (rival, before))
    held_out = log.votes.subset(new)
    mean, lower_bound = clustered_lower_bound(loss - loss_before, held_out.weight, held_out.cluster)
    if lower_bound <= 0:
        return ""
    return f"On {len(new)} newer votes its log loss is {mean:.4f} above that of {published.public_id}."


def find_prices(router: Router, log: VoteLog, team_id: int | None = None) -> tuple[float, ...]:
    """Return λ of the dials for the newest prompts and the models that can be drawn now."""
    table = current_table(team_id)
    if len(table.models) < 2:
        return router.prices
    models = [model.pk for model in table.models]
    chances = []
    rows = np.arange(max(len(log) - MAX_PRICED_PROMPTS, 0), len(log))
    for begin in range(0, len(rows), _PROMPTS_AT_ONCE):
        theta = predict_scores(router, log, rows[begin : begin + _PROMPTS_AT_ONCE], models).theta
        chances.append(win_chances(theta, table.weights, router.tie_factor))
    return dial_table(np.concatenate(chances), expected_costs(table, log, rows))
