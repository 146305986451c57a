"""The judge of voted battles: its figures beside Overall, and its verdicts as a file."""

from collections.abc import Iterator

from django.http import StreamingHttpResponse
from django.utils.decorators import method_decorator
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.models import Scope
from benchmarks.api.requests import actor_of
from benchmarks.exports.responses import file_response
from benchmarks.live_judging.figures import judged_battles
from benchmarks.models import LiveJudge
from common.api_responses import PayloadResponse, paginated
from common.caching import public
from common.db.replica import reads_replica
from common.errors import NotFound
from common.payload_types import JsonObject, Page
from common.tables.table import Kind, Table
from common.tables.writers import CONTENT_TYPES, WRITERS
from leaderboard.boards.queries import BoardQuery, read_board
from leaderboard.exports.access import export_scope, require_exports
from models_registry.models import LanguageModel
from reviews.judged_board import JudgedBoardPayload, judged_board

_KINDS: dict[str, Kind] = {
    "judge_number": "int64", **dict.fromkeys(("share", "left_shown_first", "right_shown_first"), "float64"),
}  # fmt: skip
_COLUMNS = ("judge", "judge_number", "share", "left", "right", "choice", "left_shown_first", "right_shown_first")
TABLE = Table(_COLUMNS, _KINDS, lambda row: tuple(row.values()))


@method_decorator(public, name="dispatch")
class JudgedBoards(APIView):
    @reads_replica
    def get(self, request: Request) -> PayloadResponse[Page[JudgedBoardPayload]]:
        judged = judged_board(read_board(BoardQuery()))
        return paginated([] if judged is None else [judged], request, lambda payload: payload)


class JudgedBattleExport(APIView):
    @property
    def scopes(self) -> dict[str, Scope]:
        return {"GET": export_scope()}

    def get(self, request: Request, ending: str) -> StreamingHttpResponse:
        if ending not in WRITERS:
            raise NotFound
        actor = actor_of(request)
        require_exports(actor)
        actor.count("export", fail_open=True)
        return file_response(WRITERS[ending](_batches(), TABLE), CONTENT_TYPES[ending], f"judged-battles.{ending}")


def _batches() -> Iterator[list[JsonObject]]:
    """Yield the battles of each judge whose votes count; the verdicts are seen from the left."""
    slugs = dict(LanguageModel.objects.values_list("pk", "slug"))
    for live in LiveJudge.objects.select_related("judge").order_by("pk"):
        yield [
            {
                "judge": live.judge.name,
                "judge_number": live.judge.number,
                "share": battle.share,
                "left": slugs[battle.left],
                "right": slugs[battle.right],
                "choice": battle.choice,
                "left_shown_first": battle.outcomes[0],
                "right_shown_first": battle.outcomes[1],
            }
            for battle in judged_battles(live.draws.filter(battle__vote__excluded_reason=""))
        ]
