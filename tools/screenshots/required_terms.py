"""`python -m tools.screenshots.required_terms`: require that the terms of a running arena are accepted."""

import os
import time

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.local")
django.setup()

from site_content.actions import publish_page  # noqa: E402
from site_content.current import site  # noqa: E402
from site_content.models import PageVersion  # noqa: E402
from tools.screenshots.people import PAGES  # noqa: E402


def main() -> None:
    publish_page(page=PageVersion.Page.TERMS, texts=PAGES["terms"], must_be_accepted=True, by=None)
    time.sleep(site.ttl_s)  # the arena's processes keep the former version for so long
    print("{}")


if __name__ == "__main__":
    main()
