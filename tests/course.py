# SPDX-License-Identifier: Apache-2.0
"""The course of docs/course: its code runs as that of the guides does (tests/guides.py); each chapter has a program, a
difference between two stages, a picture, three exercises and their answers; every term that it marks is in the
glossary; the pictures are those that scripts/course-pictures draws."""
import pathlib
import re
import subprocess
import tempfile

import guides

ROOT = pathlib.Path(__file__).resolve().parent.parent
COURSE = ROOT / "docs/course"
CHAPTERS, EXERCISES = 14, 3
FEWEST, MOST = 1200, 2000  # words of a chapter


def chapters():
    return [page for page in guides.pages(COURSE) if page.name != "README.md"]


def prose(page):
    """The text without fences."""
    return guides.FENCE.sub("", page.read_text())


def part(text, heading):
    """What stands below a heading."""
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return found.group(1) if found else ""


def numbered(text):
    """The items of a list, by their numbers."""
    items = re.split(r"^(\d+)\. ", text, flags=re.M)
    return dict(zip(map(int, items[1::2]), items[2::2]))


def form_of(page):
    text, number = page.read_text(), int(page.name[:2])
    languages = [language for language, *_ in guides.fences(page)]
    exercises, answers = numbered(part(prose(page), "Exercises")), numbered(part(text, "Answers"))
    words = len(prose(page).split())
    pictures = re.findall(r"!\[[^]]+\]\((pictures/[\w-]+\.svg)\)", text)
    wanted = list(range(1, EXERCISES + 1))
    if not text.startswith(f"# {number}. "):
        yield "the title does not begin with its number"
    if not FEWEST <= words <= MOST:
        yield f"{words} words"
    if not any(guides.name_of(body) for language, body, _ in guides.fences(page) if language == "toy"):
        yield "no program with a name"
    if "diff" not in languages:
        yield "no difference between stages"
    if list(exercises) != wanted or list(answers) != wanted:
        yield f"exercises {list(exercises)}, answers {list(answers)}"
    yield from (f"answer {n} has no code" for n, answer in answers.items() if "```" not in answer)
    if not pictures:
        yield "no picture"
    yield from (f"{picture} is not there" for picture in pictures if not (COURSE / picture).exists())


def form(_toy):
    problems = [problem for page in guides.pages(COURSE) for problem in guides.form_of_fences(page)]
    problems += [f"{page.name}: {problem}" for page in chapters() for problem in form_of(page)]
    index = (COURSE / "README.md").read_text()
    linked = re.findall(r"\]\((\d\d-[\w-]+\.md)\)", index)
    if linked != [page.name for page in chapters()] or len(linked) != CHAPTERS:
        problems.append(f"README.md names {linked}")
    return "\n".join(problems) or None


def terms_are_explained(_toy):
    """A term stands between stars where it is explained, once in the course, and has a row of the glossary."""
    rows = re.findall(r"^\| ([^|]+) \|", (ROOT / "docs/glossary.md").read_text(), re.M)
    problems, seen = [], set()
    for page in chapters():
        marked = re.findall(r"(?<![*\w])\*(\w[^*]*?)\*(?![*\w])", re.sub(r"`[^`]*`", "", prose(page)))
        for term in (" ".join(term.split()) for term in marked):
            term = term if term in rows else term[0].lower() + term[1:]
            if term in seen:
                problems.append(f"{page.name}: *{term}* is marked again")
            if term not in rows:
                problems.append(f"{page.name}: *{term}* is not in the glossary")
            seen.add(term)
        if not marked:
            problems.append(f"{page.name} explains no term")
    return "\n".join(problems) or None


def drawn_again(toy):
    """docs/course/pictures is what `make pictures` makes."""
    kept = {path.name: path.read_text() for path in (COURSE / "pictures").iterdir()}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ROOT / "scripts/course-pictures", toy, folder], check=True)
        made = {path.name: path.read_text() for path in pathlib.Path(folder).iterdir()}
    changed = sorted(name for name in kept | made if kept.get(name) != made.get(name))
    used = {name for page in chapters() for name in re.findall(r"\(pictures/([\w.-]+)\)", page.read_text())}
    return f"`make pictures` changes {changed}" if changed else str(used ^ set(made)) if used != set(made) else None


def all_cases():
    yield "course: the form of the chapters", form
    yield "course: terms are in the glossary", terms_are_explained
    yield "course: pictures", drawn_again, "release", "host"
    yield "course: programs", lambda toy: guides.shown(toy, COURSE)
    for page in chapters():
        yield f"course: transcripts of {page.stem}", lambda toy, page=page: guides.transcripts(
            toy, page
        ), "release", "host"
