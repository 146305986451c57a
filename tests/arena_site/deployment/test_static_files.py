import re
from pathlib import Path

from django.core.management import call_command
from fontTools.ttLib import TTFont

from arena_site.management.commands.prepare import static_fingerprint
from arena_site.static_files import MATH_FONTS


def has_sizes_of_brackets(file: Path) -> bool:
    """Return whether the font of formulas has signs of all kinds, and taller and wider ones of those that grow."""
    font = TTFont(file)
    names, variants = font.getBestCmap(), font["MATH"].table.MathVariants
    is_complete = set(map(ord, "x=+−≤∈∀→⇒αΩ𝑥𝛼ℝℤℒ∑∫∏√()[]{}|⌊⟨‖⏞^~¯˙′")) <= set(names)
    tall = {names[ord(sign)] for sign in "([{|⌊⟨√∫∑"}
    return (
        is_complete
        and tall <= set(variants.VertGlyphCoverage.glyphs)
        and {names[ord(sign)] for sign in "⏞→"} <= set(variants.HorizGlyphCoverage.glyphs)
        and len(variants.VertGlyphConstruction[0].MathGlyphVariantRecord) >= 5
        and "SIL Open Font License" in font["name"].getDebugName(13)
    )


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
    assert has_sizes_of_brackets(tmp_path / "fonts/math.woff2")
    assert set(TTFont(tmp_path / "fonts/math-letters.woff2").getBestCmap()) >= set(map(ord, "𝐱𝒜𝔤𝕜𝛂𝟙"))
    own = Path(settings.BASE_DIR, "static")
    assert {tmp_path / file.relative_to(own) for file in own.rglob("*") if file.is_file()} <= collected
    assert not [file for file in collected if "datasets" in file.parts or "templates" in file.parts]


def test_styles_load_letters_of_second_font_for_them_only(settings):
    css = Path(settings.BASE_DIR, "static/css/prose.css").read_text()
    (letters,) = re.findall(r"unicode-range: U\+([^;]+);", css)
    assert letters.replace(", U+", " ") == MATH_FONTS["fonts/math-letters.woff2"]


def test_fingerprint_changes_with_a_static_file(tmp_path: Path, settings):
    settings.STATICFILES_DIRS = [tmp_path]
    file = tmp_path / "own.css"
    file.write_text("a {}")
    before = static_fingerprint()
    file.write_text("a { color: red }")
    assert static_fingerprint() != before
