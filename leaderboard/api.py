"""The board and its snapshots through the API."""

from typing import Any

from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from leaderboard import boards
from leaderboard.models import AggregationRun


class Leaderboard(APIView):
    """The newest snapshot of a board, sorted and filtered."""

    def get(self, request: Request) -> Response:
        query = boards.BoardQuery.read(request.query_params)
        return Response(boards.read_board(query))


class BoardList(APIView):
    """Boards that exist, with counts."""

    def get(self, request: Request) -> Response:
        results = boards.list_boards()
        return Response({"count": len(results), "next": None, "previous": None, "results": results})


class SnapshotSerializer(BaseSerializer[AggregationRun]):
    def to_representation(self, instance: AggregationRun) -> dict[str, Any]:
        return boards.describe_run(instance)


class SnapshotList(ListAPIView[AggregationRun]):
    """Every snapshot published, newest first."""

    queryset = AggregationRun.objects.filter(state=AggregationRun.State.DONE)
    serializer_class = SnapshotSerializer


class SnapshotDetail(APIView):
    """One snapshot as it was published."""

    def get(self, request: Request, public_id: str) -> Response:
        return Response(boards.read_snapshot(public_id))
