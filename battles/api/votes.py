from typing import cast

from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.actor import ActorRequest
from battles.own_votes import VoteFilterForm, own_vote_payload
from battles.payload_types import OwnVotePayload
from common.api_responses import PayloadResponse, paginated
from common.errors import InvalidInput
from common.payload_types import Page


class OwnVotes(APIView):
    def get(self, request: Request) -> PayloadResponse[Page[OwnVotePayload]]:
        form = VoteFilterForm(request.query_params, actor=cast(ActorRequest, request._request).actor)
        if not form.is_valid():
            raise InvalidInput(fields={name: [str(line) for line in lines] for name, lines in form.errors.items()})
        return paginated(form.votes(), request, own_vote_payload)
