"""Word lists of the classifier in en, fr, de, es, it, pt, nl, ru, zh and ja.

Entries have no nested repetition, so that no prompt takes long.
"""

import re

# Characters of Latin words, numbers and names; other scripts are excluded.
_LETTER = r"a-z0-9_\u00c0-\u024f"


def alternatives(phrases: str) -> str:
    """Return a group of phrases, which a comma and white space separate."""
    return "(?:" + "|".join(" ".join(phrase.split()) for phrase in re.split(r",\s+", phrases) if phrase.strip()) + ")"


def word_pattern(phrases: str, *, inside: str = "") -> re.Pattern[str]:
    """Return a pattern of `phrases` as whole words, or `inside` anywhere (scripts without spaces, stems).

    A Chinese or Japanese character beside a Latin word counts as a word boundary.
    """
    whole = rf"(?<![{_LETTER}]){alternatives(phrases)}(?![{_LETTER}])"
    return re.compile(f"{whole}|{alternatives(inside)}" if inside else whole, re.IGNORECASE)


# Unambiguous names of languages and tools.
PROGRAMMING = word_pattern(
    r"""
    javascript, typescript, node\.?js, python(?! snakes?| as a pet)[23]?, c\+\+, c#, golang, rustc, kotlin, php,
    haskell, fortran, cobol, matlab, sql, postgres(?:ql)?, mysql, sqlite, mongodb, html5?, css3?, json, yaml, xml,
    regexp?, bash, powershell, docker(?:file)?, docker[- ]compose, kubernetes, kubectl, django, fastapi, vue\.?js,
    numpy, pytorch, pygame, tensorflow, pytest, junit, git(?:hub|lab)?, npm, pip, cmake, makefile, webpack, graphql,
    v-?lookup, x-?lookup, pivot tables?, swiftui, ruby on rails, laravel, terraform, excel formula, vba, wordpress,
    arduino, raspberry pi, redis, elasticsearch, kafka, rabbitmq, nginx, flutter, firebase, next\.?js, svelte,
    jquery, bootstrap, tailwind, express\.?js, spring boot, hibernate, dotnet, \.net, asp\.net, linq, openssl,
    systemd, crontab, ssh, awk, sed, grep, ffmpeg, gdb, valgrind, llvm, gcc, clang, cuda, opencv, scikit-learn,
    matplotlib, jupyter, selenium, playwright, postman, swagger, oauth2?, jwt, webhooks?, websockets?, unity3d,
    godot, pygame, lua, julia lang, elixir, erlang, clojure, ocaml, prolog, assembly code, x86, verilog, vhdl,
    solidity, smart contract, hugging ?face, langchain
    """,
    inside=r"""
    파이썬, 코드, 자바스크립트
    """,
)

# Names with other meanings and terms that other fields use too: two different ones are needed.
AMBIGUOUS_PROGRAMMING = word_pattern(
    r"""
    java, rust, swift, ruby, perl, scala, react, flask, angular, pandas, latex, excel, functions?, class(?:es)?,
    strings?, arrays?, loops?, scripts?, variables?, librar(?:y|ies), code, bugs?, program(?:s|me)?, api, server,
    component, pointers?, compile[rs]?, install, csv, file, query, algorithm, async, undefined, element, fonctions?,
    boucles?, tableau, programme, requête, fichiers?, funktion(?:en)?, programm, schleife, skript, función,
    programa, consulta, funzione, programma, função, functie, sort(?:ed|s)?, trie, sortiere?n?
    """,
    inside=r"""
    函数, 排序, ソート, 関数, функци, спис
    """,
)

