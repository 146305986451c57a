"""Honest and hostile PDFs, written by hand because a library would refuse to write half of them."""

import zlib
from collections.abc import Sequence

FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
_FONT_DESCRIPTOR = (
    b"<</Type/FontDescriptor/FontName/Ryumin-Light/Flags 6/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 750"
    b"/Descent -200/CapHeight 700/StemV 80>>"
)
Bodies = dict[int, bytes]


def pdf(bodies: Bodies, trailer: bytes = b"") -> bytes:
    """bodies: objects by number; 1 is the catalog."""
    out = bytearray(b"%PDF-1.7\n")
    places = {}
    for number, body in sorted(bodies.items()):
        places[number] = len(out)
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 1\n0000000000 65535 f \n"
    for number, place in sorted(places.items()):
        out += b"%d 1\n%010d 00000 n \n" % (number, place)
    size = max(bodies) + 1
    return bytes(out + b"trailer<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, start))


def stream(content: bytes, *, more: bytes = b"", compressed: bool = True) -> bytes:
    body = zlib.compress(content, 9) if compressed else content
    how = b"/Filter/FlateDecode" if compressed else b""
    return b"<</Length %d%s%s>>stream\n" % (len(body), how, more) + body + b"\nendstream"


def lines(texts: Sequence[str]) -> bytes:
    """Return a content stream that writes one line below the other."""
    shown = b"".join(b"(%s)Tj 0 -14 Td\n" % text.encode("latin-1") for text in texts)
    return b"BT /F1 12 Tf 50 800 Td\n" + shown + b"ET"


def with_pages(contents: Sequence[bytes], *, trailer: bytes = b"") -> bytes:
    """contents: a content stream for each page."""
    bodies: Bodies = {1: b"<</Type/Catalog/Pages 2 0 R>>", 3: FONT}
    kids = []
    for index, content in enumerate(contents):
        page = 4 + 2 * index
        kids.append(b"%d 0 R" % page)
        bodies[page] = _page(page + 1)
        bodies[page + 1] = stream(content)
    bodies[2] = b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(kids), b" ".join(kids))
    return pdf(bodies, trailer)


def _page(contents: int) -> bytes:
    what = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>"
    return what % contents


def with_text(*pages: str) -> bytes:
    return with_pages([lines(page.split("\n")) for page in pages])


def book(pages: int) -> bytes:
    """Return a PDF with forty full lines per page."""
    words = "the quick brown fox jumps over the lazy dog and thinks about page"
    return with_text(*("\n".join(f"{words} {number} {line}" for line in range(40)) for number in range(pages)))


def table(pages: int, rows: int = 50, columns: int = 10) -> bytes:
    """Return a PDF with separately positioned cells, as spreadsheets print them."""
    contents = []
    for page in range(pages):
        cells = b"".join(
            b"BT /F1 8 Tf 1 0 0 1 %d %d Tm (%d)Tj ET\n" % (30 + 55 * column, 800 - 15 * row, page * row + column)
            for row in range(rows)
            for column in range(columns)
        )
        contents.append(cells)
    return with_pages(contents)


def scanned() -> bytes:
    return with_pages([b"q 595 0 0 842 0 0 cm Q"] * 2)


def _one_page_bodies(content: bytes) -> Bodies:
    return {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Count 1/Kids[4 0 R]>>",
        3: FONT,
        4: _page(5),
        5: stream(content),
    }


def _one_page(content: bytes) -> bytes:
    return pdf(_one_page_bodies(content))


def with_annotations(bodies: Bodies, annotations: bytes, *, catalog: bytes = b"") -> bytes:
    """Return a page with the text "A form" and annotations. bodies: their objects, from 10 on."""
    page = _page(5)[:-2] + b"/Annots[" + annotations + b"]>>"
    root = b"<</Type/Catalog/Pages 2 0 R" + catalog + b">>"
    return pdf({**_one_page_bodies(lines(["A form"])), **bodies, 1: root, 4: page})


