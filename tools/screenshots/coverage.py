from collections import defaultdict
from fnmatch import fnmatchcase

from django.urls import Resolver404, resolve

from tests.site_urls import addresses, plain
from tools.screenshots.pictures import LEFT_OUT, PICTURES, Picture


def complaints() -> list[str]:
    """Return a sentence for each URL without picture or reason, unused reason and duplicate name."""
    shown = {shows(picture) for picture in PICTURES}
    rest = [address for address in dict.fromkeys(addresses()) if address not in shown]
    reasons = [pattern for patterns in LEFT_OUT.values() for pattern in patterns]
    used = {pattern for pattern in reasons for address in rest if fnmatchcase(address, pattern)}
    forgotten = [address for address in rest if not any(fnmatchcase(address, pattern) for pattern in reasons)]
    names = [picture.name for picture in PICTURES]
    return [
        *(f"{address} has neither a picture nor a reason to have none." for address in forgotten),
        *(f"{pattern} is left out, and there is no such address without a picture." for pattern in {*reasons} - used),
        *(f"Two pictures are called {name}." for name in {*names} if names.count(name) > 1),
    ]


def shows(picture: Picture) -> str:
    """Return the URL pattern of the picture; "" when no view matches."""
    if picture.shows:
        return picture.shows
    path = picture.address.partition("?")[0].format_map(defaultdict(lambda: "1"))
    try:
        return plain("/" + resolve(path).route)
    except Resolver404:
        return ""
