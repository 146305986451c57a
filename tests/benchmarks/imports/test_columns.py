"""Roles of a table's columns, given or guessed by usual names."""

import pytest

from benchmarks.imports.content import Case, Request
from benchmarks.imports.reading import read_import

TABLE = b"nr,q,a,b,theme,level,group,w,note\n7,Why?,so,thus,x,hard,g,2,none\n"


def only_case(table: bytes, **roles: str) -> Case:
    [case] = read_import(table, Request("own.csv", mapping=roles)).template.cases
    return case


def test_columns_get_all_documented_roles():
    case = only_case(
        TABLE, nr="key", q="variable:question", a="expected", b="expected", theme="tag", level="tag", group="cluster",
        w="weight", note="ignore",
    )  # fmt: skip
    assert case == Case("7", {"question": "Why?"}, ["so", "thus"], tags=["x", "hard"], cluster="g", weight=2.0)


def test_metadata_and_a_prompt_of_its_own_are_roles():
    imported = read_import(b"q,from,land\nWhy?,web,FR\n", Request("own.csv", mapping={
        "q": "prompt", "from": "metadata", "land": "metadata:country",
    }))  # fmt: skip
    [case] = imported.template.cases
    assert (case.variables, case.metadata) == ({"q": "Why?"}, {"from": "web", "country": "FR"})
    assert imported.template.prompts[0].messages[0].text == "{{ q }}"


@pytest.mark.parametrize("name", ["expected", "answer", "target", "reference"])
def test_usual_names_are_guessed(name: str):
    table = f'id,question,{name},category,tags,cluster,weight\na,Why?,so,x,"y, z",g,3\n'
    assert only_case(table.encode()) == Case(
        "a", {"question": "Why?"}, ["so"], tags=["x", "y", "z"], cluster="g", weight=3.0
    )


def test_usual_names_are_variables_beside_a_given_role():
    case = only_case(b"id,question,answer\na,Why?,so\n", question="prompt")
    assert (case.key, case.variables, case.expected) == ("1", {"id": "a", "question": "Why?", "answer": "so"}, [])
