from tools.screenshots.pictures import ADMINISTRATION, BATTLES, BENCHMARKS, BOARDS, ERRORS, PEOPLE, Picture, World

HEAD = """# Every page of the arena

Taken by `make screenshots`, which starts an arena of its own with the small local model: each page in `light`, in
`dark`, and as a `phone` of 360 pixels shows it.

The answers are the local model's own. {played} blind battles were really played on it, and a script voted, for the
longer of two answers. Pictures marked *generated* show beside those {generated} battles that nobody played: their
prompts and answers are copies; people, votes, stars, reports and verdicts are made up.
"""
PARTS = {
    "Battles": BATTLES,
    "People": PEOPLE,
    "Boards": BOARDS,
    "Benchmarks": BENCHMARKS,
    "Administration": ADMINISTRATION,
    "Errors": ERRORS,
}


def captions(played: int, generated: int) -> str:
    tables = [
        f"\n## {title}\n\n| picture | address | seen by | |\n|---|---|---|---|\n" + "".join(map(_line, pictures))
        for title, pictures in PARTS.items()
    ]
    return HEAD.format(played=played, generated=generated) + "".join(tables)


def _line(picture: Picture) -> str:
    looks = " · ".join(f"[{look}]({look}/{picture.name}.png)" for look in ("light", "dark", "phone"))
    made_up = "generated" if picture.world == World.GENERATED else ""
    return f"| {picture.name}: {looks} | `{picture.address}` | {picture.who} | {made_up} |\n"
