from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from accounts.api.idempotency import idempotent
from accounts.models import Scope
from benchmarks.api.requests import actor_of, member_of, validated
from common.api_responses import PayloadResponse, paginated
from common.errors import NotFound
from common.payload_types import Page
from reviews import access
from reviews.actions.people import set_aside, take_back
from reviews.api.serializers import SetAsideSerializer
from reviews.evidence import PersonEvidence, find_person, read_people
from reviews.models import Review
from reviews.payload_types import ReviewPersonPayload
from reviews.payloads import person_payload


class ReviewPeople(ViewSet):
    scopes = {"POST": Scope.BENCHMARK}
    lookup_field = "public_id"

    def _review(self) -> Review:
        return access.get_review_or_404(actor_of(self.request), self.kwargs["public_id"], to_change=True)

    def _person(self, review: Review) -> PersonEvidence:
        found = find_person(review, self.kwargs["number"])
        if found is None:
            raise NotFound
        return found

    def list(self, request: Request, public_id: str) -> PayloadResponse[Page[ReviewPersonPayload]]:
        return paginated(read_people(self._review()), request, person_payload)

    @idempotent
    def aside(self, request: Request, public_id: str, number: int) -> PayloadResponse[ReviewPersonPayload]:
        review = self._review()
        person = self._person(review)
        because = validated(SetAsideSerializer(data=request.data))["because"]
        set_aside(person.reviewer, by=member_of(request), because=because, evidence=person.as_json)
        return PayloadResponse(person_payload(self._person(review)))

    @idempotent
    def back(self, request: Request, public_id: str, number: int) -> PayloadResponse[ReviewPersonPayload]:
        review = self._review()
        take_back(self._person(review).reviewer, by=member_of(request))
        return PayloadResponse(person_payload(self._person(review)))
