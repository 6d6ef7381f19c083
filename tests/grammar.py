# SPDX-License-Identifier: Apache-2.0
"""docs/reference/grammar.md against the parser: programs derived from the grammar parse; with a token left out or
doubled they parse just when the grammar still derives them, and never end the process; so do the programs of the
repository. Tokens.def and the grammar name the same keywords and punctuation."""
import functools
import pathlib
import random
import re
import subprocess
import sys

import metamorphic
import programs

ROOT = pathlib.Path(__file__).resolve().parent.parent
SENTENCES, MUTANTS = 300, 3
# Conditions that the page says in words: names that differ, brackets whose rows are equal.
BESIDE_THE_GRAMMAR = {"P0106", "P0107", "P0109", "P0115", "P0123"}
NO_TYPE = {
    "bool",
    "u8",
    "i32",
    "i64",
    "bf16",
    "f16",
    "f32",
    "f64",
    "c64",
    "c128",
    *"let const auto val local mut fn func function fun elif elseif print".split(),
}
SAMPLES = {
    "a character with XID_Start, or _": "abxyzN_éпλ変",
    "a character with XID_Continue": "abzN_09éпλ変",
    'a character but ", \\ and a line break': "ab #'({é変",
    "a character but a line break": "ab #'\"({é変",
    'a character but ", \\, {, } and a line break': "ab #'(é変:=",
    "an expression": "abé",
}
LEXICAL = {
    "Identifier": "IDENTIFIER",
    "Integer": "INTEGER",
    "Float": "FLOAT",
    "Imaginary": "IMAGINARY",
    "String": "STRING",
    "Format": "FORMAT",
    "DocComment": "DOC",
    "Adjoint": "ADJOINT",
}
EBNF = re.compile(
    r"""\s+|(?P<name>[A-Za-z][\w-]*)|"(?P<double>[^"]+)"|'(?P<single>[^']+)'|\?\s(?P<words>.*?)\s\?|(?P<sign>[][{}()|=;])"""
)


class Node:
    def __init__(self, kind, value):
        self.kind, self.value = (
            kind,
            value,
        )  # text, rule, words: a string; sequence, choice: nodes; repeat, option: a node


def read(text):
    """The rules of an EBNF text, by their names."""
    signs, at = [], 0
    while at < len(text):
        match = EBNF.match(text, at)
        assert match, f"no EBNF: {text[at:at + 40]!r}"
        at = match.end()
        if match.lastgroup:
            signs.append((match.lastgroup, match.group(match.lastgroup)))
    signs.reverse()

    def choice():
        options = [sequence()]
        while signs[-1] == ("sign", "|"):
            signs.pop()
            options.append(sequence())
        return options[0] if len(options) == 1 else Node("choice", options)

    def sequence():
        parts = []
        while signs[-1][0] != "sign" or signs[-1][1] in "[{(":
            kind, value = signs.pop()
            if kind == "sign":
                inner = choice()
                assert signs.pop() == ("sign", {"[": "]", "{": "}", "(": ")"}[value])
                parts.append(inner if value == "(" else Node("option" if value == "[" else "repeat", inner))
            else:
                parts.append(Node({"name": "rule", "words": "words"}.get(kind, "text"), value))
        return Node("sequence", parts)

    rules = {}
    while signs:
        kind, name = signs.pop()
        assert kind == "name" and name not in rules and signs.pop() == ("sign", "="), f"no rule: {name}"
        rules[name] = choice()
        assert signs.pop() == ("sign", ";"), f"the rule {name} does not end"
    return rules


@functools.cache
def rules():
    return read(
        "".join(re.findall(r"^```ebnf\n(.*?)^```$", (ROOT / "docs/reference/grammar.md").read_text(), re.M | re.S))
    )


def inside(node):
    """A node and all below it."""
    yield node
    for child in (
        node.value if node.kind in ("sequence", "choice") else [node.value] if node.kind in ("repeat", "option") else []
    ):
        yield from inside(child)


def is_token(name):
    return name[0].isupper()


@functools.cache
def heights():
    """How deep the smallest derivation of a rule is."""
    found = dict.fromkeys(rules(), 1000)
    for _ in found:
        for name, node in rules().items():
            found[name] = min(found[name], 1 + height(node, found))
    return found


def height(node, of):
    if node.kind == "rule":
        return of[node.value]
    if node.kind == "sequence":
        return max((height(part, of) for part in node.value), default=0)
    return min(height(option, of) for option in node.value) if node.kind == "choice" else 0


