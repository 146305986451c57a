from django.utils.translation import gettext_lazy as _

from common.errors import ArenaError


class TooManyRules(ArenaError):
    code = "too_many_rules"
    message = _("The team has the maximum number of rules. Remove one first.")
    http_status = 409


class RuleNamesNoModel(ArenaError):
    code = "rule_names_no_model"
    message = _("Choose the rule's model first.")
    http_status = 409
