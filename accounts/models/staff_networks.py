from django.db import models
from django.utils import timezone

from accounts.models.users import User
from common.client_ip import ClientNetworks, kept_months, keyed_hash, network_of


class StaffNetworkQuerySet(models.QuerySet["StaffNetwork"]):
    def record(self, user: User, client: ClientNetworks) -> None:
        """Keep the network of staff, once a day; for others do nothing.

        Under the hash of every month that rows of visitors may still have: bans name those.
        """
        today = timezone.now().date()
        if not user.is_staff or self.filter(user=user, network=client["network"], last_day=today).exists():
            return
        networks = {network_of(client["address"]), network_of(client["address"], prefix=48)}
        rows = [
            StaffNetwork(user=user, network=keyed_hash(network, month), last_day=today)
            for month in kept_months()
            for network in networks
        ]
        self.bulk_create(rows, update_conflicts=True, unique_fields=["user", "network"], update_fields=["last_day"])


class StaffNetwork(models.Model):
    """Network that staff signed in or acted from, as a keyed hash of one month; deleted after MAX_NETWORK_DAYS."""

    user = models.ForeignKey(User, models.CASCADE, related_name="staff_networks")
    network = models.CharField(max_length=32)
    last_day = models.DateField()

    objects = StaffNetworkQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "network"], name="a_network_of_staff_is_kept_once_for_each_person")
        ]
        indexes = [models.Index(fields=["network"], name="staff_of_a_network")]  # for staff_rights.refuse_ban

    def __str__(self) -> str:
        return f"network of user {self.user_id}"
