"""Networks that staff come from, which moderators may not block."""

from django.utils import timezone

from accounts.models import StaffNetwork, User
from common.client_ip import ClientNetworks, kept_months, keyed_hash, network_of


def record(user: User, client: ClientNetworks) -> None:
    """Keep the network of staff, once a day; for others do nothing.

    Under the hash of every month that rows of visitors may still have: bans name those.
    """
    today = timezone.now().date()
    if not user.is_staff or StaffNetwork.objects.filter(user=user, network=client["network"], last_day=today).exists():
        return
    networks = {network_of(client["address"]), network_of(client["address"], prefix=48)}
    rows = [
        StaffNetwork(user=user, network=keyed_hash(network, month), last_day=today)
        for month in kept_months()
        for network in networks
    ]
    StaffNetwork.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["user", "network"], update_fields=["last_day"]
    )
