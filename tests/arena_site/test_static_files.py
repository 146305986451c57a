"""Files that browsers load: our own and, of two packages, a few that are named."""

import subprocess
import sys

from django.contrib.staticfiles import finders

from arena_site.static_files import PackagedFilesFinder


def test_of_other_packages_only_what_is_named_is_served():
    served = [f"{storage.prefix}/{path}" for path, storage in PackagedFilesFinder().list([])]
    assert served == [
        "plotly/plotly.min.js",
        "swagger-ui/swagger-ui-bundle.js",
        "swagger-ui/swagger-ui.css",
        "swagger-ui/swagger-ui.css.map",
    ]
    assert finders.find("plotly/plotly.min.js").endswith("package_data/plotly.min.js")
    assert finders.find("plotly/widgetbundle.js") is None
    assert finders.find("swagger-ui/oauth2-redirect.html") is None
    assert len(finders.find("plotly/plotly.min.js", find_all=True)) == 1


def test_a_process_that_serves_pages_imports_neither_the_chart_library_nor_the_schemas_reader():
    """They cost a web process megabytes, and most of them never serve either."""
    program = (
        "import arena_site.asgi, sys; from django.urls import get_resolver; get_resolver().url_patterns; "
        "loaded = {'plotly', 'drf_spectacular.openapi', 'drf_spectacular_sidecar'} & set(sys.modules); "
        "assert not loaded, loaded"
    )
    environment = {"DJANGO_SETTINGS_MODULE": "arena_site.settings.test", "PATH": ""}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
