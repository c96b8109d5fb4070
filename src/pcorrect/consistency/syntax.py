"""Code and literals compared by their syntax tree: comments, layout and quotes do not matter."""

from __future__ import annotations

import ast
import re
import warnings

_FENCE = re.compile(
    r"\s*```[ \t]*(?P<language>[\w+#.-]*)[ \t]*\n(?P<code>.*?)\n?[ \t]*```\s*", re.DOTALL
)
_STATEMENT = re.compile(
    r"^[ \t]*(?:def|class|import|from|return|for|while|if|with|try|async|@\w)\b", re.MULTILINE
)
_PYTHON = frozenset({"", "python", "py", "python3"})
# Languages in which a list or a mapping is a whole answer.
_LITERAL = _PYTHON | {"json"}
_CONTAINERS = ("[", "{", "(")
# The parser of the interpreter is quadratic in some inputs; longer answers are compared as texts.
_LONGEST = 50_000


def read(text: str) -> str | None:
    """Canonical form of Python code or of a list, tuple, set or dict of constants, or None."""
    if len(text) > _LONGEST:
        return None
    fence = _FENCE.fullmatch(text)
    if fence:
        code = fence["code"]
        if fence["language"].lower() in _LITERAL and (constants := literal(code)) is not None:
            return constants
        if fence["language"].lower() in _PYTHON:
            tree = _parse(code, "exec")
            if tree is not None and _is_code(code):
                return _dump(tree)
        # Layout can carry meaning in other languages; line ends and trailing blanks cannot.
        lines = "\n".join(line.rstrip() for line in code.splitlines()).strip("\n")
        return f"{fence['language'].lower()}\n{lines}" if "\n" in lines else None
    if text.lstrip().startswith(_CONTAINERS):
        return literal(text)
    if _is_code(text):
        tree = _parse(text.strip("\n"), "exec")
        return None if tree is None else _dump(tree)
    return None


def literal(text: str) -> str | None:
    """Canonical form of a list, tuple, set or dict of constants, or None."""
    stripped = text.strip()
    if len(text) > _LONGEST or not stripped.startswith(_CONTAINERS):
        return None
    tree = _parse(stripped, "eval")
    return _dump(tree) if tree is not None and _is_literal(tree) else None


def _is_code(text: str) -> bool:
    """Whether the text looks like statements (an English sentence rarely parses as well)."""
    if "\n" in text.strip():
        return _STATEMENT.search(text) is not None
    return _STATEMENT.match(text) is not None and any(sign in text for sign in "(=:")


def _parse(text: str, mode: str) -> ast.AST | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, mode=mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_literal(tree: ast.AST) -> bool:
    """Whether the tree is a container of constants (``(5)`` is not one)."""
    assert isinstance(tree, ast.Expression)
    containers = (ast.List, ast.Tuple, ast.Set, ast.Dict)
    if not isinstance(tree.body, containers):
        return False
    allowed = (*containers, ast.Constant, ast.UnaryOp, ast.USub, ast.Load)
    json_words = {"true", "false", "null"}
    return all(
        isinstance(node, allowed) or (isinstance(node, ast.Name) and node.id in json_words)
        for node in ast.walk(tree.body)
    )


def _dump(tree: ast.AST) -> str | None:
    try:
        return ast.dump(tree)
    except (RecursionError, ValueError):  # numbers of thousands of digits
        return None
