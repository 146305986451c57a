from typing import cast

from django.http import HttpResponse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.actor import ActorRequest
from accounts.models import Team
from battles.errors import NotVotedYet
from battles.payloads import battle_payload
from battles.queries import find_battle_with_related
from common.api_responses import PayloadResponse, paginated
from common.caching import PRIVATE, public
from common.db.replica import reads_replica
from common.errors import InvalidInput, NotFound
from common.payload_types import Page
from leaderboard.boards import queries, snapshots
from leaderboard.boards.csv_file import csv_response
from leaderboard.boards.head_to_head import read_head_to_head
from leaderboard.boards.history import read_history
from leaderboard.boards.matrix import read_matrix
from leaderboard.boards.model_page import get_public_model, read_model_page
from leaderboard.boards.personal.own_board import MINE, TASTE, read_own_board, read_team_taste
from leaderboard.boards.personal.table import own_board_csv
from leaderboard.boards.places import read_place
from leaderboard.boards.reveal import battle_places, numbers_of
from leaderboard.errors import NoSuchBoard, NoSuchModel, NoSuchSnapshot
from leaderboard.models import OVERALL
from leaderboard.payload_types import (
    BattlePlacesPayload,
    BoardPayload,
    HeadToHeadPayload,
    HistoryPayload,
    LeaderboardPayload,
    MatrixPayload,
    ModelStandingsPayload,
    OwnBoardPayload,
    PlacePayload,
    SnapshotHeadPayload,
    SnapshotPayload,
)

MAX_MODELS_OVER_TIME = 50
FORMATS = ("json", "csv")


def _team(request: Request, missing: type[NotFound] = NoSuchBoard) -> Team | None:
    return read_place(cast(ActorRequest, request._request), missing).team


@method_decorator(public, name="dispatch")
class Leaderboard(APIView):
    def get(self, request: Request) -> PayloadResponse[LeaderboardPayload | OwnBoardPayload] | HttpResponse:
        file_format = request.query_params.get("as", "json")
        if file_format not in FORMATS:
            raise InvalidInput(fields={"as": [_("Choose one of: %(choices)s.") % {"choices": ", ".join(FORMATS)}]})
        own = _own_board(request)
        if own is None:
            return _public_board(request, file_format)
        response = own_board_csv(own) if file_format == "csv" else PayloadResponse(own)
        response["Cache-Control"] = PRIVATE
        return response


def _own_board(request: Request) -> OwnBoardPayload | None:
    board, team = request.query_params.get("board"), _team(request)
    if board == MINE and team is None:
        return read_own_board(cast(ActorRequest, request._request).actor)
    return read_team_taste(team) if board == TASTE and team is not None else None


@reads_replica
def _public_board(
    request: Request, file_format: str
) -> PayloadResponse[LeaderboardPayload | OwnBoardPayload] | HttpResponse:
    board = queries.read_board(queries.BoardQuery.read(request.query_params, _team(request)))
    return csv_response(board) if file_format == "csv" else PayloadResponse(board)


@method_decorator(public, name="dispatch")
class BoardList(APIView):
    @reads_replica
    def get(self, request: Request) -> PayloadResponse[Page[BoardPayload]]:
        return paginated(queries.list_boards(_team(request)), request, lambda board: board)


@method_decorator(public, name="dispatch")
class ModelStandings(APIView):
    @reads_replica
    def get(self, request: Request, slug: str) -> PayloadResponse[ModelStandingsPayload]:
        return PayloadResponse(read_model_page(slug, _team(request, NoSuchModel)))


@method_decorator(public, name="dispatch")
class History(APIView):
    @reads_replica
    def get(self, request: Request) -> PayloadResponse[HistoryPayload]:
        slugs = [slug for slug in request.query_params.get("models", "").split(",") if slug]
        if not 0 < len(slugs) <= MAX_MODELS_OVER_TIME:
            message = _("Name between one and %(most)d models, separated by commas.") % {"most": MAX_MODELS_OVER_TIME}
            raise InvalidInput(fields={"models": [message]})
        board = request.query_params.get("board") or OVERALL
        return PayloadResponse(read_history(board, slugs, _team(request)))


@method_decorator(public, name="dispatch")
class HeadToHead(APIView):
    @reads_replica
    def get(self, request: Request) -> PayloadResponse[HeadToHeadPayload]:
        a, b = (request.query_params.get(name, "") for name in ("a", "b"))
        if not a or not b or a == b:
            raise InvalidInput(fields={"b": [_("Name two different models as a and b.")]})
        team = _team(request, NoSuchModel)
        return PayloadResponse(read_head_to_head(get_public_model(a, team), get_public_model(b, team), team))


@method_decorator(public, name="dispatch")
class Matrix(APIView):
    @reads_replica
    def get(self, request: Request) -> PayloadResponse[MatrixPayload]:
        return PayloadResponse(read_matrix(request.query_params.get("board") or OVERALL, _team(request)))


class BattlePlaces(APIView):
    def get(self, request: Request, public_id: str) -> PayloadResponse[BattlePlacesPayload]:
        actor = cast(ActorRequest, request._request).actor
        battle = find_battle_with_related(actor, public_id)
        if battle is None:
            raise NotFound
        if battle.vote_or_none is None:
            raise NotVotedYet
        shown = battle_payload(battle)
        places = battle_places([shown], actor)
        sides: list[PlacePayload] = [
            {"side": side["side"], "model": side["model"], **numbers_of(places.get((public_id, side["side"])))}
            for side in shown["sides"] or ()
        ]
        return PayloadResponse({"battle": public_id, "sides": sides})


@method_decorator(public, name="dispatch")
class SnapshotList(APIView):
    @reads_replica
    def get(self, request: Request) -> PayloadResponse[Page[SnapshotHeadPayload]]:
        runs = snapshots.read_published(request.query_params, _team(request))
        return paginated(runs, request, snapshots.snapshot_head_payload)


@method_decorator(public, name="dispatch")
class SnapshotDetail(APIView):
    @reads_replica
    def get(self, request: Request, public_id: str) -> PayloadResponse[SnapshotPayload]:
        return PayloadResponse(snapshots.read_snapshot(public_id, _team(request, NoSuchSnapshot)))
