"""Pattern of requests for creative writing: a verb of making, soon followed by a kind of work."""

import re

from battles.text.vocabulary import alternatives

_MAKE = alternatives(
    r"""
    write, compose, create, invent, make up, come up with, craft, draft, continue, finish, tell, give me, imagine,
    generate, pen, describe, give us, help me (?:write|with), écri[st], écrivez, écrire, compose[rz]?, invente[rz]?,
    rédige[rz]?, imagine[rz]?, continue[rz]?, crée[rz]?, raconte(?:-moi)?, schreibe?, erfinde, dichte, verfasse,
    erzähle?, escribe, escriba, inventa, crea, compón, cuenta, escreva, invente, crie, scrivi, componi, schrijf,
    verzin, skriv, napisz
    """
)
_WORK = alternatives(
    r"""
    poems?, haikus?, limericks?, sonnets?, stor(?:y|ies), tales?, fairy ?tales?, fables?, novels?, novella, lyrics,
    songs?, raps?, rap verses?, ballads?, screenplays?, scripts? for a, scenes?, monologues?, dialogues?, dialogs?,
    slogans?, taglines?, jingles?, love letters?, letters? from, eulog(?:y|ies), fan ?fictions?,
    diary entr(?:y|ies), blog posts?, fantasy worlds?, characters?, parod(?:y|ies), toasts?, wedding speech(?:es)?,
    villains?, plots?, poetry, prose, comed(?:y|ies), sketch(?:es)?, names for, opening lines?, thriller, my novel,
    superstitions?, myths?, legends?, riddles?, puns?, backstor(?:y|ies), poèmes?, haïkus?, histoires?, contes?,
    nouvelles?, romans?, chansons?, paroles, scènes?, lettres? d['’]amour, personnages?, discours de mariage,
    gedichte?, \w{0,20}geschichten?, märchen, romane?, lied(?:er)?, liedtext, dialoge?, szenen?, fabeln?, poemas?,
    cuentos?, historias?, novelas?, canci(?:ón|ones), letra, esl[óo]gan(?:es)?, diálogos?, guion, contos?,
    histórias?, canção, canções, poesi[ae], raccont[oi], storie?, canzon[ei], favol[ae], dialogh?[io],
    gedicht(?:en)?, verhaal, verhalen, dikt, dikter, berättelse, wiersz, opowiadanie
    """
)
# "Tell me the story of the French Revolution" asks for facts.
_NOT_ABOUT_FACTS = r"(?! (?:of|about) (?:how|the (?:french|american|second|first|world|cold|roman)))"
_POSE = alternatives(
    r"""
    role-?play, pretend (?:to be|you are), jeu de rôle, once upon a time, il était une fois, es war einmal,
    érase una vez, in the style of, from the (?:perspective|point of view) of,
    imagine (?:you are|you['’]re|being|a world), dans le style de, im stil von, al estilo de, haikus?, haïkus?,
    limericks?, bedtime story, in character,
    you are a \w+ (?:wizard|pirate|knight|detective|vampire|dragon|robot|king|queen|witch), worldbuilding,
    tu es un (?:pirate|chevalier|sorcier|dragon)
    """
)
_OTHER_LANGUAGES = (
    r"напиши[^.?!\n]{0,30}(?:стих|рассказ|сказк|песн|поэм)",
    r"(?:сочини|придумай)[^.?!\n]{0,30}(?:стих|рассказ|сказк|песн|истори)",
    r"写(?:一)?[^。?!\n]{0,12}(?:诗|故事|小说|歌词|散文|剧本)",
    r"(?:詩|俳句|物語|小説|歌詞)[^。?!\n]{0,8}(?:書いて|作って)",
    r"(?:اكتب|ألف|احك).{0,12}(?:قصة|قصيدة|شعر)",
    r"(?:시를|소설을|이야기를|동화를|가사를).{0,6}(?:써|지어|만들)",
    r"(?:şiir|hikaye|öykü|masal).{0,10}yaz",
    r"(?:कविता|कहानी).{0,10}लिख",
    r"(?:viết|sáng tác).{0,20}(?:thơ|truyện|chuyện)",
    r"(?:tulis|buat)\w{0,10}.{0,10}(?:puisi|cerita|cerpen)",
)

CREATIVE = re.compile(
    rf"(?<!\w){_MAKE}(?!\w)[^.?!\n]{{0,40}}(?<!\w){_WORK}(?!\w){_NOT_ABOUT_FACTS}|(?<!\w){_POSE}(?!\w)|"
    + "|".join(_OTHER_LANGUAGES),
    re.IGNORECASE,
)
