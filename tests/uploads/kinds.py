"""Honest files of many kinds: OpenDocument, books, RTF, mails, notebooks, web pages and pictures."""

import base64
import io
import json
import zipfile
import zlib
from email.message import EmailMessage

from PIL import Image, ImageCms

from tests.uploads import offices, pictures

ODF = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in {
        "office": "office", "text": "text", "table": "table", "draw": "drawing", "style": "style",
        "presentation": "presentation",
    }.items()
) + ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'  # fmt: skip
OPEN_DOCUMENT = "application/vnd.oasis.opendocument."


def open_document(kind: str, body: str, *, styles: str = "", automatic: str = "", **parts: str) -> bytes:
    """Return an ODT, ODS or ODP of this body. parts: by name, "/" written as "__"."""
    content = open_document_body(body, kind, automatic)
    more = {"styles.xml": f"<office:document-styles {ODF}>{styles}</office:document-styles>"} if styles else {}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", OPEN_DOCUMENT + kind)
        for name, text in {"content.xml": content, **more, **parts}.items():
            archive.writestr(name.replace("__", "/"), text, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def open_document_body(body: str, kind: str = "text", automatic: str = "") -> str:
    return (
        f"<office:document-content {ODF}><office:automatic-styles>{automatic}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )


WRITTEN = (
    "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion>"
    "</text:changed-region></text:tracked-changes>"
    "<text:h>Title</text:h><text:p>One<text:tab/>two<text:s text:c='3'/>three <text:span>four</text:span>.\n"
    "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note</text:p></text:note-body>"
    "</text:note><office:annotation><dc:creator>Ada</dc:creator><text:p>Really?</text:p></office:annotation></text:p>"
    "<table:table><table:table-row><table:table-cell><text:p>a1</text:p></table:table-cell><table:table-cell>"
    "<text:p>b1</text:p><text:p>b2</text:p></table:table-cell></table:table-row></table:table>"
    "<text:p><draw:frame><draw:text-box><text:p>In a box</text:p></draw:text-box></draw:frame><draw:frame><draw:image "
    'xlink:href="Pictures/1.png"/></draw:frame><draw:frame><draw:object xlink:href="./Object 1"/><draw:image '
    'xlink:href="./preview"/></draw:frame></text:p>'
)
WRITTEN_TEXT = "Title\nOne\ttwo   three four. \na1\tb1 b2\n\nIn a box\nA note\n[Comment by Ada: Really?]"
MARGINS = (
    "<office:master-styles><style:master-page><style:header><text:p>Company</text:p></style:header><style:footer>"
    "<text:p>3</text:p></style:footer></style:master-page></office:master-styles>"
)


def odt() -> bytes:
    return open_document("text", WRITTEN, styles=MARGINS, Basic__Standard__script_lb="x")


def flat_odt() -> bytes:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<office:document {ODF} office:mimetype="{OPEN_DOCUMENT}text">'
        f"{MARGINS}<office:body><office:text>{WRITTEN}</office:text></office:body></office:document>"
    ).encode()


def ods() -> bytes:
    def cell(text: str = "", more: str = "") -> str:
        return f"<table:table-cell {more}>{f'<text:p>{text}</text:p>' if text else ''}</table:table-cell>"

    far, copied = 'table:number-columns-repeated="16000"', 'table:formula="of:=[.A1]"'
    date = 'office:value-type="date" office:date-value="2023-03-15"'
    number = 'office:value-type="float" office:value="3.3333"'
    rows = (
        f"<table:table-row>{cell('Day')}{cell('Sum')}{cell(more=far)}</table:table-row>"
        f"<table:table-row>{cell('15/03/23', date)}{cell('3.3', number)}</table:table-row>"
        f'<table:table-row table:number-rows-repeated="1000000">{cell(more=far)}</table:table-row>'
        f"<table:table-row>{cell('End')}{cell(more=copied)}</table:table-row>"
    )
    hidden = (
        '<style:style style:name="h" style:family="table"><style:table-properties table:display="false"/></style:style>'
    )
    sheets = (
        f'<table:table table:name="Sums">{rows}</table:table><table:table table:name="None"><table:table-row>'
        f"{cell(more=far)}</table:table-row></table:table>"
        f'<table:table table:name="Secret" table:style-name="h"><table:table-row>{cell("s")}</table:table-row>'
        "</table:table>"
    )
    return open_document("spreadsheet", sheets, automatic=hidden)


def xls() -> bytes:
    """Return a workbook of Excel 97 with a hidden sheet; the readers that are installed write none."""
    return zlib.decompress(base64.b64decode(
        "eNrtWE1oE0EU/ma7+SttfmpaaAslBKxa24N48dJulWhPKdUc/EHQtN2DVFNZI1g9WK05CoInxUshHrxUvfiDinrzIFT0IAhioseeBAUPbdY3"
        "L7sljRUa0EB0vmW+mX3zJvMy782b3X2zGCnM3+8qogpDaELJDsBbIRNUAu5NGNRv27Lp1n4qtkJDIeAnR3o9eNL62id9KP1dhIZ7+kti4DOV"
        "oziN0emMGasj9rANaSFtGBQ6xZ6GW1SC6GS72pgnmDcx32Xdp8zDLLnKPEi6BXEEi8Zo3y4njg9pce4LEgs85DEfWLID7Xgl4/jiNVHW9WC3"
        "dSJ9ssE6evQW5EEuHTEzpiXvQ7iNZuAwYSCZHEgkCoiSu/P4bseAb+6+fhFT8vrKBUj+Y63c9xu5n5xYLb+u6cAs7ONCBnMOLejQZY+O1NlT"
        "Z3IU5HmPjAwvUuaEZWaX0U3JHW5JpGdo06eyVvqTSTF0rllmec4K4TVZoZX3SgvxJELcjvCOCZNRy3e+vk2OjxnHWDLLJ0H5vNgsjYONS3IE"
        "DQ5yj7bKfczbmS/zr3Zzu4s5SuFMde9Yu9PYN8c6V7i3l+bZyXhnbKlob6V2bmn/o57cF2MbtRdGiuejC++NecTp/Jqk8fKaQ7/oFzdvSDw2"
        "3Fo4meUjc+cvWcavhR3bbedQDGFF7itChLl8J1dHOPqiSv8ZzSE4h8Wfa6R3gd0zpLXhAS/McMWZWw9viFVuVG+Idb0hNXhVsd6qKigoKCgo"
        "KCj8nxDOc3gTvzCAHuzKz5c+57vOCpWS+kzyz+IApunK0ivlXmSotjBTU/x0wCPc3xIbHON+L5Q4SLNbmMI42zFVc/zS+4Go/D8bHhj+c1uo"
        "1vlLtdj5l+f/CVSJ+qw="
    ))  # fmt: skip


def odp() -> bytes:
    def page(text: str, style: str = "") -> str:
        return (
            f'<draw:page draw:style-name="{style}"><draw:frame><draw:text-box><text:p>{text}</text:p></draw:text-box>'
            f"</draw:frame><presentation:notes><draw:frame><draw:text-box><text:p>Notes</text:p></draw:text-box>"
            "</draw:frame></presentation:notes></draw:page>"
        )

    hidden = (
        '<style:style style:name="h" style:family="drawing-page"><style:drawing-page-properties '
        'presentation:visibility="hidden"/></style:style>'
    )
    return open_document("presentation", page("First") + page("Second", "h"), automatic=hidden)


def epub(**more: str) -> bytes:
    """Return a book of two chapters, the second of which is listed first in its manifest, and one that is missing."""
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        "<dc:title>The Sea</dc:title><dc:creator>A. Writer</dc:creator></metadata><manifest>"
        '<item id="b" href="text/b%20two.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="a" href="text/a.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="c" href="text/c.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="cover" href="cover.jpg" media-type="image/jpeg"/></manifest>'
        '<spine><itemref idref="a"/><itemref idref="b"/><itemref idref="c"/></spine></package>'
    )
    page = '<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title/>{}</head>{}</html>'
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        "OEBPS/book.opf": package,
        "OEBPS/text/a.xhtml": page.format(
            "<script>alert(1)</script>", "<body><h1>One</h1><p>Über das Meer.</p></body>"
        ),
        "OEBPS/text/b two.xhtml": page.format("", "<body><h1>Two</h1><p>The end.</p></body>"),
    }
    return offices.package(
        parts | {name.replace("__", "/").replace("_xml", ".xml"): text for name, text in more.items()}
    )


