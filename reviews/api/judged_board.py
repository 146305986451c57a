from django.utils.decorators import method_decorator
from rest_framework.request import Request
from rest_framework.views import APIView

from common.api_responses import PayloadResponse, paginated
from common.caching import public
from common.db.replica import reads_replica
from common.payload_types import Page
from leaderboard.boards.queries import BoardQuery, read_board
from reviews.judged_board import JudgedBoardPayload, judged_board


@method_decorator(public, name="dispatch")
class JudgedBoards(APIView):
    @reads_replica
    def get(self, request: Request) -> PayloadResponse[Page[JudgedBoardPayload]]:
        judged = judged_board(read_board(BoardQuery()))
        return paginated([] if judged is None else [judged], request, lambda payload: payload)
