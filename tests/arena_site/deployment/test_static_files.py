from pathlib import Path

from django.core.management import call_command

from arena_site.management.commands.prepare import static_fingerprint


def test_collected_package_files_are_those_that_pages_load(tmp_path: Path, settings):
    settings.STATIC_ROOT = tmp_path
    call_command("collectstatic", interactive=False, verbosity=0)
    collected = {file for file in tmp_path.rglob("*") if file.is_file()}
    packaged = {str(file.relative_to(tmp_path)) for file in collected if file.parts[-2] in ("plotly", "swagger-ui")}
    assert packaged == {
        "plotly/plotly.min.js",
        "swagger-ui/LICENSE",
        "swagger-ui/swagger-ui-bundle.js",
        "swagger-ui/swagger-ui.css",
        "swagger-ui/swagger-ui.css.map",  # the stylesheet names it
    }
    assert tmp_path / "admin/css/base.css" in collected
    own = Path(settings.BASE_DIR, "static")
    assert {tmp_path / file.relative_to(own) for file in own.rglob("*") if file.is_file()} <= collected
    assert not [file for file in collected if "datasets" in file.parts or "templates" in file.parts]


def test_fingerprint_changes_with_a_static_file(tmp_path: Path, settings):
    settings.STATICFILES_DIRS = [tmp_path]
    file = tmp_path / "own.css"
    file.write_text("a {}")
    before = static_fingerprint()
    file.write_text("a { color: red }")
    assert static_fingerprint() != before
