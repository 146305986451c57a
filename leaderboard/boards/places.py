from typing import NamedTuple
from urllib.parse import urlencode

from django.utils.html import format_html

from accounts.actor import ActorRequest
from accounts.models import Team
from accounts.teams.places import PARAMETER, find_member
from accounts.teams.roles import Right, has_right
from common.errors import NotFound
from leaderboard.errors import NoSuchBoard


class BoardPlace(NamedTuple):
    """only, more: query of a link, and its continuation; "" on the site."""

    team: Team | None = None
    # Whether the reader may switch boards on and decide about held votes.
    is_owned: bool = False

    @property
    def team_id(self) -> int | None:
        return None if self.team is None else self.team.pk

    @property
    def only(self) -> str:
        return f"?{self._parameter}" if self.team else ""

    @property
    def more(self) -> str:
        return f"&{self._parameter}" if self.team else ""

    @property
    def field(self) -> str:
        return format_html('<input type="hidden" name="{}" value="{}">', PARAMETER, self.team.slug) if self.team else ""

    @property
    def heading(self) -> str:
        if self.team is None:
            return ""
        link = ' <span class="hint">· <a href="{}"><bdi>{}</bdi></a></span>'
        return format_html(link, self.team.get_absolute_url(), self.team.name)

    @property
    def _parameter(self) -> str:
        return urlencode({PARAMETER: self.team.slug}) if self.team else ""


def read_place(request: ActorRequest, missing: type[NotFound] = NoSuchBoard) -> BoardPlace:
    """Raises `missing` outside of the team, NotAllowed for guests."""
    slug = request.GET.get(PARAMETER, "")
    if not slug:
        return BoardPlace()
    try:
        member = find_member(request.actor, slug, Right.SEE)
        return BoardPlace(member.team, has_right(member.role, Right.OWN))
    except NotFound as error:
        raise missing from error