def with_xfa(data: bytes) -> bytes:
    """Return a form of Adobe LiveCycle that has no fields of its own. data: its XML."""
    return with_annotations(
        {10: stream(data)}, b"", catalog=b"/NeedsRendering true/AcroForm<</Fields[]/XFA[(datasets)10 0 R]>>"
    )


def in_arabic_letters(content: bytes) -> bytes:
    """Return a page in a font whose letters a to e are Arabic, x is a bullet of Wingdings and y for private use."""
    letters = b"".join(b"<%02x> <%04x>\n" % (ord("a") + n, ord(letter)) for n, letter in enumerate("ابتثج"))
    codes = b"begincodespacerange\n<00> <ff>\nendcodespacerange\n"
    unicode_map = codes + b"7 beginbfchar\n" + letters + b"<78> <f0b7>\n<79> <e123>\nendbfchar\n"
    font = FONT[:-2] + b"/ToUnicode 10 0 R>>"
    return pdf({**_one_page_bodies(content), 3: font, 10: stream(b"begincmap\n" + unicode_map + b"endcmap")})


def vertical(columns: Sequence[str]) -> bytes:
    """Return a page with vertical Japanese lines in a font that is not in the file."""
    shown = b"".join(
        b"BT /F1 10 Tf 1 0 0 1 %d 800 Tm <%s>Tj ET\n" % (500 - 20 * n, column.encode("utf-16-be").hex().encode())
        for n, column in enumerate(columns)
    )
    font = b"<</Type/Font/Subtype/Type0/BaseFont/Ryumin-Light/Encoding/UniJIS-UCS2-V/DescendantFonts[10 0 R]>>"
    glyphs = b"<</Type/Font/Subtype/CIDFontType0/BaseFont/Ryumin-Light/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)"
    bodies = _one_page_bodies(shown)
    return pdf({**bodies, 3: font, 10: glyphs + b"/Supplement 2>>/FontDescriptor 11 0 R>>", 11: _FONT_DESCRIPTOR})


def many_operators() -> bytes:
    return _one_page(b"BT /F1 12 Tf " + b"(a)Tj " * 3_000_000 + b"ET")


def huge_string() -> bytes:
    return _one_page(b"BT /F1 12 Tf (" + b"A" * 60_000_000 + b")Tj ET")


def pages_sharing_a_stream() -> bytes:
    shared = lines(["word " * 200] * 40)
    kids = [b"%d 0 R" % number for number in range(10, 910)]
    bodies: Bodies = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(kids), b" ".join(kids)),
        3: FONT,
        5: stream(shared * 12),
        **{number: _page(5) for number in range(10, 910)},
    }
    return pdf(bodies)


def thousands_of_pages() -> bytes:
    kids = b" ".join([b"4 0 R"] * 50_000)
    bodies: Bodies = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Count 50000/Kids[%s]>>" % kids,
        3: FONT,
        4: _page(5),
        5: stream(lines(["again"])),
    }
    return pdf(bodies)


def deep_arrays() -> bytes:
    return _one_page(b"[" * 200_000 + b"]" * 200_000 + b" TJ")


def deep_objects() -> bytes:
    bodies: Bodies = {
        1: b"<</Type/Catalog/Pages 2 0 R/Deep " + b"[" * 100_000 + b"]" * 100_000 + b">>",
        2: b"<</Type/Pages/Count 0/Kids[]>>",
    }
    return pdf(bodies)


def cyclic_pages() -> bytes:
    bodies: Bodies = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Count 2/Kids[3 0 R 2 0 R]>>",
        3: b"<</Type/Pages/Parent 2 0 R/Count 2/Kids[2 0 R 3 0 R]>>",
    }
    return pdf(bodies)


def forms_in_forms() -> bytes:
    """Return a PDF whose forms each draw the next one ten times."""
    resources = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</Font<</F1 3 0 R>>/XObject<</X %d 0 R>>>>"
    bodies: Bodies = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Count 1/Kids[4 0 R]>>",
        3: FONT,
        4: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Resources<</XObject<</X 10 0 R>>>>/Contents 5 0 R>>",
        5: stream(b"/X Do " * 10),
        **{n: stream(b"/X Do " * 10, more=resources % (n + 1)) for n in range(10, 20)},
        20: stream(b"BT /F1 9 Tf (deep)Tj ET", more=b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]"),
    }
    return pdf(bodies)


