from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.actor import ActorRequest
from accounts.models import Team, User
from accounts.teams.places import find_member
from accounts.teams.roles import Right, has_right
from accounts.teams.views import team_context
from models_registry import picking
from models_registry.catalogue import changes, discovery
from models_registry.forms import PickForm
from models_registry.models import Catalogue, CatalogueChange, LanguageModel, Provider
from models_registry.providers.catalogue import CatalogueRefused
from models_registry.teams import actions, listing
from models_registry.teams.forms import NamedModelForm, TeamModelForm, TeamProviderForm

Status = LanguageModel.Status
read_or_send = require_http_methods(["GET", "HEAD", "POST"])


def _managed(request: ActorRequest, slug: str) -> tuple[Team, User]:
    member = find_member(request.actor, slug, Right.MANAGE)
    assert request.actor.user is not None  # a visitor is in no team
    return member.team, request.actor.user


def _render(
    request: ActorRequest, template: str, team: Team, context: dict[str, object], *, is_refused: bool = False
) -> HttpResponse:
    page = team_context(request.actor.memberships[team.pk])
    return render(request, template, {**page, **context}, status=422 if is_refused else 200)


def _provider_or_404(team: Team, provider_id: int) -> Provider:
    found = listing.own_providers(team).filter(pk=provider_id).first()
    if found is None:
        raise Http404
    return found


def _model_or_404(team: Team, model_id: int) -> LanguageModel:
    found = listing.own_models(team).filter(pk=model_id).first()
    if found is None:
        raise Http404
    return found


@require_safe
def index(request: ActorRequest, slug: str) -> HttpResponse:
    member = find_member(request.actor, slug, Right.SEE)
    team = member.team
    manages = has_right(member.role, Right.MANAGE)
    own = [row for row in listing.model_rows(team) if manages or row.model.status != Status.DRAFT]
    context = {
        "manages": manages, "rows": own,
        "providers": listing.provider_rows(team) if manages else [],
        "site_rows": listing.site_rows(team),
    }  # fmt: skip
    return _render(request, "teams/models.html", team, context)


@require_safe
def choices(request: ActorRequest, slug: str) -> HttpResponse:
    team = find_member(request.actor, slug, Right.USE).team
    key = request.GET.get("picker", "")
    if key not in picking.KINDS:
        raise Http404
    chosen = request.GET.getlist(picking.KINDS[key].name)
    picker = picking.read_picker(key, chosen=chosen, search=request.GET.get("find", ""), place=team)
    return render(request, "components/model_rows.html", {"picker": picker})


@require_POST
def site_models(request: ActorRequest, slug: str) -> HttpResponse:
    team, manager = _managed(request, slug)
    actions.use_site_models(by=manager, team=team, uses=request.POST.get("use") == "1")
    return redirect("team_models:list", slug)


@sensitive_post_parameters("key")
@read_or_send
def new_provider(request: ActorRequest, slug: str) -> HttpResponse:
    team, manager = _managed(request, slug)
    form = TeamProviderForm(request.POST or None, instance=Provider(team=team))
    if form.is_valid():
        added = form.save(commit=False)
        actions.save_provider(by=manager, provider=added, changed=form.changed_data)
        return redirect("team_models:provider", slug, added.pk)
    return _render(request, "teams/provider_new.html", team, {"form": form}, is_refused=form.is_bound)


@sensitive_post_parameters("key")
@read_or_send
def provider(request: ActorRequest, slug: str, provider_id: int) -> HttpResponse:
    team, manager = _managed(request, slug)
    row = _provider_or_404(team, provider_id)
    form = TeamProviderForm(request.POST or None, instance=row)
    if form.is_valid():
        actions.save_provider(by=manager, provider=form.save(commit=False), changed=form.changed_data)
        messages.success(request, _("Saved."))
        return redirect("team_models:provider", slug, row.pk)
    return _provider_page(request, team, provider_id, form=form)


def _provider_page(
    request: ActorRequest,
    team: Team,
    provider_id: int,
    *,
    form: TeamProviderForm | None = None,
    pick: PickForm | None = None,
    named: NamedModelForm | None = None,
) -> HttpResponse:
    row = _provider_or_404(team, provider_id)  # as stored: a refused form has changed its instance
    catalogue = Catalogue.objects.filter(provider=row).first() or Catalogue(provider=row)
    search = request.GET.get("q", "")
    context = {
        "provider": row, "key": listing.key_words(row), "problem": row.setup_problem,
        "form": form or TeamProviderForm(instance=row), "catalogue": catalogue, "search": search,
        "rows": discovery.offered_rows(row, catalogue, search), "pick": pick or PickForm(None, offers=catalogue.offers),
        "changes": CatalogueChange.objects.waiting().filter(model__provider=row).select_related("model"),
        "ticked": set(request.POST.getlist("names")), "named": named or NamedModelForm(),
    }  # fmt: skip
    is_refused = any(sent is not None and sent.is_bound for sent in (form, pick, named))
    return _render(request, "teams/provider.html", team, context, is_refused=is_refused)


