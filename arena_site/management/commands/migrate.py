from django.core.management.commands import migrate

from common.db.migration_state import new_models_rendered_alone


class Command(migrate.Command):
    def handle(self, *args: object, **options: object) -> None:
        with new_models_rendered_alone():
            super().handle(*args, **options)