@functools.cache
def first(node):
    """What the tokens that a node derives can begin with; None among it: it can be empty."""
    if node.kind == "rule" and node.value not in LEXICAL.values():
        return first(rules()[node.value])
    if node.kind in ("text", "rule"):
        return frozenset([node.value])
    if node.kind == "choice":
        return frozenset().union(*map(first, node.value))
    if node.kind != "sequence":
        return first(node.value) | {None}
    found = {None}
    for part in node.value:
        found = found - {None} | first(part) if None in found else found
    return frozenset(found)


class Derivation:
    """Random sentences; `used` are the ways that some sentence went."""

    def __init__(self, seed):
        self.rng, self.used, self.names, self.words, self.nested = random.Random(seed), set(), 0, set(), 0

    def sentence(self):
        self.words = set()
        tokens = []
        self.derive(Node("rule", self.rng.choice(["program", "statement", "simple", "simple"])), 0, tokens)
        return tokens + [metamorphic.Token("Semicolon", ";")]  # so that it is no comment alone

    def derive(self, node, depth, out):
        small = depth > 34 or self.nested > 2 or len(out) > 100 or (self.nested and self.rng.random() < 0.4)
        if node.kind == "text":
            out.append(metamorphic.Token("", node.value))
        elif node.kind == "rule" and is_token(node.value):
            out.append(self.token(node.value))
        elif node.kind == "rule" and node.value == "bracket":
            self.bracket(depth + 1, out)
        elif node.kind == "rule":
            self.nested += node.value == "expression"
            self.derive(rules()[node.value], depth + 1, out)
            self.nested -= node.value == "expression"
        elif node.kind == "sequence":
            for part in node.value:
                self.derive(part, depth, out)
        elif node.kind == "choice":
            ways = sorted(range(len(node.value)), key=lambda i: height(node.value[i], heights()))
            way = self.rng.choice(
                ways
                if not small
                else [w for w in ways if height(node.value[w], heights()) == height(node.value[ways[0]], heights())]
            )
            self.used.add((id(node), way))
            self.derive(node.value[way], depth, out)
        else:
            likely = [0, 1, 1] if depth < 6 else [0, 1] if depth < 16 else [0, 0, 0, 1]
            times = (
                0 if small else self.rng.choice([min(n, 1) for n in likely] if node.kind == "option" else [*likely, 2])
            )
            self.used.add((id(node), min(times, 1)))
            for _ in range(times):
                self.derive(node.value, depth, out)

    def bracket(self, depth, out):
        """Rows are copies of one row, and other elements begin with no bracket."""
        tokens, elements = [], []
        self.derive(rules()["bracket"], depth, tokens)
        if depth < 40 and self.rng.random() < 0.2:
            row = []
            self.bracket(depth + 4, row)
            elements = [row] * self.rng.choice([1, 2, 3])
        else:
            start = 1
            for i in range(1, len(tokens)):
                level = sum((t.text in "([{") - (t.text in ")]}") for t in tokens[1:i] if t.kind not in LEXICAL)
                if level == 0 and tokens[i].text in (",", "]") and tokens[i].kind not in LEXICAL:
                    elements += [tokens[start:i]] if i > start else []
                    start = i + 1
            elements = [element for element in elements if element[0].text != "["]
        out.append(metamorphic.Token("", "["))
        for i, element in enumerate(elements):
            out += ([metamorphic.Token("", ",")] if i else []) + element
        out.append(metamorphic.Token("", "]"))

    def token(self, name):
        kind = {token: kind for kind, token in LEXICAL.items()}
        if name == "NAME":
            words = [
                node.value
                for node in inside(rules()["CONTEXTUAL"])
                if node.kind == "text" and node.value not in self.words
            ]
            if words and self.rng.random() < 0.08:
                self.words.add(word := self.rng.choice(words))
                return metamorphic.Token("", word)
            name = "IDENTIFIER"
        text = self.spell(rules()[name])
        if name == "IDENTIFIER":
            self.names += 1
            text = f"{text}{self.names}"
        return metamorphic.Token(kind.get(name, ""), text)

    def spell(self, node):
        if node.kind == "text":
            return node.value
        if node.kind == "words":
            return self.rng.choice(SAMPLES[node.value])
        if node.kind == "rule":
            return self.spell(rules()[node.value])
        if node.kind == "sequence":
            return "".join(map(self.spell, node.value))
        if node.kind == "choice":
            return self.spell(self.rng.choice(node.value))
        return "".join(
            self.spell(node.value) for _ in range(self.rng.choice([0, 1] if node.kind == "option" else [0, 1, 2, 3]))
        )


