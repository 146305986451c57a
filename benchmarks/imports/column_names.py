"""Usual names of a table's columns, in several languages."""

import re
import unicodedata
from collections.abc import Iterable

# The first of them that a table has is the question.
_PROMPTS = [
    "prompt", "question", "frage", "pregunta", "domanda", "pergunta", "vraag", "pytanie", "вопрос", "问题", "質問",
    "query", "problem", "instruction", "anfrage", "consigne", "énoncé", "enunciado", "requête", "consulta", "input",
    "eingabe", "aufgabe",
]  # fmt: skip
_NAMES = {
    # Answers must not reach the prompt.
    "expected": (
        "expected answer target ideal reference expected_answer correct_answer right_answer expected_output "
        "ground_truth solution label "
        "antwort erwartet erwartete_antwort richtige_antwort soll lösung musterlösung "
        "attendu réponse réponse_attendue bonne_réponse corrigé "
        "esperado respuesta respuesta_esperada respuesta_correcta solución "
        "risposta risposta_attesa resposta resposta_esperada antwoord odpowiedź ответ 答案 回答"
    ),
    "key": "id key case case_id nr nummer numéro número cas",
    "tag": "tags tag category kategorie catégorie categoría categoria thema thème",
    "cluster": "cluster",
    "weight": "weight gewicht",
}
_ROLES = {name: role for role, names in _NAMES.items() for name in names.split()}


def guess_role(column: str) -> str:
    """Return "variable" for unusual names."""
    return _ROLES.get(_plain(column), "variable")


def find_prompt(columns: Iterable[str]) -> str:
    """Return the column that asks, or ""."""
    by_name = {_plain(column): column for column in columns}
    return next((by_name[name] for name in _PROMPTS if name in by_name), "")


def is_usual(cell: str) -> bool:
    name = _plain(cell)
    return name in _ROLES or name in _PROMPTS


def _plain(column: str) -> str:
    return "_".join(re.findall(r"\w+", unicodedata.normalize("NFC", column).casefold()))
