"""A small project to optimise in a loop: five functions, a benchmark of each, tests of some."""

from tests.harness import toy

FILES = {
    ".gitignore": ".benchproof/\n",
    "README.md": "# acme\n",
    "pyproject.toml": toy.BUILT_BY_SETUPTOOLS
    + """name = "acme"

[tool.setuptools.packages.find]
where = ["src"]

[tool.benchproof]
test = "python tests/check.py"
""",
    "src/acme/__init__.py": "",
    "src/acme/work.py": '''"""What is measured."""


def spin(times):
    total = 0
    for number in range(times):
        total += number
    return total


def shout(text):
    found = []
    for word in text.split():
        found.append(word.upper())
    return found


def unique(values):
    found = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


def joined(parts):
    text = ""
    for part in parts:
        text = text + part + ","
    return text


def evens(number):
    return [each for each in range(number) if each % 2 == 0]
''',
    "benchmarks/work.py": """from acme import work

TEXT = "some words of a text " * 20
VALUES = list(range(60)) * 2
PARTS = ["part"] * 60


def time_spin():
    return work.spin(300)


def time_shout():
    return work.shout(TEXT)


def time_unique():
    return work.unique(VALUES)


def time_joined():
    return work.joined(PARTS)


def time_evens():
    return work.evens(300)
""",
    "tests/check.py": """from acme import work

assert work.spin(5) == 10, "spin(5) is not 10"
assert work.unique([2, 2]) == [2]
print("all passed")
""",
}
SPIN = """    total = 0
    for number in range(times):
        total += number
    return total
"""
SHOUT = """    found = []
    for word in text.split():
        found.append(word.upper())
    return found
"""
UNIQUE = """    found = []
    for value in values:
        if value not in found:
            found.append(value)
    return found
"""
JOINED = """    text = ""
    for part in parts:
        text = text + part + ","
    return text
"""
EVENS = "    return [each for each in range(number) if each % 2 == 0]\n"
WORK = "src/acme/work.py"
#: The project's settings, and which variables its build reads.
READS = '[tool.benchproof]\nbuild-variables = ["ACME_*"]'
#: By name: the file, what is replaced in it, and by what.
FASTER = {
    "sum": (WORK, SPIN, "    return sum(range(times))\n"),
    "upper-once": (WORK, SHOUT, "    return text.upper().split()\n"),
    "dict": (WORK, UNIQUE, "    return list(dict.fromkeys(values))\n"),
    "join": (WORK, JOINED, '    return ",".join(parts) + ","\n'),
    "step": (WORK, EVENS, "    return list(range(0, number, 2))\n"),
}
USELESS = {
    "renamed": (WORK, SHOUT, SHOUT.replace("word", "each")),
    "remark": (WORK, EVENS, "    # All of them.\n" + EVENS),
    "readme": ("README.md", "# acme\n", "# acme, faster\n"),
}
WRONG = (WORK, UNIQUE, "    return sorted(set(values), reverse=True)\n")
#: Faster sums, and slower joins for them.
TRADED = (
    WORK,
    SPIN,
    """    return sum(range(times))


def padded(part):
    for _ in range(9):
        part = part + ""
    return part
""",
)
CALLED = (WORK, "text + part + ", "text + padded(part) + ")


def make(root):
    """The project, committed."""
    project = toy.Repository(root)
    for name, text in FILES.items():
        project.write(name, text)
    project.commit("acme")
    return project
