from django.utils.formats import number_format

# Numbers of more digits are larger than a bigint may be.
MAX_DIGITS = 18


def format_numbers(**numbers: int) -> dict[str, str]:
    """Return integers with grouped digits for a sentence's placeholders: 20,000 in English, 20 000 in French."""
    return {name: number_format(number, force_grouping=True) for name, number in numbers.items()}


def two_decimals(value: float) -> str:
    """Return a number with a minus sign, not a hyphen, below 0."""
    rounded = round(value, 2)
    return f"{'−' if rounded < 0 else ''}{number_format(abs(rounded), 2)}"


def parse_whole_number(text: str, *, max_digits: int = MAX_DIGITS) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= max_digits else None
