"""Versions, their changes and files, editor and cases of a template."""

from collections.abc import Sequence

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import Team
from accounts.teams.places import usable_teams
from benchmarks import access, actions
from benchmarks.checks.check_set import raw_check
from benchmarks.editing.changes import read_changes
from benchmarks.editing.previews import preview, read_problems
from benchmarks.editing.trials import try_checks
from benchmarks.exports.promptfoo import PromptfooExport
from benchmarks.exports.responses import template_response
from benchmarks.forms.cases import EditedRow, PasteForm, read_cells, rows_per_page
from benchmarks.forms.checks.catalogue import GROUPS
from benchmarks.forms.checks.reading import in_words
from benchmarks.forms.fields import MAX_CHARACTERS
from benchmarks.forms.templates import Editor
from benchmarks.models import Template, TemplateVersion
from benchmarks.pasting import read_table
from benchmarks.queries.cases import PER_PAGE, CasePage, read_cases
from benchmarks.views.pages import PageRequest, member_of, place_of
from common.errors import ArenaError, InvalidInput
from common.text.numbers import format_numbers, parse_whole_number


@require_safe
def show(request: PageRequest, public_id: str) -> HttpResponse:
    """Show a version; to htmx, a page of its cases."""
    template = access.get_template_or_404(request.actor, public_id)
    versions = list(access.visible_versions(request.actor, template))
    wanted = request.GET.get("version", "")
    version = next((candidate for candidate in versions if str(candidate.number) == wanted), None) if wanted else None
    if wanted and version is None:
        raise Http404
    version = version or next(iter(versions), None)
    shows_contents = access.shows_contents(request.actor, template)
    context: dict[str, object] = {
        "template": template, "version": version, "versions": versions, "shows_contents": shows_contents,
        "may_edit": access.may_edit(request.actor, template), "team": access.team_of(request.actor, template),
    }  # fmt: skip
    if version is not None and shows_contents:
        context["copy_places"] = _copy_places(request, template)
        search, after = request.GET.get("search", "").strip(), request.GET.get("after", "")
        context |= {"page": read_cases(version, after=after, search=search), "search": search}
        if not request.htmx:
            checks = [(check, in_words(raw_check(check))) for check in version.checks.all()]
            context |= {"prompts": version.prompts.all(), "checks": checks}
            context["promptfoo_notes"] = PromptfooExport(version).notes
    return render(request, "benchmarks/template.html#cases" if request.htmx else "benchmarks/template.html", context)


def _copy_places(request: PageRequest, template: Template) -> list[Team | None]:
    """Return the other places to which the person may copy it, None for personal; [] for people without a team."""
    user = request.actor.user
    teams = [] if user is None else usable_teams(user)
    places = [None, *teams] if teams else []
    return [place for place in places if template.visibility == Template.Visibility.SITE or place != template.team]


@login_required
@require_POST
def copy(request: PageRequest, public_id: str) -> HttpResponse:
    """Copy a version into a new template of another place."""
    template = access.get_template_or_404(request.actor, public_id)
    version = access.find_version(request.actor, template, request.GET.get("version"))
    if version is None or not access.shows_contents(request.actor, template):
        raise Http404
    try:
        made = actions.copy_template(version, by=member_of(request), team=place_of(request))
    except ArenaError as refusal:
        messages.error(request, refusal.detail)
        return redirect("benchmarks:template", public_id)
    messages.success(request, _("This is the copy."))
    return redirect("benchmarks:template", made.public_id)


def draft_or_404(request: PageRequest, public_id: str) -> tuple[Template, TemplateVersion]:
    template = access.get_template_or_404(request.actor, public_id, to_edit=True)
    draft = template.draft()
    if draft is None:
        raise Http404
    return template, draft


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: PageRequest, public_id: str) -> HttpResponse:
    """Show and save a draft; with `preview`, show a case's prompts; with `try`, verdicts; with a move, other checks."""
    template, draft = draft_or_404(request, public_id)
    data = request.POST if request.method == "POST" else None
    editor = Editor(template, draft, data, may_publish=member_of(request).is_administrator)
    context: dict[str, object] = {"template": template, "version": draft, "editor": editor, "groups": GROUPS}
    if editor.is_moved:
        return render(request, f"benchmarks/edit.html{'#checks' if request.htmx else ''}", context)
    if data is not None and "preview" in data:
        context["preview"] = preview(draft, editor.kept_prompts(), _place(data.get("case", "")))
        return render(request, f"benchmarks/edit.html{'#preview' if request.htmx else ''}", context)
    if data is not None and "try" in data:
        answer, number = data.get("answer", "")[:MAX_CHARACTERS], _place(data.get("tried_case", ""))
        context["trial"] = try_checks(draft, editor.checks.checks(), answer, number)
        context["are_checks_valid"] = editor.checks.is_valid()
        return render(request, f"benchmarks/edit.html{'#trial' if request.htmx else ''}", context)
    if data is not None and editor.is_valid():
        editor.form.save(template, by=member_of(request))
        actions.save_draft(draft, editor.content())
        messages.success(request, _("The draft is saved."))
        for sentence in read_problems(draft):
            messages.warning(request, sentence)
        return redirect("benchmarks:edit", template.public_id)
    return render(request, "benchmarks/edit.html", context, status=200 if data is None else 422)


