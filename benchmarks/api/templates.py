from collections import Counter

from django.db import transaction
from django.http import StreamingHttpResponse
from django.utils.translation import gettext as _
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet

from accounts.actor import Actor
from accounts.api.idempotency import idempotent
from accounts.models import Scope, User
from accounts.teams.places import place_named
from benchmarks import access, actions
from benchmarks.api.requests import actor_of, member_of, validated
from benchmarks.api.serializers import (
    ChangeTemplateSerializer,
    ContentSerializer,
    CopyTemplateSerializer,
    NewCasesSerializer,
    NewTemplateSerializer,
)
from benchmarks.errors import CasesRefused, VersionFrozen
from benchmarks.exports.responses import template_response
from benchmarks.models import Template, TemplateVersion
from benchmarks.pasting import PastedCase
from benchmarks.payload_types import (
    CasePayload,
    StoredCasesPayload,
    TemplatePayload,
    TemplateSummaryPayload,
    TemplateVersionPayload,
)
from benchmarks.payloads import case_payload, template_payload, template_summary, version_payload
from benchmarks.queries.listing import ListForm, list_templates
from common.api_responses import Created, NoContent, PayloadResponse, paginated, paginated_together
from common.errors import InvalidInput, NotAllowed, NotFound
from common.payload_types import Page

MAX_PROBLEMS = 1_000


class TemplateViewSet(ViewSet):
    scopes = {"POST": Scope.BENCHMARK, "PUT": Scope.BENCHMARK, "DELETE": Scope.BENCHMARK}
    lookup_field = "public_id"

    def get_object(self, *, to_edit: bool = False) -> Template:
        return access.get_template_or_404(actor_of(self.request), self.kwargs["public_id"], to_edit=to_edit)

    def list(self, request: Request) -> PayloadResponse[Page[TemplateSummaryPayload]]:
        form, actor = ListForm(request.query_params, actor_of(request)), actor_of(request)
        form.full_clean()

        def summaries(templates: list[Template]) -> list[TemplateSummaryPayload]:
            visible = TemplateVersion.objects.filter(template__in=templates).order_by("number")
            newest = {
                version.template_id: version
                for version in visible.select_related("template")
                if version.state == TemplateVersion.State.FROZEN or access.may_edit(actor, version.template)
            }
            return [template_summary(template, actor, newest.get(template.pk)) for template in templates]

        return paginated_together(list_templates(actor, form), request, summaries)

    @idempotent
    def create(self, request: Request) -> Created[TemplatePayload]:
        member, serializer = member_of(request), NewTemplateSerializer(data=request.data)
        data = validated(serializer)
        place = place_named(actor_of(request), data.get("team"))
        with transaction.atomic():
            template = actions.create_template(
                owner=member, team=place, name=data["name"], description=data["description"]
            )
            _update(template, serializer, member)
            if serializer.changes_content:
                draft = template.versions.get()
                actions.save_draft(draft, serializer.content(draft))
        return Created(template_payload(template, actor_of(request)))

    def retrieve(self, request: Request, public_id: str) -> PayloadResponse[TemplatePayload]:
        return PayloadResponse(template_payload(self.get_object(), actor_of(request)))

    def update(self, request: Request, public_id: str) -> PayloadResponse[TemplatePayload]:
        template, member = self.get_object(to_edit=True), member_of(request)
        serializer = ChangeTemplateSerializer(data=request.data)
        data = validated(serializer)
        with transaction.atomic():
            if serializer.changes_content:
                draft = _draft(template)
                actions.save_draft(draft, serializer.content(draft))
            _update(template, serializer, member)
            actions.archive_template(template, archived=data["archived"])
        return PayloadResponse(template_payload(template, actor_of(request)))

    def destroy(self, request: Request, public_id: str) -> NoContent:
        actions.delete_template(self.get_object(to_edit=True))
        return NoContent()

    @action(detail=True, methods=["get"])
    def cases(self, request: Request, public_id: str) -> PayloadResponse[Page[CasePayload]]:
        template, actor = self.get_object(), actor_of(request)
        version = find_version(template, actor, request.query_params.get("version", ""))
        if not access.shows_contents(actor, template):
            raise NotFound
        return paginated(version.cases.prefetch_related("files__upload").order_by("position"), request, case_payload)

    @cases.mapping.post
    @idempotent
    def add_cases(self, request: Request, public_id: str) -> Created[StoredCasesPayload]:
        draft, member = _draft(self.get_object(to_edit=True)), member_of(request)
        serializer = NewCasesSerializer(data=request.data)
        data = validated(serializer)
        pasted = serializer.pasted
        _refuse_repeated_keys(pasted)
        try:
            stored = actions.add_cases(draft, pasted, replace=data["replace"], by=member)
        except InvalidInput as error:
            sentences = [sentence for texts in (error.fields or {}).values() for sentence in texts]
            raise CasesRefused(fields={"cases": sentences or [error.detail]}) from error
        draft.refresh_from_db()
        return Created({"stored": stored, "case_count": draft.case_count})

    @action(detail=True, methods=["post"])
    @idempotent
    def copy(self, request: Request, public_id: str) -> Created[TemplatePayload]:
        template, member, actor = self.get_object(), member_of(request), actor_of(request)
        data = validated(CopyTemplateSerializer(data=request.data))
        version = find_version(template, actor, data.get("version"))
        if not access.shows_contents(actor, template):
            raise NotFound
        copy = actions.copy_template(version, by=member, team=place_named(actor, data.get("team")))
        return Created(template_payload(copy, actor))

    @action(detail=True, methods=["post"])
    @idempotent
    def freeze(self, request: Request, public_id: str) -> PayloadResponse[TemplateVersionPayload]:
        version = actions.freeze_version(_draft(self.get_object(to_edit=True)))
        version.refresh_from_db()
        return PayloadResponse(version_payload(version))

    @action(detail=True, methods=["get"])
    def versions(self, request: Request, public_id: str) -> PayloadResponse[Page[TemplateVersionPayload]]:
        versions = access.visible_versions(actor_of(request), self.get_object())
        return paginated(versions, request, version_payload)

    @versions.mapping.post
    @idempotent
    def start_draft(self, request: Request, public_id: str) -> Created[TemplateVersionPayload]:
        return Created(version_payload(actions.start_draft(self.get_object(to_edit=True))))


