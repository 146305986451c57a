def is_damage(error: BaseException) -> bool:
    """Return whether a library refuses a file so; a panic of one written in Rust is no Exception."""
    if isinstance(error, Exception):
        return not isinstance(error, MemoryError)
    return type(error).__name__ == "PanicException"
