from django.contrib import admin
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from common.admin.read_only import ReadOnlyAdmin
from routing.admin.curves import Curve, curve_of_costs, curve_of_gap
from routing.admin.tables import number, percent, table
from routing.models import RouterEvaluation


@admin.register(RouterEvaluation)
class RouterEvaluationAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "source_name", "votes", "snapshot"]
    list_select_related = ["snapshot"]
    search_fields = ["public_id", "source"]
    fields = [
        "public_id", "created_at", "source_name", "snapshot", "votes", "policy_table", "figures", "curve",
        "calibration_table",
    ]  # fmt: skip
    readonly_fields = ["source_name", "policy_table", "figures", "curve", "calibration_table"]

    @admin.display(description=_("source"))
    def source_name(self, evaluation: RouterEvaluation) -> str:
        return evaluation.source or str(_("the arena's votes"))

    @admin.display(description=_("policies"))
    def policy_table(self, evaluation: RouterEvaluation) -> SafeString | str:
        rows = [
            [
                line["policy"],
                number(line["win_share"]),
                f"{number(line['low'])}–{number(line['high'])}",
                line["votes"],
                number(line["cost"], 6),
                number(line["first_token_ms"], 0),
            ]
            for line in evaluation.result.get("lines", [])
        ]
        names = (
            _("policy"), _("share of wins"), _("interval, 95 %"), _("votes"), _("dollars a prompt"),
            _("first token, ms"),
        )  # fmt: skip
        return table(_("Policies, replayed on later votes"), names, rows) if rows else "–"

    @admin.display(description=_("figures"))
    def figures(self, evaluation: RouterEvaluation) -> SafeString | str:
        result = evaluation.result
        rows: list[list[object]]
        if "cpt50" in result:
            rows = [
                ["APGR", number(result["area"])],
                ["CPT50", number(result["cpt50"])],
                ["CPT80", number(result["cpt80"])],
            ]
        else:
            rows = [
                ["AIQ", number(result.get("area"))],
                [_("same choice after changes of case, spacing and quotes"), percent(result.get("same_target"))],
                [_("Brier score"), number(result.get("calibration", {}).get("brier"), 4)],
                [_("calibration error"), number(result.get("calibration", {}).get("error"), 4)],
            ]
        return table(_("Figures of the evaluation"), (_("figure"), _("value")), rows)

    @admin.display(description=_("curve"))
    def curve(self, evaluation: RouterEvaluation) -> SafeString | str:
        """Draw quality over cost, or the recovered gap over the share of strong calls."""
        result = evaluation.result
        curve: Curve | None = curve_of_gap(result["curve"]) if "cpt50" in result else curve_of_costs(result)
        return render_to_string("admin/routing/curve.html", {"curve": curve}) if curve else "–"

    @admin.display(description=_("calibration"))
    def calibration_table(self, evaluation: RouterEvaluation) -> SafeString | str:
        rows = [
            [
                f"{each['low']:.1f}–{each['high']:.1f}",
                number(each["predicted"]),
                number(each["observed"]),
                each["votes"],
            ]
            for each in evaluation.result.get("calibration", {}).get("bins", [])
        ]
        names = (_("chance"), _("predicted"), _("won"), _("votes"))
        return table(_("Predicted and real wins"), names, rows) if rows else "–"