@require_POST
def fetch_list(request: ActorRequest, slug: str, provider_id: int) -> HttpResponse:
    """Get the list of models, which tests the address and the key."""
    team, _manager = _managed(request, slug)
    row = _provider_or_404(team, provider_id)
    try:
        n = len(discovery.get_catalogue(row, refresh=True).listed)
    except CatalogueRefused as error:
        messages.error(request, str(error))
    else:
        sentence = ngettext("The provider serves %(n)d model.", "The provider serves %(n)d models.", n)
        messages.success(request, sentence % {"n": n})
    return redirect("team_models:provider", slug, row.pk)


@require_POST
def add_models(request: ActorRequest, slug: str, provider_id: int) -> HttpResponse:
    team, manager = _managed(request, slug)
    row = _provider_or_404(team, provider_id)
    if "upstream_name" in request.POST:
        named = NamedModelForm(request.POST)
        if not named.is_valid():
            return _provider_page(request, team, provider_id, named=named)
        name = named.cleaned_data["upstream_name"]
        return redirect("team_models:model", slug, actions.add_named(by=manager, provider=row, upstream_name=name).pk)
    catalogue = Catalogue.objects.filter(provider=row).first() or Catalogue(provider=row)
    pick = PickForm(request.POST, offers=catalogue.offers)
    if not pick.is_valid():
        return _provider_page(request, team, provider_id, pick=pick)
    status = Status(pick.cleaned_data["status"])
    added = discovery.add_offered(row, pick.cleaned_data["names"], status=status, by=manager)
    sentence = ngettext("%(n)d model was added.", "%(n)d models were added.", len(added))
    messages.success(request, sentence % {"n": len(added)})
    return redirect("team_models:list", slug)


@require_POST
def decide_change(request: ActorRequest, slug: str, provider_id: int, change_id: int) -> HttpResponse:
    """Accept or dismiss a difference between the provider's list and a model."""
    team, manager = _managed(request, slug)
    row = _provider_or_404(team, provider_id)
    waiting = CatalogueChange.objects.waiting().filter(model__provider=row).select_related("model")
    change = waiting.filter(pk=change_id).first()
    if change is not None:  # another manager may have decided it
        decide = changes.accept if request.POST.get("decision") == "accept" else changes.dismiss
        decide(change, by=manager)
        messages.success(request, _("Saved."))
    return redirect("team_models:provider", slug, row.pk)


@require_POST
def remove_provider(request: ActorRequest, slug: str, provider_id: int) -> HttpResponse:
    team, manager = _managed(request, slug)
    removal = actions.remove_provider(by=manager, provider=_provider_or_404(team, provider_id))
    if removal.is_deleted:
        messages.success(request, _("The provider was removed."))
    else:
        sentence = ngettext(
            "Its key was deleted, and %(n)d model was retired.", "Its key was deleted, and %(n)d models were retired.",
            removal.retired,
        )  # fmt: skip
        messages.success(request, sentence % {"n": removal.retired})
    return redirect("team_models:list", slug)


@read_or_send
def model(request: ActorRequest, slug: str, model_id: int) -> HttpResponse:
    team, manager = _managed(request, slug)
    form = TeamModelForm(request.POST or None, instance=_model_or_404(team, model_id))
    if form.is_valid():
        changed = actions.change_model(
            by=manager, model=_model_or_404(team, model_id), changes=form.changes, price=form.price, energy=form.energy
        )
        messages.success(request, _("Saved."))
        return redirect("team_models:model", slug, changed.pk)
    row = _model_or_404(team, model_id)
    context = {"model": row, "form": form, "gap": picking.setup_gap(row)}
    return _render(request, "teams/model.html", team, context, is_refused=form.is_bound)


@require_POST
def set_status(request: ActorRequest, slug: str, model_id: int) -> HttpResponse:
    team, manager = _managed(request, slug)
    status = request.POST.get("status", "")
    if status not in (Status.ACTIVE, Status.PAUSED, Status.RETIRED):
        raise Http404
    row = _model_or_404(team, model_id)
    actions.set_status(by=manager, model=row, status=Status(status))
    sentence = _("%(model)s is %(status)s now.")
    messages.success(request, sentence % {"model": row, "status": Status(status).label})
    return redirect("team_models:list", slug)
