"""New templates: from a spreadsheet in two steps, or empty."""

import re

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from benchmarks import actions
from benchmarks.actions import importing
from benchmarks.checks.reasons import placed
from benchmarks.forms.starting import ColumnsOfTableForm, TableForm
from benchmarks.forms.templates import NewTemplateForm
from benchmarks.imports.content import Request
from benchmarks.views.pages import PageRequest, member_of, place_of
from common.errors import ArenaError, FieldErrors

LISTED_LINES = 10
# Changes that show how the table could be mended.
_NAMED_CHANGES = {"characters_broken", "column_made_unique", "column_named", "encoding_assumed",
                  "lines_in_other_encoding", "row_filled"}  # fmt: skip
_CASE = re.compile(r"cases\[(.+)\]")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PageRequest) -> HttpResponse:
    """Show the ways to start; read a table, store it with its check, or store an empty template."""
    if "source" in request.POST:
        return _store_table(request)
    if "table" in request.POST:
        return _look_at_table(request)
    form, place = NewTemplateForm(request.POST or None), place_of(request)
    if not form.is_valid():
        context = {"form": form, "table": TableForm(), "chosen_place": place}
        return render(request, "benchmarks/new.html", context, status=422 if form.is_bound else 200)
    template = actions.create_template(owner=member_of(request), team=place, **form.cleaned_data)
    return redirect("benchmarks:edit", template.public_id)


def _look_at_table(request: PageRequest) -> HttpResponse:
    table, place = TableForm(request.POST, request.FILES), place_of(request)
    if not table.is_valid():
        context: dict[str, object] = {"form": NewTemplateForm(), "table": table, "chosen_place": place}
        return render(request, "benchmarks/new.html", context, status=422)
    request.actor.count("upload", fail_open=True)
    name, content = table.source()
    result = importing.preview(
        owner=member_of(request), content=content, request=Request(name=name, format="table")
    )  # fmt: skip
    lines = [line for line in result.lines if line["action"] == "refused"][:LISTED_LINES]
    left_out = [line for line in result.lines if line["action"] == "left_out" or line["code"] in _NAMED_CHANGES]
    left_out = left_out[:LISTED_LINES]
    if not result.source_id:
        context = {"form": NewTemplateForm(), "table": table, "lines": lines, "chosen_place": place}
        return render(request, "benchmarks/new.html", context, status=422)
    title = "" if name == "table.tsv" else name.rpartition(".")[0]
    columns = ColumnsOfTableForm(columns=result.imported.columns, name=title[:120])
    context = {
        "columns": columns, "source_id": result.source_id, "lines": lines, "left_out": left_out, "chosen_place": place,
    }  # fmt: skip
    return render(request, "benchmarks/new.html", context, status=200 if result.id else 422)


def _store_table(request: PageRequest) -> HttpResponse:
    member, source_id, place = member_of(request), request.POST["source"], place_of(request)
    try:
        columns = ColumnsOfTableForm(
            request.POST, columns=importing.previewed_choices(owner=member, source_id=source_id).columns
        )
        context: dict[str, object] = {"columns": columns, "source_id": source_id, "chosen_place": place}
        if not columns.is_valid():
            return render(request, "benchmarks/new.html", context, status=422)
        request.actor.count("upload", fail_open=True)
        draft = importing.create_from_table(
            owner=member, source_id=source_id, name=columns.cleaned_data["name"], mapping=columns.mapping,
            make_checks=columns.checks, team=place,
        )  # fmt: skip
    except importing.ImportGone as refusal:
        messages.error(request, refusal.detail)
        return redirect("benchmarks:new")
    except ArenaError as refusal:
        context["lines"] = _lines(refusal.fields or {})
        return render(request, "benchmarks/new.html", context, status=422)
    messages.success(request, _("The template is ready. Start a run, or look at it first."))
    return redirect("benchmarks:template", draft.template.public_id)


def _lines(fields: FieldErrors) -> list[dict[str, str]]:
    """Return sentences with the case's key in place of its position."""
    sentences = []
    for position, texts in fields.items():
        case = _CASE.match(position)
        for text in texts:
            details = {"key": case[1] if case else "", "reason": text.removeprefix(placed(position, ""))}
            sentences.append(_("Case %(key)s: %(reason)s") % details if case else text)
    return [{"sentence": sentence} for sentence in sentences[:LISTED_LINES]]
