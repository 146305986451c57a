from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q

from models_registry.catalogue import discovery
from models_registry.models import LanguageModel, Provider
from models_registry.providers.catalogue import CatalogueRefused, Offer


class Command(BaseCommand):
    help = "List the models that a provider's endpoint serves, and add those that are named with --add."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("provider", help="its name, base URL or number")
        parser.add_argument("--add", nargs="+", metavar="NAME", default=[], help="register these, as drafts")
        parser.add_argument(
            "--active", action="store_true", help="register them as active: available in battles immediately"
        )
        parser.add_argument("--refresh", action="store_true", help="ask again, even if the list is less than a day old")

    def handle(
        self, *args: object, provider: str, add: list[str], active: bool, refresh: bool, **options: object
    ) -> None:
        chosen = _find_provider(provider)
        try:
            offers = {offer.upstream_name: offer for offer in discovery.get_catalogue(chosen, refresh=refresh).offers}
        except CatalogueRefused as error:
            raise CommandError(str(error)) from error
        if unknown := [name for name in add if name not in offers]:
            raise CommandError(f"{chosen} does not serve {', '.join(unknown)}. Nothing was added.")
        if add:
            status = LanguageModel.Status.ACTIVE if active else LanguageModel.Status.DRAFT
            for model in discovery.add_offered(chosen, add, status=status, by=None):
                self.stdout.write(f"added {model.slug} ({model.get_status_display()})")
            return
        known = discovery.registered_models(chosen)
        for name, offer in offers.items():
            self.stdout.write(_line(offer, known.get(name)))
        self.stdout.write(f"{chosen} serves {len(offers)} models. Add some with --add NAME …")


def _find_provider(text: str) -> Provider:
    condition = Q(name__iexact=text) | Q(base_url=text.rstrip("/"))
    if text.isascii() and text.isdigit():
        condition |= Q(pk=int(text))
    match list(Provider.objects.filter(condition)[:2]):
        case [provider]:
            return provider
        case []:
            known = ", ".join(Provider.objects.order_by("name").values_list("name", flat=True))
            raise CommandError(f"There is no provider “{text}”. Known: {known or 'none'}.")
    raise CommandError(f"Several providers are called “{text}”: name one by its base URL.")


def _line(offer: Offer, model: LanguageModel | None) -> str:
    parts = [
        f"{offer.context_length} tokens" if offer.context_length else "",
        f"{offer.size_b.normalize():f} B parameters" if offer.size_b else "",
        f"${offer.price_input:f} in, ${offer.price_output:f} out" if offer.has_price else "",
        *offer.abilities,
        f"registered as {model.slug}" if model else "",
    ]
    return "  ".join([offer.upstream_name, *filter(None, parts)])