def zip_bomb() -> bytes:
    """Return a small PDF that is 200 MB after three rounds of decompression."""
    compressed = zlib.compress(zlib.compress(zlib.compress(b"0" * 200_000_000, 9), 9), 9)
    filters = b"<</Length %d/Filter[/FlateDecode/FlateDecode/FlateDecode]>>stream\n" % len(compressed)
    bodies: Bodies = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Count 1/Kids[4 0 R]>>",
        3: FONT,
        4: _page(5),
        5: filters + compressed + b"\nendstream",
    }
    return pdf(bodies)


def content_bomb() -> bytes:
    """Return a small PDF with a page of a gigabyte."""
    pieces = zlib.compressobj(9)
    compressed = b"".join(pieces.compress(b" " * 10_000_000) for _ in range(100)) + pieces.flush()
    body = b"<</Length %d/Filter/FlateDecode>>stream\n" % len(compressed) + compressed + b"\nendstream"
    return pdf({**_one_page_bodies(b""), 5: body})


def huge_page_count() -> bytes:
    return pdf({**_one_page_bodies(lines(["one page"])), 2: b"<</Type/Pages/Count 2147483647/Kids[4 0 R 2 0 R]>>"})


def deep_page_tree() -> bytes:
    nested = {n: b"<</Type/Pages/Parent %d 0 R/Count 1/Kids[%d 0 R]>>" % (n - 1, n + 1) for n in range(10, 30_000)}
    bodies = {**_one_page_bodies(lines(["deep"])), **nested, 30_000: _page(5)}
    return pdf({**bodies, 2: b"<</Type/Pages/Count 1/Kids[10 0 R]>>"})


def million_fields() -> bytes:
    field = b"<</Type/Annot/Subtype/Widget/FT/Tx/T(name)/V(value)/Rect[0 0 9 9]>>"
    return with_annotations({10: field}, b"10 0 R " * 1_000_000)


def looping_fields() -> bytes:
    field = b"<</Type/Annot/Subtype/Widget/T(loop)/Parent 10 0 R/Rect[0 0 9 9]>>"
    return with_annotations({10: field}, b"10 0 R")


def looping_appearance() -> bytes:
    drawn = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 11 0 R>>>>"
    stamp = b"<</Type/Annot/Subtype/Stamp/Rect[0 0 9 9]/AP<</N 11 0 R>>>>"
    return with_annotations({10: stamp, 11: stream(b"/X Do " * 1000, more=drawn)}, b"10 0 R")


def entities_in_form_data() -> bytes:
    """Return a PDF whose form's data is a billion laughs."""
    laughs = b"".join(b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 10))
    data = b'<!DOCTYPE d [<!ENTITY l0 "ha">' + laughs + b"]><data><laugh>&l9;</laugh></data>"
    return with_xfa(data)


def encrypted() -> bytes:
    """Return a PDF with an unknown password."""
    secret = b"/Encrypt<</Filter/Standard/V 1/R 2/Length 40/P -4/O<%s>/U<%s>>>/ID[<00><00>]" % (b"41" * 32, b"42" * 32)
    return with_pages([lines(["secret"])], trailer=secret)


def truncated() -> bytes:
    return book(3)[:700]


def empty() -> bytes:
    return b"%PDF-1.7\n"


HOSTILE = {
    make.__name__: make
    for make in (
        many_operators, huge_string, pages_sharing_a_stream, thousands_of_pages, deep_arrays, deep_objects,
        cyclic_pages, forms_in_forms, zip_bomb, encrypted, truncated, empty, scanned, content_bomb, huge_page_count,
        deep_page_tree, million_fields, looping_fields, looping_appearance, entities_in_form_data,
    )
}  # fmt: skip
