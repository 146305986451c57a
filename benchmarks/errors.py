from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from benchmarks.imports.limits import MAX_FILE_BYTES
from common.errors import ArenaError, InvalidInput, TooLarge


class WrongState(ArenaError):
    code = "wrong_state"
    message = _("The run is in a state in which this is not possible.")
    http_status = 409


class RunInUse(WrongState):
    """Raised for a run whose answers are still needed."""

    code = "run_in_use"
    message = _("People are comparing answers of this run. Close the review first, or withdraw it.")


class AnswersHidden(ArenaError):
    code = "answers_hidden"
    message = _("The answers are hidden until a review of this run closes: people compare them without names.")
    http_status = 403


class VersionFrozen(WrongState):
    message = _("This version is frozen. Make a new draft.")


class RunsOpen(ArenaError):
    """Raised for a team that is to be archived."""

    code = "runs_open"
    message = _("Runs of the team are open. Cancel them first, or wait until they end.")
    http_status = 409


class TooManyRuns(ArenaError):
    code = "too_many_runs"
    message = _("You have as many runs under way as the arena allows. Wait for one to end, or cancel one.")
    http_status = 429


class ImportTooLarge(TooLarge):
    message = format_lazy(_("The file is larger than {megabytes} MB."), megabytes=MAX_FILE_BYTES // 1_000_000)


class ExportTooLarge(ArenaError):
    code = "export_too_large"
    message = _("A workbook cannot have so many rows. Use Parquet.")
    http_status = 422


class TemplateInUse(ArenaError):
    code = "template_in_use"
    message = _("The template has runs. Archive it instead.")
    http_status = 409


class CasesRefused(InvalidInput):
    """Raised for cases of which none is stored."""

    code = "cases_refused"
    http_status = 422


class ChecksRefused(InvalidInput):
    """Raised for checks of which none is stored."""

    code = "checks_refused"
    http_status = 422


class RunNotPossible(InvalidInput):
    """Raised when a run cannot be made from valid input: no key, no budget, a bad template."""

    code = "run_not_possible"
    http_status = 422


class TemplateElsewhere(RunNotPossible):
    """Raised for a run in another place than its template's."""

    message = _("The template belongs to another place. Copy it there first.")


class ModelsOfTeam(ArenaError):
    code = "models_of_team"
    message = _("A run with models of the team stays in the team: the models must not become known outside.")
    http_status = 409
