"""Which branches are ranked: named ones, patterns, pull requests, here or in another repository."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from benchproof.checkout import Checkout
from benchproof.errors import TargetError, meant

#: How a line of a file of pull requests begins: a number, or an address as a browser shows it.
_NUMBER = re.compile(r"#?(\d+)(?:\s.*)?")
_ADDRESS = re.compile(r"(https?://\S+?)(?:/-)?/(pulls?|merge_requests)/(\d+)(?:[/?#]\S*)?(?:\s.*)?")
#: The reference of a pull request's head, by how its page is called: GitHub's, and GitLab's.
_HEADS = {"merge_requests": "refs/merge-requests/{}/head"}
_HEAD = "refs/pull/{}/head"
#: Never ask for a password in the middle of a run.
_QUIET = {"GIT_TERMINAL_PROMPT": "0"}


def find(
    names: Sequence[str], requests: Iterable[str], repository: str, checkout: Checkout
) -> dict[str, str]:
    """Commits by what they are called, in the order in which they were named.

    What lies in another repository is fetched: its objects, and no reference.

    Args:
        names: branches, commits or patterns such as ``perf/*``.
        requests: lines of a file of pull requests: a number or an address, and what one likes
            after a space.
        repository: where they lie, a folder or an address that git fetches from; "" for this one,
            and for pull requests the remote `origin`.
        checkout: what they are compared in.

    Raises:
        TargetError: one names nothing.
        BenchproofError: git cannot fetch.
    """
    found: dict[str, str] = {}
    asked: dict[str, dict[str, str]] = {}
    if names and not repository:
        known = checkout.ask("for-each-ref", "--format=%(refname:short)", "refs/heads",
                             "refs/remotes").split()  # fmt: skip
        for name in _chosen(names, known, None):
            found[name] = checkout.commit(name)
    elif names:
        listed = _references(repository, ["refs/heads/*"], checkout)
        heads = {name.removeprefix("refs/heads/"): name for name in listed}
        asked[repository] = {name: heads[name] for name in _chosen(names, heads, repository)}
    for line in filter(None, map(str.strip, requests)):
        address, label, reference = _request(line, repository or "origin")
        asked.setdefault(address, {})[label] = reference
    for address, references in asked.items():
        found |= _fetched(address, references, checkout)
    return found


def _chosen(names: Sequence[str], known: Iterable[str], where: str | None) -> list[str]:
    """Names, with patterns replaced by what they match.

    Args:
        names: as written.
        known: of branches.
        where: another repository, in which nothing but its branches can be named.

    Raises:
        TargetError: nothing is called so.
    """
    known, chosen = list(known), []
    for name in names:
        matching = [each for each in known if fnmatchcase(each, name)]
        if not matching and (where is not None or re.search(r"[*?[]", name)):
            raise TargetError(f"no branch {name!r}{f' in {where}' if where else ''}"
                              f"{meant(name, known)}")  # fmt: skip
        chosen += matching or [name]
    return list(dict.fromkeys(chosen))


def _request(line: str, repository: str) -> tuple[str, str, str]:
    """Where a pull request lies, what it is called, and the reference of its head.

    Raises:
        TargetError: the line is none.
    """
    if number := _NUMBER.fullmatch(line):
        return repository, f"#{number[1]}", _HEAD.format(number[1])
    if address := _ADDRESS.fullmatch(line):
        return address[1], f"#{address[3]}", _HEADS.get(address[2], _HEAD).format(address[3])
    raise TargetError(f"{line!r}: a line is a pull request's number or address")


def _references(address: str, patterns: Iterable[str], checkout: Checkout) -> dict[str, str]:
    """Commits of a repository's references, by name."""
    listed = checkout.ask("ls-remote", "--", address, *patterns, env=_QUIET)
    return {name: commit for commit, name in map(str.split, listed.splitlines())}


def _fetched(address: str, chosen: dict[str, str], checkout: Checkout) -> dict[str, str]:
    """Fetch references; their commits by what they are called.

    Raises:
        TargetError: the repository does not have one of them.
    """
    there = _references(address, chosen.values(), checkout)
    for label, name in chosen.items():
        if name not in there:
            raise TargetError(f"{address} has no {name} ({label})")
    checkout.ask("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", address,
                 *(there[name] for name in chosen.values()), env=_QUIET)  # fmt: skip
    return {label: there[name] for label, name in chosen.items()}
