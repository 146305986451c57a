"""Patterns of checkable instructions about an answer's form: length, format, required and forbidden words."""

import re

from battles.text.vocabulary import alternatives

_NUMBER = alternatives(
    r"""
    \d{1,5}, one, two, three, four, five, six, seven, eight, nine, ten, une?, deux, trois, quatre, cinq, sept, huit,
    neuf, dix, einen?, einem, zwei, drei, vier, fünf, sechs, sieben, acht, neun, zehn, una?, dos, tres, cuatro,
    cinco, seis, due, tre, quattro, duas, dois, três
    """
)
_UNIT = alternatives(
    r"""
    words?, sentences?, paragraphs?, characters?, lines?, bullet ?points?, bullets?, points?, items?, stanzas?,
    steps?, columns?, entries, examples?, letters?, syllables?, tokens?, hashtags?, emojis?, mots?, phrases?,
    paragraphes?, caractères?, lignes?, puces, étapes, colonnes?, wörtern?, worten?, sätzen?, absätzen?, zeilen,
    zeichen, stichpunkten?, spalten, palabras, frases?, oraciones, párrafos?, líneas, viñetas, parole, frasi, righe,
    palavras, parágrafos?, linhas
    """
)
_EXACTLY = alternatives("exactly, precisely, exactement, précisément, genau, exactamente, esattamente, exatamente")
_BOUND = alternatives(
    r"""
    at most, at least, no more than, not more than, under, fewer than, less than, up to, within, maximum(?: of)?,
    max\.?, au plus, au maximum, au moins, moins de, pas plus de, höchstens, maximal, mindestens, weniger als,
    como máximo, máximo, menos de, al massimo, meno di, no máximo
    """
)
_IN = r"(?:in|using|with|of|en|avec|mit|con|em|com|de) (?:only |just |exactly |seulement |nur |solo |apenas )?"
_AFTER = "(?:max(?:imum)?|min(?:imum)?|or (?:less|fewer|more)|only|each|long|au plus|maximal|como máximo)"
_LENGTHS = (
    f"{_EXACTLY} {_NUMBER}",
    rf"{_BOUND} {_NUMBER} (?:\w+ )?{_UNIT}",
    rf"{_IN}{_NUMBER}[ -](?:\w+ )?{_UNIT}",
    f"{_NUMBER}[ -]{_UNIT} {_AFTER}",
)
_WITHOUT = r"""
    without (?:using|the (?:word|letter)|mentioning|any), do(?: no|n['’])t (?:use|mention|include),
    does not contain, avoid (?:using|the word), do(?: no|n['’])t (?:translate|explain|change|add|repeat|write),
    leave out, only use, use only, keep the (?:format|line breaks|structure|order|original), no more, nothing more,
    never (?:use|mention), no explanations?, nothing else, no punctuation, no introduction,
    sans (?:utiliser|employer|mentionner|citer|explications?|le mot|la lettre|introduction), n['’]utilise(?:z)? pas,
    rien d['’]autre, ohne (?:zu|das wort|den buchstaben|erklärung), verwende (?:nicht|kein\w*),
    sin (?:usar|utilizar|mencionar|explicaci\w+), senza (?:usare|spiegazion\w+), sem (?:usar|explica\w+)
    """
_FORMAT = r"""
    (?:answer|reply|respond|output|return)(?: \w+){0,2} (?:only|just|solely),
    (?:only|just) (?:answer|reply|respond|output|return), (?:json|yaml|csv|markdown|xml|html) only,
    only (?:json|yaml|csv|markdown), (?:in|as) (?:valid )?(?:json|yaml|csv|markdown|xml), separated by commas,
    uniquement, seulement (?:en|sous|par), réponds (?:juste|seulement), séparés? par des virgules,
    (?:als|im) (?:json|yaml|csv), json-(?:liste|format|objekt), antworte nur,
    responde (?:solo|sólo|únicamente|apenas), rispondi solo
    """
_SHAPE = r"""
    all(?: in)? (?:lower|upper) ?case, in (?:lower|upper) ?case, all caps, en (?:majuscules|minuscules),
    in großbuchstaben, en mayúsculas,
    (?:every|each) (?:sentence|line|word|paragraph) (?:must |should )?(?:begin|start|end|rhyme)\w*,
    chaque (?:phrase|ligne|mot) (?:doit|commence),
    (?:start|begin|end)s? with (?:the|a|an) (?:word|letter|question|sentence), sort(?:ed)? by,
    alphabetical(?:ly)?(?: order)?, that rhymes
    """
_USUAL = r"""
    (?:formal|informal|polite|friendly|neutral|academic) (?:tone|language|style), ton (?:formel|neutre|amical),
    bullet ?points?, numbered list, (?:give me|in|as) a table, liste à puces, liste numérotée, sous forme de,
    tableau, als (?:liste|tabelle), stichpunkte\w*, en una (?:lista|tabla), must (?:include|mention|contain),
    mention the, cite the, in (?:one|a single) sentence, in quotation marks, in bold, numbered list,
    as a numbered list, en une phrase, in einem satz
    """


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){pattern}(?!\w)", re.IGNORECASE)


# Each is one kind of instruction; battles.text.classifier decides how many are needed.
STRICT_INSTRUCTIONS = tuple(
    _compile(pattern)
    for pattern in (f"(?:{'|'.join(_LENGTHS)})", alternatives(_WITHOUT), alternatives(_FORMAT), alternatives(_SHAPE))
)
# Too frequent to count alone.
LOOSE_INSTRUCTIONS = (_compile(rf"{_NUMBER}[- ]{_UNIT}"), _compile(alternatives(_USUAL)))