BOOK = "The Sea\n\nA. Writer\n\nOne\n\nÜber das Meer.\n\nTwo\n\nThe end."
RTF = (
    rb"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Times;}{\f1\fcharset204 Arial;}{\f2\fcharset128 Mincho;}}"
    rb"{\*\generator X}{\info{\title Hidden}}{\header Head\par}Caf\'e9 \u8364?\par \uc0\u9731 {\f1 \'cf\'f0\'e8}\par"
    rb"{\f2 \'93\'fa\'96\'7b}\par "
    rb"{\pict\pngblip 89504e47" + b"0d0a" * 1000 + rb"}A\cell B\cell\row {\field{\*\fldinst HYPERLINK}{\fldrslt link}}"
    rb"{\footnote A note}{\deleted gone}\par {\listtext 1.\tab}item\par "
    rb"{\shp{\*\shpinst{\sp{\sn type}{\sv 202}}{\shptxt In a box\par}}{\shprslt In a box}}}"
)
RTF_TEXT = "Head\nCafé €\n☃При\n日本\nA\tB\nlink [A note]\n1.\titem\nIn a box"


def mail() -> EmailMessage:
    """Return a mail with a text in plain and HTML, an attached PDF and a mail in it."""
    message = EmailMessage()
    message["From"] = "Zoë Ärger <zoe@example.org>"
    message["To"] = "you@example.org"
    message["Date"] = "Sun, 29 Nov 2026 10:00:00 +0000"
    message["Subject"] = "Déjà vu: ein Gruß"
    message.set_content("Hello,\n\nsee the file.\n")
    message.add_alternative("<p>Hello, <b>see</b></p>", subtype="html")
    message.add_attachment(b"%PDF-" + bytes(3000), maintype="application", subtype="pdf", filename="Größe.pdf")
    inner = EmailMessage()
    inner["From"], inner["Subject"] = "inner@example.org", "Before"
    inner.set_content(
        "<html><body><p>Grüße <a href='https://e.org/a'>here</a><img src='cid:1'></p></body></html>", subtype="html"
    )
    message.add_attachment(inner)
    return message


