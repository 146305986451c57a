"""`manage.py run_benchmark TEMPLATE --models a b --owner e-mail`: start a run of a template's newest version."""

from decimal import Decimal

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.actor import Actor
from accounts.models import User
from accounts.teams.places import require_place_id
from benchmarks.actions import EntrantRequest, create_run
from benchmarks.models import TemplateVersion
from common.errors import ArenaError
from models_registry.models import LanguageModel


class Command(BaseCommand):
    help = "Start a benchmark run of a template's newest version and print its id."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("template", help="the template's public id or slug")
        parser.add_argument("--owner", required=True, help="e-mail address")
        parser.add_argument("--models", nargs="+", required=True, help="ids of models")
        parser.add_argument("--repeats", type=int, default=1)
        parser.add_argument("--concurrency", type=int, default=16)
        parser.add_argument("--budget", type=Decimal, help="US dollars")

    def handle(self, *args: object, **options: object) -> None:
        owner = User.objects.filter(email=str(options["owner"]).lower()).first()
        versions = TemplateVersion.objects.order_by("-number")
        version = (
            versions.filter(template__public_id=options["template"]).first()
            or versions.filter(
                template__slug=options["template"], template__owner_user=owner, template__team=None
            ).first()
        )
        if owner is None or version is None:
            raise CommandError("There is no such member or template.")
        slugs = [str(slug) for slug in options["models"]]  # type: ignore[attr-defined]
        team = version.template.team
        in_place = LanguageModel.objects.in_place(None if team is None else team.pk)
        models = {slug: model for model in in_place for slug in model.slugs if slug in slugs}
        if missing := [slug for slug in slugs if slug not in models]:
            raise CommandError(f"There is no model {', '.join(missing)}.")
        try:
            require_place_id(Actor(user=owner), None if team is None else team.pk)
            run = create_run(
                owner=owner, version=version, team=team, entrants=[EntrantRequest(models[slug]) for slug in slugs],
                repeats=int(str(options["repeats"])), concurrency=int(str(options["concurrency"])),
                budget=options["budget"],  # type: ignore[arg-type]
            )  # fmt: skip
        except ArenaError as error:
            raise CommandError(error.detail) from error
        self.stdout.write(run.public_id)
