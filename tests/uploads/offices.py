"""Honest and hostile DOCX, XLSX and PPTX, written part by part because a library would refuse to write half of them."""

import io
import zipfile
from collections.abc import Mapping
from xml.sax.saxutils import escape

from xlsxwriter.utility import xl_col_to_name

MAIN = "http://schemas.openxmlformats.org"
WORD = f'xmlns:w="{MAIN}/wordprocessingml/2006/main" xmlns:mc="{MAIN}/markup-compatibility/2006"'
DRAWING = f'xmlns:a="{MAIN}/drawingml/2006/main" xmlns:p="{MAIN}/presentationml/2006/main"'
SHEET = f'xmlns="{MAIN}/spreadsheetml/2006/main" xmlns:r="{MAIN}/officeDocument/2006/relationships"'
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
Parts = dict[str, str]
Relation = tuple[str, str]


def package(parts: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def relations(*internal: Relation, external: Mapping[str, str] | None = None) -> str:
    """Return a part of relationships rId1, rId2, … (kind, target), and of external ones (kind: target)."""
    rows = [
        f'<Relationship Id="rId{number}" Type="{MAIN}/officeDocument/2006/relationships/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(internal, start=1)
    ]
    rows += [
        f'<Relationship Id="out{kind}" Type="{MAIN}/officeDocument/2006/relationships/{kind}" Target="{target}" '
        'TargetMode="External"/>'
        for kind, target in (external or {}).items()
    ]
    return f'<Relationships xmlns="{MAIN}/package/2006/relationships">{"".join(rows)}</Relationships>'


def _parts(main: str, **more: str) -> Parts:
    types = (
        f'<Types xmlns="{MAIN}/package/2006/content-types"><Default Extension="xml" ContentType="text/xml"/></Types>'
    )
    return {"[Content_Types].xml": types, "_rels/.rels": relations(("officeDocument", main)), **more}


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{escape(text)}</w:t></w:r></w:p>"


def docx_parts(body: str) -> Parts:
    return _parts("word/document.xml") | {
        "word/document.xml": f"<w:document {WORD}><w:body>{body}</w:body></w:document>",
    }


def docx(*paragraphs: str) -> bytes:
    return package(docx_parts("".join(map(paragraph, paragraphs))))


def report() -> bytes:
    """Return a document with a table, a tab, deleted words, a text box, a footnote and a hyperlink."""
    box = "<w:txbxContent>" + paragraph("In a box") + "</w:txbxContent>"
    body = (
        '<w:p><w:pPr><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr><w:r><w:t>One</w:t><w:tab/><w:t>two</w:t></w:r>'
        "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"
        f"<w:tbl><w:tr><w:tc>{paragraph('a1')}</w:tc><w:tc>{paragraph('b1')}{paragraph('b2')}</w:tc></w:tr></w:tbl>"
        f"<w:p><w:r><mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
        "</mc:AlternateContent><w:t>After é</w:t></w:r></w:p>"
    )
    links = relations(("footnotes", "footnotes.xml"), external={"hyperlink": "https://example.org"})
    return package(docx_parts(body) | {
        "word/_rels/document.xml.rels": links,
        "word/footnotes.xml": f"<w:footnotes {WORD}><w:footnote>{paragraph('A note')}</w:footnote></w:footnotes>",
    })  # fmt: skip


def pptx(second: str = "") -> bytes:
    """Return two slides, in another order than that of their parts, the first with a number and notes.

    second: attributes of the second slide.
    """

    def slide(*texts: str, more: str = "", attributes: str = "") -> str:
        shown = "".join(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in texts)
        return f"<p:sld {DRAWING} {attributes}><a:txBody>{shown}{more}</a:txBody></p:sld>"

    order = "".join(f'<p:sldId id="{256 + n}" r:id="rId{n}"/>' for n in (2, 1))
    number = '<a:p><a:fld type="slidenum"><a:t>7</a:t></a:fld></a:p>'
    return package(_parts("ppt/presentation.xml") | {
        "ppt/presentation.xml": f'<p:presentation {DRAWING} xmlns:r="{MAIN}/officeDocument/2006/relationships">'
        f"<p:sldIdLst>{order}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(("slide", "slides/slide1.xml"), ("slide", "slides/slide2.xml")),
        "ppt/slides/slide1.xml": slide("Second", attributes=second),
        "ppt/slides/slide2.xml": slide("First", more=number),
        "ppt/slides/_rels/slide2.xml.rels": relations(("notesSlide", "../notesSlides/notesSlide1.xml")),
        "ppt/notesSlides/notesSlide1.xml": slide("Say hello"),
    })  # fmt: skip


def xlsx_parts(rows: str) -> Parts:
    return _parts("xl/workbook.xml") | {
        "xl/workbook.xml": f'<workbook {SHEET}><sheets><sheet name="Sums" sheetId="1" r:id="rId1"/>'
        '<sheet name="None" sheetId="2" r:id="rId2"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(
            ("worksheet", "worksheets/sheet1.xml"), ("worksheet", "worksheets/sheet2.xml"), ("styles", "styles.xml"),
        ),
        "xl/styles.xml": f'<styleSheet {SHEET}><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
        "xl/worksheets/sheet1.xml": f"<worksheet {SHEET}><sheetData>{rows}</sheetData></worksheet>",
        "xl/worksheets/sheet2.xml": f"<worksheet {SHEET}><sheetData/></worksheet>",
    }  # fmt: skip