MAIL_TEXT = (
    "From: Zoë Ärger <zoe@example.org>\nTo: you@example.org\nDate: Sun, 29 Nov 2026 10:00:00 +0000\n"
    "Subject: Déjà vu: ein Gruß\n\nHello,\n\nsee the file.\n\nFrom: inner@example.org\nSubject: Before\n\n"
    "Grüße [here](https://e.org/a)\n\n[Attachments: Größe.pdf]"
)
ODD_MAIL = (
    b"Received: by x\r\nFrom: a@example.org\r\nSubject: =?x-unknown?Q?Gr=FC=DFe?= =?utf-8?B?4pyT?=\r\n"
    b"Content-Type: text/plain; charset=x-unknown\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
    b"Sch=F6n =\r\nhier\r\n"
)
SAVED_PAGE = (
    b"From: <Saved by Blink>\r\nSubject: A page\r\nMIME-Version: 1.0\r\n"
    b"Content-Type: multipart/related; boundary=b\r\n\r\n"
    b"--b\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
    b"<html><body>Caf=C3=A9<script>x</script></body></html>\r\n"
    b"--b\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\nContent-Location: https://e.org/a.png\r\n\r\n"
    b"iVBORw0KGgo=\r\n--b--\r\n"
)
MAILBOX = (
    b"From a@example.org Sun Nov 29 10:00:00 2026\nFrom: a@example.org\nSubject: One\n\nFirst\n>From here on\n\n"
    b"From b@example.org Sun Nov 29 11:00:00 2026\nFrom: b@example.org\nSubject: Two\n\nSecond\n"
)


