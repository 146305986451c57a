# Pictures and files are most of it.
MAX_BODY_BYTES = 16_000_000
# Requests under way in one web process: of one person, and of all.
MAX_AT_ONCE_OF_PERSON, MAX_AT_ONCE = 100, 400
