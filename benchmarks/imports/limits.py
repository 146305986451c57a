MAX_FILE_BYTES = 50_000_000
# Total unpacked size of an archive.
MAX_UNPACKED_BYTES = 50_000_000
# Unpacked size of a file divided by its packed size; small files may have any ratio.
MAX_RATIO = 200
RATIO_FREE_BYTES = 1_000_000
MAX_ARCHIVE_FILES = 200
# Documents are read into nodes with positions, at about a megabyte a second.
MAX_DOCUMENT_BYTES = 4_000_000
# Nodes of a YAML document with each alias written out, and of a record.
MAX_NODES = 500_000
MAX_CASES = 20_000
MAX_REPLIES = 200_000
MAX_COLUMNS = 1_000
# A rendered prompt may have as many characters.
MAX_TEXT = 200_000
MAX_DEPTH = 32
MAX_KEY = 120
MAX_TAG = 60
MAX_CASE_FILES = 6
# The child process that reads imports has no settings.
MAX_CASE_FILE_BYTES = 20_000_000
MAX_PROMPTS = 10
MAX_MESSAGES = 10
# A chat of a case may be longer than a prompt of the template.
MAX_CHAT_MESSAGES = 200
MAX_TURNS = 4
MAX_CHECKS = 50
# Entries of each action that the log lists.
MAX_ENTRIES = 1_000
MAX_RESULT_BYTES = 150_000_000
MAX_VALUE_IN_LOG = 200
# Characters of a cell that is shown beside the roles of columns.
MAX_SAMPLE = 80
