"""Numbers as a sentence says them, in the language of whoever reads it."""

from django.utils.formats import number_format


def format_numbers(**numbers: int) -> dict[str, str]:
    """Whole numbers for the places of a sentence, their digits in groups: 20,000 in English, 20 000 in French."""
    return {name: number_format(number, force_grouping=True) for name, number in numbers.items()}