# Phrases about programs.
CODING = word_pattern(
    r"""
    garbage collect(?:ion|or), destructors?, constructors?, inheritance in, polymorphism, lambda function, closure,
    callback, one-liner, command line, regular expression, data structures?, recursive function, big ?o,
    last commit, merge conflict, git commit, environment variable, http (?:request|status|error), status code,
    (?:get|post|put) (?:request|to it), 40[0345] (?:when|error), foreign key, primary key, left join, inner join,
    object-oriented, design pattern, dependency injection, microservices?, load balancer, ci/cd, web scraper,
    web scraping,
    (?:write|create|make|build|code) (?:me )?an? (?:\w+ ){0,3}(?:program|script|app|game|bot|website|plugin|parser),
    stack ?trace, traceback, segmentation fault, segfault, null ?pointer, \w{2,40}(?:exception|error),
    compil(?:er?|es|ing|ation) error, unit tests?, race condition, memory leak, linked list, hash ?map,
    binary (?:search|tree), quick ?sort, merge ?sort, bubble ?sort, source code, code review, snippet, pull request,
    api endpoint, rest api, lock-free, mutex, deadlock, async(?:io)?, refactor\w*, debug(?:ge?[rn]|ging)?, leetcode,
    (?:time|space) complexity, for[- ](?:loop|lus), while[- ]loop, (?:discord|telegram|slack|trading) bot,
    web ?site, web ?page, landing page, web app, android app, ios app, chrome extension, webseite, site web,
    página web, sito web, boucle infinie, pseudo-?code, codebase, (?:shell|bash|python) script, this code, my code,
    the code, ce code, mon code, code source, liste chaînée, dieser code, diesen code, mein code, este código,
    mi código, questo codice, il mio codice, meu código, deze code
    """,
    inside=r"""
    代码, 编程, 程序, コード, プログラム, программ[уы], скрипт
    """,
)

# Syntax that occurs in programs and hardly ever in prose.
CODE_SYNTAX = re.compile(
    r"^[ \t]*(?:def \w+\(|class \w+[(:{]|import \w+(?:\.\w+)*;?$|from \w+(?:\.\w+)* import |#include\s*[<\"]|"
    r"(?:public|private|static) \w+|function \w*\(|(?:const|let|var) \w+ ?=|if ?\(.{1,80}\) ?\{|for ?\(.{1,80}\) ?\{|"
    r"while ?\(.{1,80}\) ?\{|package \w+;?$|#!/|fn \w+\(|async def )"
    r"|\bSELECT\b.{1,200}\bFROM\b|\bINSERT INTO\b|\bCREATE TABLE\b|\bconsole\.log\(|\bprintf?\(|\bSystem\.out\."
    r"|=> ?\{|\);\s*$|\w\(\w{0,30}\);|</(?:div|span|html|body|script|p|a)>|\{\s*\"\w+\"\s*:|&&|\|\||->\w|::\w|!=|==="
    r"|\bfor ?\(int \w",
    re.MULTILINE,
)

MATHS = word_pattern(
    r"""
    equations?, integrals?, derivatives?, differentiate, eigenvalues?, eigenvectors?, matri(?:x|ces), polynomials?,
    logarithms?, theorem, lemma, corollary, prove that, proof that, probability (?:of|that), permutations?,
    combinatori\w+, how many ways, square root, cube root, factori[sz]e, primes?, prime numbers?, geometry,
    trigonometr\w+, calculus, algebra(?:ic)?, hypotenuse, pythagore?an, modulo, standard deviation of, arithmetic,
    integral domain, isomorph\w+, km/h, mph, compound interest, odd numbers, even numbers, natural numbers,
    real numbers, complex numbers, sum of the, product of the, limit of, as \w approaches, log base, logarithm,
    common denominator, fractions?, decimals, converge(?:s|nce)?, taylor series, fourier, laplace, binomial, bayes,
    expected value, variance of, confidence interval, p-value, twice as old, how old (?:is|are|was),
    cubic (?:meters?|metres?|feet), rectangle, triangle, abelian, finite group, vector space, topolog\w+,
    divisible by, remainder, multiplied by, divided by, is \d+ (?:a )?prime, circle with, hexagon, sine, tangent to,
    area of, volume of, perimeter, circumference, radius, diagonal of, as a (?:decimal|fraction|percentage),
    without replacement, greatest common divisor, least common multiple, gcd, lcm, average of, median of, mean of,
    percent of, percentage (?:of|increase|change), integrate, fahrenheit, celsius to, convert \d+, solve for,
    inequality, quadratic, logarithmic, cosine, arcsin, arctan, vectors?, odds of, dice, pourcentage, pour ?cent de,
    aire d['’]un, périmètre, moyenne de, prozent von, durchschnitt von, fläche, umfang, por ?ciento de, porcentaje,
    pole koła, oblicz, área de, promedio, percentuale, porcentagem, équation, intégrale, dérivée, démontrer?,
    démontre, probabilité, racine carrée, racine de, théorème, combien font, nombres? premiers?, matrice, gleichung,
    ableitung, beweise?, wahrscheinlichkeit, primzahl\w*, quadratwurzel, wurzel aus, berechne, ecuaci[óo]n,
    derivada, probabilidad, teorema, raíz cuadrada, equazione, derivata, probabilità, radice quadrata, equação,
    probabilidade, raiz quadrada, vergelijking, kansrekening
    """,
    inside=r"""
    вычисли, уравнени, производн, интеграл, вероятност, докажи, 方程, 积分, 概率, 证明, 求导, 方程式, 微分,
    確率, 最大公約数, 面积, 面積, 体积, 平方, 방정식, 확률, 넓이, 미분, معادلة, समीकरण
    """,
)

