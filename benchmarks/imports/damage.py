from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.imports.codes import Code
from benchmarks.imports.reading_log import Place, ReadError
from common.panics import is_damage


@contextmanager
def refuse_damage(code: Code, place: Place) -> Iterator[None]:
    """Raise a ReadError for each error of a library, without its text, which is about the library's code."""
    try:
        yield
    except ReadError:
        raise
    except BaseException as error:
        if not is_damage(error):
            raise
        raise ReadError(code, place) from error
