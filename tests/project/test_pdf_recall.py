import pytest

from tests.uploads import pdfs
from tools import pdf_recall

pytestmark = pytest.mark.processes


def test_words_are_compared_with_those_of_pdftotext(tmp_path, monkeypatch, capsys):
    programs, files = tmp_path / "programs", tmp_path / "files"
    programs.mkdir()
    files.mkdir()
    (programs / "pdftotext").write_text("#!/bin/sh\necho one two three four $(seq 16)\n")
    (programs / "pdftotext").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    (files / "half.pdf").write_bytes(pdfs.with_text(" ".join(["one two", *map(str, range(1, 9))]), ""))
    (files / "locked.pdf").write_bytes(pdfs.encrypted())
    pdf_recall.main([str(files)])
    output = capsys.readouterr().out
    assert "locked.pdf: refused: encrypted" in output
    assert "worst ten of 2 files with 20 words:" in output
    assert "median 0.2500, at least 0.97: 0" in output
