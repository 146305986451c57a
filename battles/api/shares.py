from django.http import HttpResponse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from battles.gallery.withdrawn import find_share
from battles.models import Share
from battles.payload_types import SharedBattlePayload
from battles.sessions.export import file_response
from battles.sessions.sharing import as_session, shared_battle_page, shared_battle_payload
from common.api_responses import PayloadResponse
from common.errors import NotFound


@method_decorator(never_cache, name="dispatch")  # an unpublished battle must not stay in caches
class ShareViewSet(ViewSet):
    lookup_field = "public_id"

    def get_object(self) -> Share:
        share = find_share(self.kwargs["public_id"])
        if share is None:
            raise NotFound
        return share

    def retrieve(self, request: Request, public_id: str) -> PayloadResponse[SharedBattlePayload]:
        return PayloadResponse(shared_battle_payload(self.get_object()))

    @action(detail=True, methods=["get"])
    def export(self, request: Request, public_id: str) -> HttpResponse:
        """Return the battle as JSON, or Markdown with `?as=markdown`."""
        battle = shared_battle_page(self.get_object())
        return file_response(as_session(battle), request.query_params.get("as", "json"), name=f"battle-{public_id}")
