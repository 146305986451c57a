from common.errors import NotFound
from common.text.numbers import parse_whole_number
from site_content.models import PageVersion


def get_page(page: str, number: str = "") -> tuple[PageVersion, int]:
    """Return a version of a page, "" for the newest, and the newest's number. Raises NotFound.

    Earlier versions of a withdrawn page stay readable by number.
    """
    versions = PageVersion.objects.filter(page=page)
    newest = versions.order_by("-number").first()
    if newest is None or (number and parse_whole_number(number, max_digits=9) is None):
        raise NotFound
    version = versions.filter(number=int(number)).first() if number else newest
    if version is None or not version.languages:
        raise NotFound
    return version, newest.number