def _place(text: str) -> int:
    return parse_whole_number(text, max_digits=9) or 1


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def cases(request: PageRequest, public_id: str) -> HttpResponse:
    """Edit a page of a draft's cases as a table."""
    template, draft = draft_or_404(request, public_id)
    page = _editable_page(draft, request.GET.get("after", ""))
    if request.method != "POST":
        return _cases_page(request, template, draft, page, PasteForm())
    try:
        edited, deleted = read_cells(request.POST, page)
        actions.save_cases(draft, edited, deleted=deleted)
    except InvalidInput as error:
        return _cases_page(request, template, draft, page, PasteForm(), problems=error.fields, status=422)
    messages.success(request, _("The cases are saved."))
    return redirect(request.get_full_path())


def _editable_page(draft: TemplateVersion, after: str) -> CasePage:
    page = read_cases(draft, after=after)
    maximum = rows_per_page(len(page.columns), PER_PAGE)
    return page if len(page.cases) <= maximum else read_cases(draft, after=after, per_page=maximum)


def _cases_page(
    request: PageRequest, template: Template, draft: TemplateVersion, page: CasePage, form: PasteForm,
    *, problems: dict[str, list[str]] | None = None, status: int = 200,
) -> HttpResponse:  # fmt: skip
    rows = [
        EditedRow.of(case, cells, expected, None if problems is None else request.POST)
        for case, cells, expected in page.rows
    ]
    for row in rows:
        row.problems = (problems or {}).get(str(row.case.pk), [])
    context = {"template": template, "version": draft, "page": page, "rows": rows, "form": form}
    return render(request, "benchmarks/cases.html", context, status=status)


@login_required
@require_POST
def paste(request: PageRequest, public_id: str) -> HttpResponse:
    """Store a pasted table, or nothing of it."""
    template, draft = draft_or_404(request, public_id)
    form = PasteForm(request.POST)
    if form.is_valid():
        try:
            pasted = read_table(form.cleaned_data["table"])
            stored = actions.add_cases(draft, pasted, replace=form.cleaned_data["replace"])
        except InvalidInput as error:
            form.add_error("table", (error.fields or {}).get("table", [error.detail]))
        else:
            sentence = ngettext("%(shown)s case is stored.", "%(shown)s cases are stored.", stored)
            messages.success(request, sentence % format_numbers(shown=stored))
            return redirect("benchmarks:cases", template.public_id)
    return _cases_page(request, template, draft, _editable_page(draft, ""), form, status=422)


@login_required
@require_POST
def draft(request: PageRequest, public_id: str) -> HttpResponse:
    """Make a new draft from the newest version."""
    template = access.get_template_or_404(request.actor, public_id, to_edit=True)
    actions.start_draft(template)
    return redirect(reverse("benchmarks:edit", args=[template.public_id]))


@require_safe
def changes(request: PageRequest, public_id: str) -> HttpResponse:
    """Show the changes between two versions; without a choice, those of the newest one."""
    template = access.get_template_or_404(request.actor, public_id)
    versions = list(access.visible_versions(request.actor, template))
    if len(versions) < 2 or not access.shows_contents(request.actor, template):
        raise Http404
    after = _chosen(versions, request.GET.get("after", ""), default=versions[0])
    place = versions.index(after)
    before = _chosen(versions, request.GET.get("before", ""), default=versions[min(place + 1, len(versions) - 1)])
    context = {
        "template": template, "versions": versions, "before": before, "after": after,
        "changes": read_changes(before, after),
    }  # fmt: skip
    name = "benchmarks/changes.html#changes" if request.htmx else "benchmarks/changes.html"
    return render(request, name, context)


def _chosen(versions: Sequence[TemplateVersion], number: str, *, default: TemplateVersion) -> TemplateVersion:
    if not number:
        return default
    version = next((version for version in versions if str(version.number) == number), None)
    if version is None:
        raise Http404
    return version


@require_safe
def export(request: PageRequest, public_id: str) -> StreamingHttpResponse:
    """Download a version as YAML; with `?for=promptfoo` as promptfoo's configuration."""
    template = access.get_template_or_404(request.actor, public_id)
    if not access.shows_contents(request.actor, template):
        raise Http404
    version = access.find_version(request.actor, template, request.GET.get("version", ""))
    if version is None:
        raise Http404
    return template_response(version, actor=request.actor, is_for_promptfoo=request.GET.get("for") == "promptfoo")
