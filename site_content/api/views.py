from typing import cast

from django.conf import settings
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.actor import ActorRequest, ensure_known_actor
from accounts.api.idempotency import idempotent
from accounts.models import Scope
from common.api_responses import PayloadResponse
from common.errors import NotFound
from site_content.actions import accept_terms
from site_content.current import site
from site_content.payload_types import PageTextPayload, SitePayload, TermsPayload
from site_content.payloads import page_payload, site_payload, terms_payload
from site_content.queries import get_page


class AcceptTermsSerializer(serializers.Serializer[None]):
    version = serializers.IntegerField(min_value=1, max_value=2_000_000_000)


class SiteView(APIView):
    def get(self, request: Request) -> PayloadResponse[SitePayload]:
        return PayloadResponse(site_payload(site()))


class PageView(APIView):
    def get(self, request: Request, page: str) -> PayloadResponse[PageTextPayload]:
        language = request.query_params.get("language", "")
        version, newest = get_page(page, request.query_params.get("version", ""))
        if language and language not in dict(settings.LANGUAGES):
            raise NotFound
        return PayloadResponse(page_payload(version, newest=newest, language=language))


class Terms(APIView):
    scopes = {"POST": Scope.BATTLE}

    def get(self, request: Request) -> PayloadResponse[TermsPayload]:
        return PayloadResponse(terms_payload(site(), cast(ActorRequest, request._request).actor))

    @idempotent
    def post(self, request: Request) -> PayloadResponse[TermsPayload]:
        serializer = AcceptTermsSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        actor = ensure_known_actor(cast(ActorRequest, request._request))
        accept_terms(actor=actor, number=serializer.validated_data["version"])
        return PayloadResponse(terms_payload(site(), actor))
