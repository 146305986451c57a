import pytest

from models_registry.providers.think_tag import ThinkTag


def parse_pieces(pieces: list[str]) -> tuple[str, str]:
    tag = ThinkTag()
    parts = [tag.part(piece) for piece in pieces] + [tag.rest()]
    return "".join(text for text, _ in parts), "".join(reasoning for _, reasoning in parts)


@pytest.mark.parametrize(
    ("whole", "text", "reasoning"),
    [
        ("<think>so</think>yes", "yes", "so"),
        ("\n <think>\nso\n</think>\n\nyes\n", "yes\n", "\nso\n"),
        ("<think>a < b </thin </think>yes </think>", "yes </think>", "a < b </thin "),
        ("<think>never ends </thi", "", "never ends </thi"),
        ("<think></think>yes", "yes", ""),
        ("yes <think>no</think>", "yes <think>no</think>", ""),
        ("<thinking>", "<thinking>", ""),
        ("<b>", "<b>", ""),
        ("  yes", "  yes", ""),
        ("<thi", "<thi", ""),
        ("", "", ""),
    ],
)
def test_think_tag_is_parsed_at_every_cut(whole: str, text: str, reasoning: str):
    assert parse_pieces([whole]) == (text, reasoning)
    assert parse_pieces(list(whole)) == (text, reasoning)
    for at in range(len(whole)):
        assert parse_pieces([whole[:at], whole[at:]]) == (text, reasoning)
