from django.db.models import F
from django.dispatch import receiver

from accounts.actor import Actor
from accounts.models import User
from accounts.personal_data import personal_data_requested
from site_content.terms import acceptances_of


@receiver(personal_data_requested)
def export_acceptances(user: User, **_: object) -> dict[str, list[dict[str, object]]]:
    rows = acceptances_of(Actor(user=user)).order_by("pk").values("accepted_at", number=F("version__number"))
    return {"terms": [{"version": row["number"], "accepted_at": row["accepted_at"]} for row in rows]}