def xlsx() -> bytes:
    rows = (
        '<row r="1"><c r="A1" t="inlineStr"><is><t>Day</t></is></c>'
        '<c r="B1" t="inlineStr"><is><t>Sum</t></is></c></row>'
        '<row r="2"><c r="A2" s="1"><v>45000</v></c><c r="B2"><f>1+2</f><v>3</v></c></row>'
    )
    return package(xlsx_parts(rows))


def encrypted() -> bytes:
    return OLE + bytes(500) + "EncryptedPackage".encode("utf-16-le") + bytes(500)


def encrypted_parts() -> bytes:
    content = bytearray(docx("secret"))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = content.find(signature)
        while start >= 0:
            content[start + offset] |= 1
            start = content.find(signature, start + 4)
    return bytes(content)


def macros() -> bytes:
    return package(docx_parts(paragraph("Hello")) | {"word/vbaProject.bin": "x"})


def macros_by_content_type() -> bytes:
    parts = docx_parts(paragraph("Hello"))
    types = parts["[Content_Types].xml"].replace("text/xml", "application/vnd.ms-word.document.macroEnabled.main+xml")
    return package(parts | {"[Content_Types].xml": types})


def template_elsewhere() -> bytes:
    links = relations(external={"attachedTemplate": "https://example.org/a.dotm"})
    return package(docx_parts(paragraph("Hello")) | {"word/_rels/settings.xml.rels": links})


def linked_workbook() -> bytes:
    row = '<row r="1"><c r="A1"><v>1</v></c></row>'
    return package(
        xlsx_parts(row)
        | {
            "xl/externalLinks/_rels/externalLink1.xml.rels": relations(external={"externalLinkPath": "other.xlsx"}),
            "xl/externalLinks/externalLink1.xml": "<externalLink/>",
        }
    )


def loading_field() -> bytes:
    field = "<w:p><w:r><w:instrText> DDEAUTO c:\\\\windows\\\\system32\\\\cmd.exe </w:instrText></w:r></w:p>"
    return package(docx_parts(field + paragraph("Result")))


def remarkable() -> bytes:
    """Return a document with header, footer, comment, formula, moved and deleted words, and parts that are no text."""
    math = f'xmlns:m="{MAIN}/officeDocument/2006/math"'
    body = (
        "<w:p><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom><w:rPr><w:del/></w:rPr><w:moveTo><w:r><w:t>moved</w:t>"
        f"</w:r></w:moveTo><w:r><w:t> </w:t></w:r><m:oMath {math}><m:r><m:t>E=mc</m:t></m:r></m:oMath><w:r>"
        "<w:noBreakHyphen/><w:t>x</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"
    )
    links = relations(
        ("header", "header1.xml"), ("header", "header2.xml"), ("footer", "footer1.xml"), ("comments", "comments.xml"),
        ("image", "media/1.png"), ("chart", "charts/1.xml"), ("oleObject", "embeddings/1.bin"),
        ("diagramData", "diagrams/data1.xml"),
    )  # fmt: skip
    header = f"<w:hdr {WORD}>{paragraph('Company')}</w:hdr>"
    return package(docx_parts(body) | {
        "word/_rels/document.xml.rels": links, "word/header1.xml": header, "word/header2.xml": header,
        "word/footer1.xml": f"<w:ftr {WORD}>{paragraph('Confidential')}{paragraph('12')}</w:ftr>",
        "word/comments.xml": f'<w:comments {WORD}><w:comment w:author="Ada">{paragraph("Really?")}</w:comment>'
        "</w:comments>",
        "word/diagrams/data1.xml": f"<p:data {DRAWING}><a:p><a:r><a:t>Step one</a:t></a:r></a:p></p:data>",
    })  # fmt: skip


