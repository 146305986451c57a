import pytest

from battles.streaming.markdown_blocks import BlockSplitter


def split(text: str, *, step: int) -> tuple[list[str], list[str]]:
    """Return the blocks, the last one open, and the forms of open blocks."""
    splitter, blocks, forms = BlockSplitter(), [], [""]
    for start in range(0, len(text), step):
        blocks += splitter.feed(text[start : start + step])
        form = splitter.form if splitter.form_end else ""
        if form != forms[-1]:
            forms.append(form)
    return [*blocks, splitter.open], [form for form in forms if form]


@pytest.mark.parametrize(
    "blocks",
    [
        ["one\ntwo\n\n\n", "three"],
        ["# one\n\n", "two\n", "## three\n", "four"],
        ["one\n", "- two\n  more\n\n  and more\n", "- three\n", "* four\n\n", "five"],
        ["in\n1986. the year\n", "1. one\n", "2. two\n   - nested\n\n", "end"],
        ["one:\n", "```python\n# no heading\n\n- no item\n```\n\n", "two"],
        ["1. one\n   ~~~\n- no item\n   ~~~\n   more\n", "2. two"],
        ["$$\na\n- b\n$$\n\n", "\\[\n# c\n\\]\n\n", "end"],
        ["one\n---\ntwo ```x``` three\n\n", "four"],
        ["| a | b |\n|---|:-:|\n| - c | d |\n", "- end"],
    ],
)
def test_blocks_end_where_the_next_begins(blocks: list[str]):
    text = "".join(blocks)
    assert [split(text, step=step)[0] for step in (1, 3, len(text))] == [blocks] * 3


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("## one", ["## "]),
        ("1. one\n   - two\n3) three", ["1. ", "1. one\n   - ", "3) "]),
        ("so **it** is, **so**: yes", ["so **it** ", "so **it** is, **so**:"]),
        ("```python\nx\n\ny", ["```python\n"]),
        ("- a\n  ```\n  x\n  ```\n  b", ["- ", "- a\n  ```\n  ", "- a\n  ```\n  x\n  ```\n"]),
        ("|a|b|\n|-|-|\n|1|2|\n|3", ["|a|b|\n|-|-|\n\n", "|a|b|\n|-|-|\n|1|2|\n\n"]),
        ("2 * 3 ** 4, -5, a - b, 1.5 #no", []),
    ],
)
def test_open_block_has_a_form_where_markup_begins(text: str, forms: list[str]):
    assert split(text, step=1)[1] == forms
