from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Team
from benchmarks import access
from benchmarks.actions import importing
from benchmarks.forms.imports import ColumnsForm, ImportForm, formats
from benchmarks.models import Template
from benchmarks.views.pages import PageRequest, member_of, place_of
from common.errors import ArenaError

LISTED_LINES = 200
ACTIONS = ("refused", "left_out", "changed", "taken")


@dataclass(frozen=True)
class ListedLines:
    """Lines of one action: the number of all, and the first."""

    action: str
    count: int
    lines: Sequence[importing.ReportLine]

    @property
    def unlisted(self) -> int:
        return self.count - len(self.lines)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: PageRequest) -> HttpResponse:
    """Show the form; with a file, the report on it."""
    template = _template(request)
    form = ImportForm(request.POST, request.FILES) if request.method == "POST" else ImportForm()
    context: dict[str, object] = {"form": form, "template": template, "chosen_place": _place(request, template)}
    if not form.is_valid():
        return render(request, "benchmarks/import.html", context, status=422 if form.is_bound else 200)
    request.actor.count("upload", fail_open=True)
    result = importing.preview(
        owner=member_of(request), content=form.cleaned_data["file"].read(), request=form.request()
    )
    return _report(request, template, result)


@login_required
@require_POST
def columns(request: PageRequest) -> HttpResponse:
    """Show the report on the same table with other roles of its columns."""
    template, member, source_id = _template(request), member_of(request), request.POST.get("source", "")
    try:
        choices = importing.previewed_choices(owner=member, source_id=source_id)
        form = ColumnsForm(request.POST, columns=choices.columns, sheets=choices.sheets, encodings=choices.encodings)
        if not form.is_valid():
            context = {
                "form": ImportForm(), "template": template, "columns": form, "source_id": source_id,
                "chosen_place": _place(request, template),
            }  # fmt: skip
            return render(request, "benchmarks/import.html", context, status=422)
        request.actor.count("upload", fail_open=True)
        result = importing.preview_again(
            owner=member, source_id=source_id, mapping=form.mapping, sheet=form.cleaned_data.get("sheet", ""),
            encoding=form.cleaned_data.get("encoding", ""),
        )  # fmt: skip
    except importing.ImportGone as refusal:
        messages.error(request, refusal.detail)
        return redirect(_address(template))
    return _report(request, template, result)


def _report(request: PageRequest, template: Template | None, result: importing.ImportPreview) -> HttpResponse:
    imported = result.imported
    form = ColumnsForm(columns=imported.columns, sheets=imported.sheets, encodings=imported.encodings)
    context = {
        "form": ImportForm(), "template": template, "preview": result, "parts": _parts_of(result),
        "content": imported.template, "format": formats().get(imported.format, imported.format),
        "columns": form if form.fields else None, "source_id": result.source_id,
        "chosen_place": _place(request, template),
    }  # fmt: skip
    return render(request, "benchmarks/import.html", context, status=200 if result.id else 422)


def _parts_of(preview: importing.ImportPreview) -> list[ListedLines]:
    """Return lines by action, the worst first."""
    lines = preview.lines
    parts = []
    for action in ACTIONS:
        listed = [line for line in lines if line["action"] == action]
        count = max(preview.imported.counts.get(action, 0), len(listed))
        if count:
            parts.append(ListedLines(action, count, listed[:LISTED_LINES]))
    return parts


def _address(template: Template | None) -> str:
    return reverse("benchmarks:import") + (f"?template={template.public_id}" if template else "")


def _template(request: PageRequest) -> Template | None:
    """Return the template that gets the import as its next draft, None for a new template."""
    public_id = (request.POST if request.method == "POST" else request.GET).get("template", "")
    return access.get_template_or_404(request.actor, public_id, to_edit=True) if public_id else None


def _place(request: PageRequest, template: Template | None) -> Team | None:
    return place_of(request) if template is None else access.team_of(request.actor, template)


@login_required
@require_POST
def apply(request: PageRequest) -> HttpResponse:
    """Store the file that the member previewed last."""
    template = _template(request)
    try:
        draft = importing.apply_preview(
            owner=member_of(request), preview_id=request.POST.get("preview", ""), template=template,
            team=_place(request, template), with_answers="with_answers" in request.POST,
        )  # fmt: skip
    except ArenaError as refusal:
        sentences = [sentence for texts in (refusal.fields or {}).values() for sentence in texts]
        messages.error(request, " ".join([refusal.detail, *sentences[:5]]))
        return redirect(_address(template))
    run = draft.runs.first()
    if run is not None:
        messages.success(request, _("The file is imported, and its answers are scored."))
        return redirect("benchmarks:run", run.public_id)
    messages.success(request, _("The file is imported. Look at the prompts and checks before the first run."))
    return redirect("benchmarks:edit", draft.template.public_id)
