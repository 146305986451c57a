from typing import cast

from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from accounts.actor import ActorRequest
from accounts.teams.places import PARAMETER, place_named
from battles import feedback
from battles.payload_types import FeedbackTagPayload, SuggestionPayload
from battles.suggestions import suggestions
from common.api_responses import PayloadResponse, paginated
from common.payload_types import Page


class FeedbackTagViewSet(ViewSet):
    def list(self, request: Request) -> PayloadResponse[Page[FeedbackTagPayload]]:
        offered = [tag for tag in feedback.tags().values() if not tag.is_retired]
        return paginated(offered, request, _tag_payload)


def _tag_payload(tag: feedback.Tag) -> FeedbackTagPayload:
    return {"id": tag.slug, "label": tag.label, "kind": "good" if tag.is_good else "bad"}


class SuggestionViewSet(ViewSet):
    def list(self, request: Request) -> PayloadResponse[Page[SuggestionPayload]]:
        place = place_named(cast(ActorRequest, request._request).actor, request.query_params.get(PARAMETER))
        texts = suggestions(None if place is None else place.pk)
        return paginated(texts, request, lambda prompt: {"prompt": prompt})
