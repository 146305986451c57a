from django.utils.translation import gettext_lazy as _

from common.errors import ArenaError


class NothingToReport(ArenaError):
    code = "nothing_to_report"
    message = _("There are no results yet: a report needs an ended run, a closed review, or a board with a snapshot.")
    http_status = 409


class ModelsOfTeam(ArenaError):
    code = "models_of_team"
    message = _("A report on models of the team stays in the team: the models must not become known outside.")
    http_status = 409