def remarkable_sheets() -> bytes:
    """Return a workbook with a hidden sheet, formulas without values, a comment, a text box and a picture."""
    rows = (
        '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><f>A1</f></c><c r="C1"><f>A1</f><v></v></c>'
        '<c r="D1"><f t="shared" si="0"/></c></row>'
    )
    parts = xlsx_parts(rows)
    hidden = parts["xl/workbook.xml"].replace('sheetId="2"', 'sheetId="2" state="hidden"')
    return package(parts | {
        "xl/workbook.xml": hidden,
        "xl/worksheets/_rels/sheet1.xml.rels": relations(
            ("comments", "../comments1.xml"), ("drawing", "../drawings/d.xml"),
        ),
        "xl/comments1.xml": f'<comments {SHEET}><commentList><comment authorId="0"><text><r><t>Check</t></r></text>'
        "</comment></commentList></comments>",
        "xl/drawings/d.xml": f"<p:box {DRAWING}><a:p><a:r><a:t>In a box</a:t></a:r></a:p></p:box>",
        "xl/drawings/_rels/d.xml.rels": relations(("image", "../media/1.png")),
    })  # fmt: skip


def hidden_slide() -> bytes:
    return pptx(second='show="0"')


def zip_bomb() -> bytes:
    return package(docx_parts(paragraph("0" * 50_000_000)))


def lying_zip_bomb() -> bytes:
    """Return a bomb whose headers say that its part has a hundred bytes."""
    size, content = (
        (50_000_000).to_bytes(4, "little"),
        package({**docx_parts(""), "word/document.xml": "0" * 50_000_000}),
    )
    return content.replace(size, (100).to_bytes(4, "little"))


def entities() -> bytes:
    definitions = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    document = f'<!DOCTYPE d [<!ENTITY e0 "ha">{definitions}]><w:document {WORD}>{paragraph("x")}</w:document>'
    return package(docx_parts("") | {"word/document.xml": document.replace("<w:t>x", "<w:t>&e9;")})


def outside_file() -> bytes:
    document = f'<!DOCTYPE d [<!ENTITY e SYSTEM "file:///etc/passwd">]><w:document {WORD}>{paragraph("x")}</w:document>'
    return package(docx_parts("") | {"word/document.xml": document.replace("<w:t>x", "<w:t>&e;")})


def far_cell() -> bytes:
    return package(
        xlsx_parts('<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')
    )


def diagonal_cells() -> bytes:
    """Return a sheet whose area is a million times its content."""
    rows = "".join(
        f'<row r="{number * 60}"><c r="{xl_col_to_name(number)}{number * 60}"><v>1</v></c></row>'
        for number in range(1, 16_000)
    )
    return package(xlsx_parts(rows))


def formatted_rows() -> bytes:
    """Return two rows of values, and many that are only formatted, with a stray value in the last one."""
    empty = '<row r="{0}" s="1" customFormat="1"><c r="A{0}" s="1"/><c r="XFD{0}" s="1"></c></row>'
    rows = ['<row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c></row>', '<row r="2"><c r="A2"><v>3</v></c></row>']
    rows += [empty.format(number) for number in range(3, 1_048_576, 5)]
    rows.append('<row r="1048576"><c r="D1048576"><v>4</v></c></row>')
    return package(xlsx_parts("".join(rows)))


def merged_cells() -> bytes:
    parts = xlsx_parts('<row r="1"><c r="A1"><v>1</v></c><c r="B1"/></row><row r="2"><c r="A2"/><c r="B2"/></row>')
    name = "xl/worksheets/sheet1.xml"
    merged = '</sheetData><mergeCells count="1"><mergeCell ref="A1:B2"/></mergeCells>'
    return package(parts | {name: parts[name].replace("</sheetData>", merged)})


def deep_elements() -> bytes:
    return package(docx_parts("<w:p>" * 100_000 + "</w:p>" * 100_000))


def many_slides() -> bytes:
    order = "".join(f'<p:sldId r:id="rId{n}"/>' for n in range(1_001))
    return package(_parts("ppt/presentation.xml") | {
        "ppt/presentation.xml": f'<p:presentation {DRAWING} xmlns:r="{MAIN}/officeDocument/2006/relationships">{order}'
        "</p:presentation>",
    })  # fmt: skip


def without_main_part() -> bytes:
    return package(_parts("word/document.xml"))


def truncated() -> bytes:
    return report()[:400]


def without_text() -> bytes:
    return docx("", " ")


def long_text() -> bytes:
    return docx(*["word " * 200] * 1_100)


HOSTILE = {
    make.__name__: make
    for make in (
        encrypted, encrypted_parts, zip_bomb, lying_zip_bomb, entities, outside_file, diagonal_cells, deep_elements,
        many_slides, without_main_part,
        truncated, without_text, long_text,
    )
}  # fmt: skip
REMARKABLE = {
    make.__name__: make
    for make in (
        macros, macros_by_content_type, template_elsewhere, linked_workbook, loading_field, remarkable,
        remarkable_sheets, hidden_slide,
    )
}  # fmt: skip
