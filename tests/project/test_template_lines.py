"""The check of `make lint` that templates stay within 120 columns."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def checked(root: Path) -> "subprocess.CompletedProcess[str]":
    script = root / "tools" / "template_lines.py"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text((ROOT / "tools" / "template_lines.py").read_text())
    return subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)


def test_line_of_121_characters_is_reported(tmp_path: Path):
    for folder in ("templates/pages", "battles/templates"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "page.html").write_text(f"{'é' * 120}\n{'é' * 121}\n")
    result = checked(tmp_path)
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        "templates/pages/page.html:2: 121 characters", "battles/templates/page.html:2: 121 characters",
    ]  # fmt: skip


def test_short_lines_are_accepted(tmp_path: Path):
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "page.html").write_text("é" * 120)
    result = checked(tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