class TemplateExport(APIView):
    def get(self, request: Request, public_id: str) -> StreamingHttpResponse:
        actor = actor_of(request)
        template = access.get_template_or_404(actor, public_id)
        version = find_version(template, actor, request.query_params.get("version", ""))
        if not access.shows_contents(actor, template):
            raise NotFound
        is_for_promptfoo = request.query_params.get("for") == "promptfoo"
        return template_response(version, actor=actor, is_for_promptfoo=is_for_promptfoo)


def find_version(template: Template, actor: Actor, number: int | str | None) -> TemplateVersion:
    """Raises NotFound."""
    version = access.find_version(actor, template, number)
    if version is None:
        raise NotFound
    return version


def _draft(template: Template) -> TemplateVersion:
    draft = template.draft()
    if draft is None:
        raise VersionFrozen
    return draft


def _update(template: Template, serializer: ContentSerializer, member: User) -> None:
    data = serializer.validated_data
    if data["visibility"] != template.visibility and not member.is_administrator:
        raise NotAllowed(_("Only administrators change who may use a template."))
    names = ("name", "description", "visibility", "held_out")
    actions.update_template(template, by=member, **{name: data[name] for name in names})


def _refuse_repeated_keys(cases: list[PastedCase]) -> None:
    counted = Counter(case.key for case in cases if case.key)
    sentence = _("Case %(number)s: another case has the key “%(key)s”.")
    problems = [
        sentence % {"number": number, "key": case.key}
        for number, case in enumerate(cases, start=1)
        if counted[case.key] > 1
    ]
    if problems:
        raise CasesRefused(fields={"cases": problems[:MAX_PROBLEMS]})
