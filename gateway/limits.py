from django.conf import settings

# Images are most of it.
MAX_BODY_BYTES = 20_000_000
# Of all messages together; one message of a user is limited as a prompt of a battle is.
MAX_CHARACTERS = 400_000
# Requests under way in one web process: of one person, and of all.
MAX_AT_ONCE_OF_PERSON, MAX_AT_ONCE = 100, 400


def max_prompt_characters() -> int:
    return int(settings.ARENA_PROMPT_CHARACTERS)
