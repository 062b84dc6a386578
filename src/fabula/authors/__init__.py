"""Floor 3: machine co-authors, one a file; what they share lies in packages beside them.

A co-author is named by its spec, as a metric is: `embedded`, `api('…', base_url='…')`. Other
packages add theirs through the entry point group `fabula.authors`.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fabula.core.author import Author
from fabula.core.catalogue import LoaderCatalogue
from fabula.core.errors import InputError, UserError

__all__ = ["AUTHORS", "AuthorNeeds", "author_spec", "find_needs", "load_author"]

AUTHORS: LoaderCatalogue[Author] = LoaderCatalogue("co-author", ("fabula.authors",))
# A package with at most a lower bound, extras and such: no option, path or address for pip.
_REQUIREMENT = re.compile(
    r"([A-Za-z0-9][\w.-]*)(\[[\w.,\s-]*\])?\s*((?:[<>=!~]=?|===)[\w.*,<>=!~ ]+)?"
)


def load_author(spec: str) -> Author:
    """Make the co-author that a spec spells; `startup` loads what it needs."""
    return AUTHORS.load(spec)


def author_spec(spec: str) -> str:
    """Canonical spelling of a co-author; nothing is loaded."""
    return AUTHORS.spell(spec)


@dataclass(frozen=True)
class AuthorNeeds:
    """What a co-author is, and what has to be there before it can write.

    `settings` have no default, `packages` are named as pip names them, `assets` as the store does.
    """

    about: str
    settings: tuple[str, ...]
    packages: tuple[str, ...]
    assets: tuple[str, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """Packages that are not installed, or too old."""
        return tuple(each for each in self.packages if not _is_installed(each))

    def find_obstacle(self, name: str) -> str:
        """Say what keeps it from writing here and what helps; "" where nothing does."""
        from fabula.core.installation import spell_command
        from fabula.models import path_of

        if self.missing:
            return f"run: {spell_command(f'author install {name}')}"
        for asset in self.assets:
            try:
                path_of(asset)
            except UserError as error:
                return str(error)
        return ""


def find_needs(name: str) -> AuthorNeeds:
    """Read what a co-author needs out of its module, which is not run: it may need just that."""
    path = AUTHORS.module_of(name)
    try:
        found = importlib.util.find_spec(path)
        assert found is not None and found.origin is not None
        tree = ast.parse(Path(found.origin).read_text(encoding="utf-8"))
    except (ImportError, AssertionError, SyntaxError, OSError, ValueError) as error:
        raise InputError(f"co-author {name!r} cannot be read ({error or path})") from None
    packages = tuple(_read_names(tree, "REQUIRES"))
    for package in packages:
        if not _REQUIREMENT.fullmatch(package):
            raise InputError(f"co-author {name!r} requires {package!r}, which is no package's name")
    about = (ast.get_docstring(tree) or "").partition("\n\n")[0]
    return AuthorNeeds(
        " ".join(about.split()),
        tuple(_read_settings(tree)),
        packages,
        tuple(_read_names(tree, "ASSETS")),
    )


def _read_names(tree: ast.Module, constant: str) -> Iterator[str]:
    """The strings of a constant of a module."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        if any(isinstance(each, ast.Name) and each.id == constant for each in targets):
            value = getattr(node, "value", None)
            for each in value.elts if isinstance(value, ast.Tuple | ast.List) else ():
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    yield each.value


def _read_settings(tree: ast.Module) -> Iterator[str]:
    """Parameters of `load` that have no default."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "load":
            plain = [*node.args.posonlyargs, *node.args.args]
            yield from (each.arg for each in plain[: len(plain) - len(node.args.defaults)])
            named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            yield from (each.arg for each, default in named if default is None)


def _is_installed(requirement: str) -> bool:
    """Whether a package is there, and not older than its lower bound; the rest is for pip."""
    from importlib.metadata import PackageNotFoundError, version

    match = _REQUIREMENT.fullmatch(requirement)
    assert match is not None
    try:
        here = version(match[1])
    except PackageNotFoundError:
        return False
    bound = re.search(r">=\s*([\d.]+)", match[3] or "")
    return bound is None or _read_version(here) >= _read_version(bound[1])


def _read_version(text: str) -> tuple[int, ...]:
    found = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in found[0].split(".")) if found else ()
