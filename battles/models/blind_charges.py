from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Team
from battles.models.turns import Answer


class BlindCharge(models.Model):
    """Money of a person and a team for one blind answer, the same whichever model gives it: docs/adr/0063.

    A trigger settles it when its turn ends.
    """

    answer = models.ForeignKey(Answer, models.PROTECT, related_name="blind_charges")
    day = models.DateField()
    # models_registry.models.ledger.person_account of the payer, or member_account if only the team's models could be
    # drawn; empty once it is settled.
    account = models.CharField(max_length=60, blank=True)
    # The place of the battle, and the first day of its month that pays; NULL: personal.
    team = models.ForeignKey(Team, models.PROTECT, null=True, related_name="+", db_index=False)
    month = models.DateField(null=True)
    most = models.DecimalField(_("reserved"), max_digits=14, decimal_places=8)
    cost = models.DecimalField(_("cost"), max_digits=14, decimal_places=8, null=True)
    # Characters of the conversation as its person sees it.
    prompt_characters = models.PositiveIntegerField()
    # US dollars per million characters: means of the models that could be drawn when the battle began.
    input_price = models.DecimalField(max_digits=20, decimal_places=10)
    output_price = models.DecimalField(max_digits=20, decimal_places=10)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(team=None, month=None) | Q(team__isnull=False, month__isnull=False),
                name="a_blind_charge_of_a_team_has_its_month",
            ),
            models.UniqueConstraint(
                fields=["answer"], condition=Q(cost=None), name="an_answer_has_one_blind_charge_at_a_time"
            ),
        ]

    def __str__(self) -> str:
        return f"blind charge {self.pk}"
