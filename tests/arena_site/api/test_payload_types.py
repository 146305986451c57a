from typing import TypedDict

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.api.idempotency import idempotent
from arena_site.openapi.schema import Body, bodies_of
from arena_site.openapi.views import schema_as_json
from common.api_responses import Accepted, Created, NoContent, PayloadResponse
from common.payload_types import Page


class RiverPayload(TypedDict):
    name: str


class Rivers(APIView):
    def get(self, request: Request) -> PayloadResponse[Page[RiverPayload]]: ...

    @idempotent
    def post(self, request: Request) -> Created[RiverPayload] | Accepted[RiverPayload]: ...

    def put(self, request: Request) -> PayloadResponse[RiverPayload] | HttpResponse: ...

    def delete(self, request: Request) -> NoContent: ...

    def patch(self, request: Request) -> HttpResponse: ...


def test_bodies_are_read_from_return_annotations():
    assert bodies_of(Rivers, "get") == [Body(200, RiverPayload, is_list=True)]
    assert bodies_of(Rivers, "post") == [Body(201, RiverPayload), Body(202, RiverPayload)]
    assert bodies_of(Rivers, "put") == [Body(200, RiverPayload)]
    assert bodies_of(Rivers, "delete") == [Body(204, None)]
    assert bodies_of(Rivers, "patch") == []


def test_components_are_named_without_payload_suffix():
    assert b"Payload" not in schema_as_json()


def test_responses_have_the_status_of_their_class():
    river = RiverPayload(name="Elbe")
    answered = [PayloadResponse(river), Created(river), Accepted(river), NoContent()]
    assert [(response.status_code, response.data) for response in answered] == [
        (200, river), (201, river), (202, river), (204, None)
    ]  # fmt: skip
