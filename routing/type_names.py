from django.utils.translation import gettext as _

from battles.labels.categories import category_names
from routing.deciding.query_types import DATA_ANALYSIS, GENERAL_CHAT, TOOL_USE


def type_names() -> dict[str, str]:
    """Return names by RoutingDecision.query_type; one query, for the operator's categories."""
    return {
        TOOL_USE: _("Tool use"),
        DATA_ANALYSIS: _("Data analysis"),
        **category_names(),
        GENERAL_CHAT: _("General chat"),
    }