class Recognizer:
    """Whether the grammar derives a list of tokens: where each part can end, for all ways to derive it."""

    def __init__(self, tokens):
        self.tokens, self.memo = tokens, {}

    def derives(self):
        return len(self.tokens) in self.ends(rules()["program"], 0)

    def text(self, i):
        return (
            self.tokens[i].text
            if i < len(self.tokens) and self.tokens[i].kind not in ("String", "Format", "DocComment")
            else ""
        )

    def ends(self, node, i):
        begins = first(node)
        if not (
            None in begins
            or self.text(i) in begins
            or (i < len(self.tokens) and LEXICAL.get(self.tokens[i].kind) in begins)
        ):
            return set()
        key = (id(node), i)
        if key not in self.memo:
            self.memo[key] = self.find(node, i)
        return self.memo[key]

    def find(self, node, i):
        if node.kind == "text":
            return {i + 1} if self.text(i) == node.value else set()
        if node.kind == "rule":
            return self.of_rule(node.value, i)
        if node.kind == "sequence":
            at = {i}
            for part in node.value:
                at = {end for begin in at for end in self.ends(part, begin)}
            return at
        if node.kind == "choice":
            return set().union(*(self.ends(option, i) for option in node.value))
        at, fresh = {i}, {i}
        while fresh:
            fresh = {end for begin in fresh for end in self.ends(node.value, begin)} - at
            at |= fresh
            if node.kind == "option":
                break
        return at

    def of_rule(self, name, i):
        if name in LEXICAL.values():
            kind = LEXICAL.get(self.tokens[i].kind) if i < len(self.tokens) else None
            value = (
                i
                and self.tokens[i - 1].kind not in ("String", "Format")
                and (self.text(i - 1) not in keywords() - {"true", "false"})
            )
            return {i + 1} if kind == name and (name != "ADJOINT" or value) else set()
        if name == "struct-variable" and self.text(i) in NO_TYPE:
            return set()
        if name in ("tensor-type", "element-tensor") and self.text(i) == "list":  # has no sizes
            return {i + 1}
        if name == "simple" and (kind := self.kind_of_statement(i)):
            return {end + 1 for end in self.ends(rules()[kind], i) if self.text(end) == ";"}
        return self.ends(rules()[name], i)

    def kind_of_statement(self, i):
        """What a statement is by its first word, whatever follows."""
        first, second = self.text(i), self.text(i + 1)
        says = (
            first == "return"
            or (first == "var" and not (second == "(" and self.is_call(i)))
            or (first == "assert" and second != "=")
            or (first in ("print", "write") and second == "(")
        )
        return ("variable" if first == "var" else first) if says else None

    def is_call(self, i):
        """Whether nothing is assigned to what stands in the parentheses behind a word."""
        depth = 0
        for end in range(i + 1, len(self.tokens)):
            depth += (self.text(end) == "(") - (self.text(end) == ")")
            if depth == 0:
                return self.text(end + 1) not in ("=", ":")
        return False


@functools.cache
def keywords():
    return frozenset(node.value for node in inside(rules()["KEYWORD"]) if node.kind == "text")


def spelled(tokens):
    return metamorphic.spelled([metamorphic.Token("Adjoint", t.text) if t.kind == "Adjoint" else t for t in tokens])


def codes(stderr):
    return set(re.findall(r"^error\[(\w+)\]", stderr, re.M))


def disagreement(tokens, done, label):
    """What is wrong with the parser's word about a program, beside the grammar's."""
    if done.status not in (0, 1):
        return f"{label} ends with status {done.status}\n{done.stderr[-1500:]}\n{spelled(tokens)}"
    found = codes(done.stderr)
    if found and found <= BESIDE_THE_GRAMMAR:
        return None
    derived = Recognizer(tokens).derives()
    if derived == (done.status == 0):
        return None
    if derived and any(token.kind == "Format" for token in tokens):  # expressions in fields are words for the grammar
        return None
    return f"{label}: the grammar {'derives' if derived else 'does not derive'} what the parser {'accepts' if done.status == 0 else 'refuses'}\n{spelled(tokens)}{done.stderr[:1500]}"


def mutants(tokens, rng):
    for _ in range(MUTANTS):
        i = rng.randrange(len(tokens))
        kept = tokens[:i] + tokens[i + rng.choice([0, 1]) :]
        if len(kept) < len(tokens):
            yield kept if any(t.kind != "DocComment" for t in kept) else tokens
        else:
            yield tokens[: i + 1] + tokens[i:]


