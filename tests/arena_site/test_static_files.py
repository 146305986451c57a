"""Files that browsers load: our own and, of the chart library's package, its script alone."""

import subprocess
import sys

from django.contrib.staticfiles import finders

from arena_site.static_files import ChartLibraryFinder


def test_of_the_chart_librarys_package_only_its_script_is_served():
    assert [path for path, _ in ChartLibraryFinder().list([])] == ["plotly.min.js"]
    assert finders.find("plotly/plotly.min.js").endswith("package_data/plotly.min.js")
    assert finders.find("plotly/widgetbundle.js") is None
    assert len(finders.find("plotly/plotly.min.js", find_all=True)) == 1


def test_a_process_that_serves_charts_does_not_import_the_chart_library():
    program = (
        "import arena_site.asgi, sys; from arena_site.static_files import ChartLibraryFinder; ChartLibraryFinder(); "
        "assert 'plotly' not in sys.modules"
    )
    environment = {"DJANGO_SETTINGS_MODULE": "arena_site.settings.test", "PATH": ""}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