# Calculations and formulas: operations on numbers or letters, percentages, mathematical signs.
FORMULAS = re.compile(
    r"\\(?:frac|int|sum|sqrt|mathbb|lim|cdot|infty|le|ge|begin\{[pb]?matrix)\b|[∫∑√∂∞≤≥≠±×÷∈∀∃]|\[\[-?\d"
    r"|(?<![\w.])\(?\d+(?:[.,]\d+)?\)?\s?[*×÷^+]\s?\(?\d+(?:[.,]\d+)?\)?(?![\w/.-])"
    r"|(?<!\w)\d{0,6}[a-z](?:\^\d+)?(?:\s?[+*]\s?| - )\d{1,9}(?!\w)|\b[a-z]\^\d|\b\d{1,9}\s?%\s(?:of|de|von|di)\b"
    r"|(?<!\w)\d+(?:[.,]\d+)?\s(?:times|divided by|multiplied by|plus|minus|fois|multiplié par|divisé par|mal|"
    r"geteilt durch)\s\d",
    re.IGNORECASE,
)
# The question of a mathematical problem in words; the classifier also requires numbers.
QUANTITY_QUESTION = re.compile(
    r"(?<!\w)(?:how (?:many|much|long|far|old|fast|tall)|what is the (?:chance|total|average|ratio)|combien|"
    r"quelle distance|wie (?:viele?|lange|weit)|cu[áa]nt[oa]s?|quant[oiea]s?)(?!\w)[^?]{0,200}\?",
    re.IGNORECASE,
)
NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)?")

# Requests to weigh, derive or build something, not to look it up.
REASONING = word_pattern(
    r"""
    prove, proof, derive, analy[sz]e, evaluate, justif(?:y|ied), trade-?offs?, critique, design, optimi[sz]e,
    implement, architect(?:ure)?, debug, refactor, recommend one, counterexample, diagnos\w+, weigh, compare,
    contrast, assess, hypothes[ei]s, confounders?, complexity, explain (?:\w+ )?(?:why|how|which|where), propose,
    argument, step[- ]by[- ]step, reasons, recommend(?:ation|ed)?s?, quantify, lay out, how would (?:you|one|i),
    depends? on, pros and cons, strateg(?:y|ies), mitigat\w+, implications?, estimate, interpret, critically,
    find the (?:bug|error|race|leak), generali[sz]e, show that, démontre[rz]?, prouve[rz]?, analyse[rz]?,
    évalue[rz]?, justifie[rz]?, conçois, concevoir, optimise[rz]?, compare[rz]?, discute[rz]?, généralise[rz]?,
    étape par étape, recommandation, hypothèses?, soutenabilité, beweise?, analysiere, bewerte, begründe, entwirf,
    vergleiche, optimiere, schritt für schritt, demuestra, analiza, evalúa, justifica, diseña, compara, paso a paso,
    dimostra, analizza, valuta, giustifica, confronta, prova que, analise, avalie, justifique, passo a passo
    """,
    inside=r"""
    проанализируй, сравни, обоснуй, докажи, 分析, 比较, 证明, 设计, 比較, 分析して, 証明
    """,
)