def random_sentences(toy, seed):
    derivation, rng = Derivation(seed), random.Random(f"{seed} mutants")
    sentences = [derivation.sentence() for _ in range(SENTENCES)]
    kept = [
        tokens for tokens in sentences if Recognizer(tokens).derives()
    ]  # without those that are of another kind by their first word
    if len(kept) < 0.7 * SENTENCES:
        return f"only {len(kept)} of {SENTENCES} sentences are recognized"
    changed = [mutant for tokens in kept for mutant in mutants(tokens, rng)]
    results = [
        done for [done] in programs.run_parts(toy, [(spelled(tokens), ["--emit=ast"]) for tokens in kept + changed])
    ]
    for tokens, done in zip(kept, results):
        if done.status != 0:
            return f"a derived program is refused\n{spelled(tokens)}{done.stderr[:1500]}"
    problems = [
        problem
        for tokens, done in zip(changed, results[len(kept) :])
        if (problem := disagreement(tokens, done, "a changed program"))
    ]
    return "\n".join(problems[:3]) or None


def every_way(_toy):
    """The sentences go every way that the grammar has, so that none of it is only paper."""
    derivation = Derivation(0)
    for _ in range(4 * SENTENCES):
        derivation.sentence()
    missed = []
    for name, rule in rules().items():
        for node in inside(rule) if not is_token(name) else ():
            ways = len(node.value) if node.kind == "choice" else 2 if node.kind in ("option", "repeat") else 0
            missed += [
                f"way {way} of a {node.kind} in `{name}`"
                for way in range(ways)
                if (id(node), way) not in derivation.used
            ]
    return "\n".join(missed) or None


def lists(_toy):
    """Every rule is defined and used, and the words are those of Tokens.def."""
    named = {node.value for rule in rules().values() for node in inside(rule) if node.kind == "rule"}
    problems = [f"`{name}` is not defined" for name in sorted(named - set(rules()))]
    problems += [f"`{name}` is used nowhere" for name in sorted(set(rules()) - named - {"program", "COMMENT"})]
    table = (ROOT / "lexer/Tokens.def").read_text()
    spellings = {
        kind: set(re.findall(rf'^TOY_{kind}\(\w+, "(.*)"\)$', table, re.M))
        for kind in ("KEYWORD", "CONTEXTUAL", "PUNCTUATION")
    }
    texts = {
        node.value
        for name, rule in rules().items()
        if not is_token(name)
        for node in inside(rule)
        if node.kind == "text"
    }
    for kind, found in (
        ("KEYWORD", keywords()),
        ("CONTEXTUAL", {node.value for node in inside(rules()["CONTEXTUAL"]) if node.kind == "text"}),
        ("PUNCTUATION", {text for text in texts if not re.match(r"\w", text)}),
    ):
        problems += [
            f"{kind}: `{text}` is in one of grammar.md and Tokens.def only" for text in sorted(found ^ spellings[kind])
        ]
    return "\n".join(problems) or None


def repository(toy, *folders, part=slice(None)):
    """What the parser accepts of the programs that are here is what the grammar derives."""
    files = sorted(p for folder in folders for p in (ROOT / folder).rglob("*.toy"))[part]
    for path in files:
        parsed = subprocess.run(
            [toy, "--emit=ast", path], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )
        if any(code.startswith("L") or code in ("P0125", "P0126") for code in codes(parsed.stderr)):
            continue
        done = programs.Done(parsed.returncode, "", parsed.stderr, [], 0, 0, 0)
        if problem := disagreement(metamorphic.tokens_of(toy, path), done, str(path.relative_to(ROOT))):
            return problem
    programs.count(len(files))
    return None


sys.setrecursionlimit(max(sys.getrecursionlimit(), 20000))


def all_cases():
    yield "grammar: rules and words", lists
    yield "grammar: every way is gone", every_way
    today = slice(2 * programs.is_sanitized(), None, 4)
    for name, part, *night in (("", today), (", all", slice(None), "nightly")):
        run = lambda toy, part=part: repository(toy, "tests/e2e", "examples", part=part)
        yield f"grammar: programs of the repository{name}", run, *night
    yield "grammar: programs with errors", lambda toy: repository(toy, "tests/errors"), "nightly"
    for seed in range(24):
        night = [] if seed in programs.of_this_build(4) else ["nightly"]
        yield f"grammar: random programs {seed}", lambda toy, seed=seed: random_sentences(toy, seed), *night
