from django.utils.translation import gettext as _

from battles.labels.categories import category_names


def type_names() -> dict[str, str]:
    """Return names by RoutingDecision.query_type; one query, for the operator's categories."""
    return {
        "tool-use": _("Tool use"),
        "data-analysis": _("Data analysis"),
        **category_names(),
        "general-chat": _("General chat"),
    }
