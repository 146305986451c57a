import json
from typing import cast

from allauth.socialaccount.models import SocialAccount
from django.core.serializers.json import DjangoJSONEncoder
from django.dispatch import Signal
from django.http import HttpResponse
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import User
from accounts.payloads import token_payload
from accounts.sign_in.sessions import active_sign_ins
from accounts.token_usage import token_usage_of
from common.errors import NotSignedIn
from common.payload_types import JsonObject
from common.valkey import limits

# Sent with `user`; a receiver returns {name: plain data} from its app.
personal_data_requested = Signal()

# Sent with `user` inside the transaction that deletes the account, while rows still refer to the user: receivers delete
# texts and make votes anonymous.
account_deleting = Signal()


def collect_personal_data(user: User) -> JsonObject:
    usage = token_usage_of(user)
    data: JsonObject = {
        "exported_at": timezone.now(),
        "account": {
            "email": user.email,
            "first_name": user.first_name,
            "last_name": user.last_name,
            "joined_at": user.date_joined,
            "last_signed_in_at": user.last_login,
        },
        "tokens": [token_payload(token, usage) for token in user.api_tokens.select_related("team").order_by("pk")],
        "browsers": [
            {
                "browser": row.browser,
                "system": row.system,
                "signed_in_at": row.signed_in_at,
                "last_seen_at": row.last_seen_at,
            }
            for row in active_sign_ins(user)
        ],
        "connections": list(
            SocialAccount.objects.filter(user=user)
            .order_by("pk")
            .values("provider", "uid", "extra_data", "date_joined", "last_login")
        ),
        "bans": list(user.bans.order_by("pk").values("reason", "created_at", "expires_at", "lifted_at")),
    }
    if user.has_teams:
        members = user.team_members.select_related("team").order_by("joined_at", "pk")
        data["teams"] = [
            {"slug": row.team.slug, "name": row.team.name, "role": row.role, "joined_at": row.joined_at}
            for row in members
        ]
    for _receiver, part in personal_data_requested.send(sender=User, user=user):
        data.update(cast(JsonObject, part))
    return data


def personal_data_response(actor: Actor) -> HttpResponse:
    """Return the member's data as a JSON download. Raises NotSignedIn and TooManyRequests."""
    if actor.user is None:
        raise NotSignedIn
    limits.count("export", {"member": limits.Key(actor.key)}, fail_open=True)
    text = json.dumps(collect_personal_data(actor.user), cls=DjangoJSONEncoder, ensure_ascii=False, indent=2) + "\n"
    return HttpResponse(
        text,
        content_type="application/json",
        headers={"Content-Disposition": 'attachment; filename="my-arena-data.json"'},
    )
