import gzip
import io
import posixpath
import zipfile

from benchmarks.imports.damage import refuse_damage
from benchmarks.imports.limits import MAX_ARCHIVE_FILES, MAX_RATIO, MAX_UNPACKED_BYTES, RATIO_FREE_BYTES
from benchmarks.imports.readers.spreadsheets import ZIP, is_spreadsheet
from benchmarks.imports.reading_log import Place, ReadError

GZIP = b"\x1f\x8b"


def unpack(content: bytes, name: str) -> dict[str, bytes]:
    """Return files by path; one that is no archive is itself. Raises ReadError."""
    if content.startswith(GZIP):
        unpacked = _gunzip(content, name)
        if unpacked.startswith((GZIP, ZIP)) and not is_spreadsheet(unpacked):
            raise ReadError("archive_in_archive", Place(0, 0, name))
        return {name.removesuffix(".gz").removesuffix(".GZ"): unpacked}
    if content.startswith(ZIP) and not is_spreadsheet(content):
        return _unzip(content, name)
    return {name: content}


def _gunzip(content: bytes, name: str) -> bytes:
    limit = _limit(len(content))
    with refuse_damage("damaged_archive", Place(0, 0, name)), gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
        unpacked = file.read(limit + 1)
    if len(unpacked) > limit:
        raise ReadError("unpacks_too_large", Place(0, 0, name), limit=limit)
    return unpacked


def _limit(packed: int) -> int:
    return min(MAX_UNPACKED_BYTES, max(RATIO_FREE_BYTES, MAX_RATIO * packed))


def _unzip(content: bytes, name: str) -> dict[str, bytes]:
    with refuse_damage("damaged_archive", Place(0, 0, name)):
        archive = zipfile.ZipFile(io.BytesIO(content))
        members = [member for member in archive.infolist() if not _is_ignored(member)]
    if len(members) > MAX_ARCHIVE_FILES:
        raise ReadError("too_many_files", Place(0, 0, name), limit=MAX_ARCHIVE_FILES)
    files: dict[str, bytes] = {}
    for member in members:
        path = _path(member)
        if path in files:
            raise ReadError("duplicate_file", Place(0, 0, path))
        files[path] = _content(archive, member, path, MAX_UNPACKED_BYTES - sum(map(len, files.values())))
    if not files:
        raise ReadError("empty_file", Place(0, 0, name))
    return files


def _is_ignored(member: zipfile.ZipInfo) -> bool:
    if not member.filename:
        raise zipfile.BadZipFile
    hidden = posixpath.basename(member.filename).startswith(".")
    return member.is_dir() or hidden or member.filename.startswith("__MACOSX/")


def _path(member: zipfile.ZipInfo) -> str:
    path = posixpath.normpath(member.filename.replace("\\", "/"))
    if path.startswith(("/", "../")) or path == "..":
        raise ReadError("path_outside_archive", Place(0, 0, member.filename))
    return path


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: str, remaining: int) -> bytes:
    if member.flag_bits & 1:
        raise ReadError("encrypted", Place(0, 0, path))
    limit = min(remaining, _limit(member.compress_size))
    with refuse_damage("damaged_archive", Place(0, 0, path)), archive.open(member) as file:
        unpacked = file.read(limit + 1)
    if len(unpacked) > limit:
        raise ReadError("unpacks_too_large", Place(0, 0, path), limit=limit)
    if unpacked.startswith((GZIP, ZIP)) and not is_spreadsheet(unpacked):
        raise ReadError("archive_in_archive", Place(0, 0, path))
    return unpacked
