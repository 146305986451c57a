import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

CONTENTS_XML = "<Contents><Key>{}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>{}</Size></Contents>"
PREFIX_XML = "<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>"


class FakeS3:
    """Fake bucket with `objects`; while `is_full`, it refuses more."""

    def __init__(self, bucket: str) -> None:
        self.objects: dict[str, bytes] = {}
        self.is_full = False
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self, bucket))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "FakeS3":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    def listing(self, prefix: str, delimiter: str) -> str:
        folders, contents = set(), []
        for key, content in self.objects.items():
            rest = key.removeprefix(prefix)
            if key.startswith(prefix) and delimiter in rest and delimiter:
                folders.add(prefix + rest.split(delimiter)[0] + delimiter)
            elif key.startswith(prefix):
                contents.append(CONTENTS_XML.format(key, len(content)))
        body = "".join([*contents, *map(PREFIX_XML.format, sorted(folders))])
        return f"<ListBucketResult><IsTruncated>false</IsTruncated>{body}</ListBucketResult>"


def _handler(s3: FakeS3, bucket: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        @property
        def key(self) -> str:
            return unquote(urlsplit(self.path).path).removeprefix(f"/{bucket}").lstrip("/")

        def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def do_PUT(self) -> None:
            content = self._read_body()
            if s3.is_full:
                return self.answer(507, b"<Error><Code>InsufficientStorage</Code></Error>")
            s3.objects[self.key] = content
            return self.answer(200, ETag='"x"')

        def _read_body(self) -> bytes:
            if self.headers.get("Expect", "").lower() == "100-continue":
                self.send_response_only(100)
                self.end_headers()
            if "aws-chunked" not in self.headers.get("Content-Encoding", ""):
                return self.rfile.read(int(self.headers["Content-Length"]))
            content = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                content += self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            return content

        def do_GET(self) -> None:
            query = parse_qs(urlsplit(self.path).query)
            if not self.key:
                listing = s3.listing(query.get("prefix", [""])[0], query.get("delimiter", [""])[0])
                return self.answer(200, listing.encode(), Content_Type="application/xml")
            if self.key not in s3.objects:
                return self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
            modified = "Thu, 01 Jan 2026 00:00:00 GMT"
            return self.answer(200, s3.objects[self.key], ETag='"x"', Last_Modified=modified)

        do_HEAD = do_GET

        def do_DELETE(self) -> None:
            s3.objects.pop(self.key, None)
            self.answer(204)

    return Handler
