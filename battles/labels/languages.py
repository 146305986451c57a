from django.utils.translation import get_language_info
from django.utils.translation import gettext as _

from battles.text.labels import UNDETERMINED


def language_name(code: str) -> str:
    """Return the name in the reader's language; the code itself if it has none."""
    if code == UNDETERMINED:
        return _("Undetermined language")
    try:
        return str(get_language_info(code)["name_translated"]).capitalize()
    except KeyError:
        return code
