"""Words around the choice that an answer names, in English, French, German and Spanish."""

import re

_NOUN = (
    r"(?:answer|ans\.?|response|reply|choice|selection|selected|correct|solution|r[ée]ponse|choix|antwort|l[öo]sung|respuesta|risposta|resposta|答案|答え|"
    r"回答|ответ|정답|(?:correct|right|best|chosen|selected|final|bonne|richtige|correcta) (?:option|letter))"
)
_ADJECTIVE = r"(?: (?:finale?|correcte?|correcta|juste|here|then))?"
ANSWER_HEADING = re.compile(rf"(?:\w{{1,12}} ){{0,3}}{_NOUN}{_ADJECTIVE}", re.IGNORECASE)
# "Answer: B", "Answer - B", and "Final answer" as a line of its own.
LINE = re.compile(
    rf"(?<!\w){_NOUN}{_ADJECTIVE}\s{{0,3}}(?:[:=|]|->|=>|→|\s[-–—]\s)\s{{0,20}}"
    rf"|^(?:\w{{1,12}} ){{0,3}}{_NOUN}{_ADJECTIVE}[ \t]{{0,9}}\n\s{{0,20}}",
    re.IGNORECASE | re.MULTILINE,
)
_IS = (
    r"(?:'s| is| would be| must be| should be| has to be| will be| was| est| serait| doit être| ist| lautet| wäre| es|"
    r" sería| è)"
)
# "The answer is B", "I would go with B".
SENTENCE = re.compile(
    rf"(?<!\w)(?:(?:{_NOUN}|option|letter|one|lettre|opción|opzione){_ADJECTIVE}{_IS}"
    r"|(?:i|we|i'd|i'll|let's|i am|i'm)(?: (?:would|will|have|to|am|'d)){0,2} (?:choose|pick|select|go with|going with|"
    r"opt for|vote for|settle on|say|think|guess|believe)(?: (?:it's|it is|that it is))?"
    r"|je (?:choisis|dirais|pense|prends|opte pour|sélectionne|vote pour)"
    r"|ich (?:wähle|nehme|tippe auf|denke|glaube)"
    r"|(?:elijo|escojo|selecciono|opto por|me quedo con|yo diría))(?!\w)",
    re.IGNORECASE,
)
# "it is B", "so B": only at the end of a clause.
CLAUSE = re.compile(
    r"(?<!\w)(?:it's|it is|it must be|it should be|that's|that is|this is|c'est|ce serait|es ist|das ist|therefore|"
    r"thus|hence|so|donc|also|but|sondern|sino|mais|es)(?!\w),?",
    re.IGNORECASE,
)
# Words after a label: "B is the correct answer".
IS_RIGHT = re.compile(
    r"[)\].]? (?:is|seems|must be|est|ist|es)(?: (?:clearly|indeed|the|la|le|die|der|das|only|l')){0,3} ?"
    r"(?:correct|right|best|answer|only one|bonne|correcte|juste|réponse|richtig|richtige|respuesta)"
    r"(?=\s*[.,;:!)\n]|\s*$| answer| option| that| which|"
    r" choice| one| because| since| as | réponse| antwort| respuesta| correcta)",
    re.IGNORECASE,
)
IS_WRONG = re.compile(
    r"[)\].]? (?:is|was|seems|est|ist|es)(?: \w{1,12})? ?(?:not|wrong|incorrect|false|faux|fausse|falsch|incorrecta)\b"
    r"|[)\].]? (?:isn't|can't|cannot|n'est pas|no es)(?!\w)",
    re.IGNORECASE,
)
NEGATION = re.compile(
    r"(?:\b(?:not|never|neither|nor|rather than|instead of|except|pas|ni|nicht|keine?|no es)|n't)"
    r"(?: (?:option|choice|the|a|an|la|le|die|der|das|el|than)){0,2}[\s(]{1,3}\Z",
    re.IGNORECASE,
)
FILLER = re.compile(
    r"(?:[\s:,({\[']|(?:clearly|definitely|probably|most likely|likely|indeed|thus|therefore|option|choice|letter|"
    r"answer|the|either|both|la|le|l'|die|der|das|el|opción|lettre|choix|buchstabe|bien|donc|also|certainly)(?!\w)){1,20}",
    re.IGNORECASE,
)
NEGATIVE = re.compile(r"(?:not|none|neither|never|pas|aucune?|nicht|keine?|ninguna?)(?!\w)", re.IGNORECASE)
AND_OR = re.compile(
    r"[\s)\]'.]{0,3}(?:,|/|&|\+|,? ?(?:and|or|et|ou|und|oder|y|o)(?!\w))[\s(\[']{0,3}(?:option )?", re.IGNORECASE
)
IS_SINGULAR = re.compile(r"[)\].]? (?:is|was|has|would|isn't|est|ist|es|a)(?!\w)", re.IGNORECASE)
ONLY_AND_OR = re.compile(r"(?:[^\w]|and|or|et|ou|und|oder|y|o)*", re.IGNORECASE)
# These words may stand before a label at the start of a line.
LEAD = re.compile(
    r"\s*((?:(?:option|choice|answer|letter|lettre|choix|opción|choose|pick|select|definitely|probably|clearly)\s+)"
    r"{1,3})?[(\[]?",
    re.IGNORECASE,
)
CLAUSE_END = re.compile(
    r"[)\]']?\s{0,3}(?:[.,;!:)\n—–-]|\Z|(?:because|since|as|not|and not|car|weil|da|porque|pas|nicht)(?!\w))", re.I
)
# A label that may be a word, such as "a", is a label only before these.
NO_NOUN = re.compile(
    r"[^\w\s]|\s*\Z|\s*\n|\s+(?:[^\w\s]|(?:because|since|as|so|for|and|or|but|not|with|by|is|was|the|which|car|parce|"
    r"puisque|et|ou|mais|est|weil|da|und|oder|ist|nicht|porque|pues|ya|y|o|es|le|la|les|der|die|das|el)(?!\w))",
    re.IGNORECASE,
)
CORRECTION = re.compile(
    r"(?:^|[.!?…;:—–,\n]\s{0,3})(?:(?:no|non|nein|but)[,.]? )?(?:wait|hold on|actually|correction|hmm+|sorry|oops|"
    r"scratch that|on second thought|attendez|attends|en fait|pardon|moment|warte|halt|espera|perdón|"
    r"en realidad)(?!\w)",
    re.IGNORECASE,
)
