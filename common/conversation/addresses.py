"""Addresses of pictures and files, which a provider would fetch."""

import re
import socket
import unicodedata
from urllib.parse import urlsplit

from common.conversation.errors import BadField
from common.network_zones import Zone, zone_of, zone_of_url

MAX_CHARACTERS = 8_000
_UNPRINTABLE = re.compile(r"[\s\\\x00-\x20\x7f]")
# Other dots in names of hosts.
_DOTS = re.compile("[\u3002\uff0e\uff61]")
_INTERNAL = re.compile(r"(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa)$")


def check_address(url: str, param: str) -> None:
    """Refuse schemes but http(s), hosts of private networks, and addresses that programs read differently."""
    if len(url) > MAX_CHARACTERS or _UNPRINTABLE.search(url) or not url.lower().startswith(("http://", "https://")):
        sentence = "Send pictures and files as data URLs, or at an address with https://."
        raise BadField(sentence, param, "invalid_address")
    if not _is_public(url):
        sentence = "This address is in a private network, or not the usual spelling of one in the internet."
        raise BadField(sentence, param, "private_address")


def _is_public(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host = _DOTS.sub(".", unicodedata.normalize("NFKC", parts.hostname or "")).rstrip(".").lower()
        parts.port  # noqa: B018 (reading it checks it)
    except ValueError:
        return False
    if "@" in parts.netloc or "%" in parts.netloc or _INTERNAL.search(host):
        return False
    if ":" in host:
        return zone_of_url(url) is Zone.PUBLIC
    try:
        return zone_of(socket.inet_ntoa(socket.inet_aton(host))) is Zone.PUBLIC  # also 127.1 and 0x7f000001
    except (OSError, UnicodeError):
        return "." in host