def notebook() -> bytes:
    cells = [
        {"cell_type": "markdown", "source": ["# Sums\n", "![x](data:image/png;base64,AAAA)"]},
        {"cell_type": "code", "source": "print(1)", "outputs": [
            {"output_type": "stream", "text": ["1\n"]},
            {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": "<Figure size 1x1>"}},
            {"output_type": "error", "traceback": ["\x1b[31mNameError\x1b[0m: x"]},
            {"output_type": "display_data", "data": {"application/vnd.widget": {}}},
        ]},
    ]  # fmt: skip
    return json.dumps({"nbformat": 4, "metadata": {"language_info": {"name": "python"}}, "cells": cells}).encode()


NOTEBOOK_TEXT = "# Sums\n![x](…)\n\n```python\nprint(1)\n```\n\nOutput:\n```\n1\n```\n\nOutput:\n```\nNameError: x\n```"
PAGE = (
    b"<!-- saved --><!DOCTYPE html><html><head><meta charset='iso-8859-1'><title>The page</title>"
    b"<style>p{}</style></head>"
    b"<body><script>var x = '{{ x }}';</script><h1>Hi</h1><p>"
    b"Caf\xe9 <a href='https://e.org'>link</a> <a href='#x'>here</a>"
    b"<img src='a.png'></p></body></html>"
)
PAGE_TEXT = "The page\n\nHi\n\nCafé [link](https://e.org) here"
PROGRAM = (
    "<!DOCTYPE html>\n<title>Snake</title>\n<canvas></canvas><p>Use the arrows</p>\n<script>\n"
    + "".join(f"let x{number} = {number};\n" for number in range(20))
    + "</script>"
)
TEMPLATE = "<!DOCTYPE html>\n<html><body>{% for x in y %}<p>{{ x }}</p>{% endfor %}</body></html>"
SHELL = "<!DOCTYPE html><html><body><div id='app'></div><script src='a.js'></script></body></html>"


def encoded(image: Image.Image, format: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, format, **options)
    return out.getvalue()


def grey_tiff() -> bytes:
    """Return a TIFF of 16 bits a pixel, of a middle grey."""
    return encoded(Image.new("I;16", (40, 20), 0x8000), "TIFF")


def pages_tiff() -> bytes:
    frames = [Image.new("CMYK", (40, 20), (0, 255, 255, 0)) for _ in range(3)]
    return encoded(frames[0], "TIFF", save_all=True, append_images=frames[1:], compression="tiff_lzw")


def picture_with_profile() -> bytes:
    """Return white in CMYK with a profile of other colours, which cannot be applied to it."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    return encoded(Image.new("CMYK", (40, 20), (0, 0, 0, 0)), "JPEG", icc_profile=profile)


def two_pictures() -> bytes:
    """Return an MPO, which phones save as JPEG."""
    frames = [Image.new("RGB", (40, 20), colour) for colour in ("red", "blue")]
    return encoded(frames[0], "MPO", save_all=True, append_images=frames[1:])


def heic() -> bytes:
    """Return a red picture of 40 × 20 pixels; the readers that are installed write no HEIC."""
    return base64.b64decode(
        "AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAXxtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAACJpbG9jAAAA"
        "AERAAAEAAQAAAAABoAABAAAAAAAAACsAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABodmMxAAAAAA5waXRtAAAAAAABAAAA/GlwcnAAAADc"
        "aXBjbwAAAHVodmNDAQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQGEAAQApQgEBA3AAAAMAkAAAAwAA"
        "AwAeoCCBBZbqrprm4CGgwIAAAAyAAAADAIRiAAEABkQBwXPBiQAAABNjb2xybmNseAABAA0ABoAAAAAUaXNwZQAAAAAAAABAAAAAQAAAAChjbGFw"
        "AAAAKAAAAAEAAAAUAAAAAf///+gAAAAC////1AAAAAIAAAAQcGl4aQAAAAADCAgIAAAAGGlwbWEAAAAAAAAAAQABBYECAwWEAAAAM21kYXQAAAAn"
        "KAGvGSFgQkDvXaW//4jK/5iBf67W3ymSgKaXBNeImQsDgYCNkZ04"
    )


def zip_of(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return out.getvalue()


def ole(stream: str) -> bytes:
    return offices.OLE + bytes(500) + stream.encode("utf-16-le") + bytes(500)


PICTURES = {
    "tiff": (pages_tiff, "image/tiff"),
    "bmp": (lambda: pictures.picture("BMP"), "image/bmp"),
    "ico": (lambda: pictures.picture("ICO", width=32, height=32, sizes=[(32, 32)]), "image/x-icon"),
    "avif": (lambda: pictures.picture("AVIF"), "image/avif"),
    "jpeg2000": (lambda: pictures.picture("JPEG2000"), "image/jp2"),
    "mpo": (two_pictures, "image/jpeg"),
}
