from django.utils.formats import number_format


def format_numbers(**numbers: int) -> dict[str, str]:
    """Return integers with grouped digits for a sentence's placeholders: 20,000 in English, 20 000 in French."""
    return {name: number_format(number, force_grouping=True) for name, number in numbers.items()}
