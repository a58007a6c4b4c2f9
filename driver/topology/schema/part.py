"""What every part of a schema is: something that has a CQL text, or says why it has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

if TYPE_CHECKING:
    from types import TracebackType

#: Class and instance of an exception; its traceback went to the log and is not kept.
ExcInfo: TypeAlias = "tuple[type[BaseException], BaseException, TracebackType | None]"


#: Above the text of what CQL cannot create.
APPROXIMATE: Final = (
    "Approximate structure, for reference:\n(this should not be used to reproduce this schema)"
)


def commented(reason: str, text: str) -> str:
    """CQL text as a comment, so that a script with it still runs; comments do not nest."""
    inside = f"{reason}\n\n{text}".replace("*/", "* /")
    return f"/*\n{inside}\n*/"


class SchemaPart:
    """Base of everything in a schema."""

    name: str
    #: Its label, a format of the part itself.
    _LABEL: ClassVar[str]
    _exc_info: ExcInfo | None = None

    @property
    def label(self) -> str:
        """Kind and name, for a person."""
        return self._LABEL.format(self)

    @property
    def key(self) -> str:
        """By which its keyspace knows it."""
        return self.name

    def as_cql_query(self, formatted: bool = False) -> str:
        """The statement that creates this part, without a semicolon.

        Args:
            formatted: on several lines.
        """
        raise NotImplementedError

    def export_as_string(self) -> str:
        """Statements that create this part and what belongs to it, or a comment in their stead.

        A part that could not be read, or that CQL cannot create, is written as a comment that
        says so.
        """
        try:
            text = self._export()
        except Exception as error:  # noqa: BLE001  (a server gave it values of other types)
            return commented(f"Warning: {self.label} cannot be written.", repr(error))
        if self._exc_info is not None:
            return commented(
                f"Warning: {self.label} is incomplete because of an error processing metadata.\n"
                f"{self._exc_info[0].__name__}: {self._exc_info[1]}\n{APPROXIMATE}",
                text,
            )
        return text

    def _export(self) -> str:
        """The statements of a part that was read well."""
        return f"{self.as_cql_query(formatted=True)};"

    def __repr__(self) -> str:
        """Class and label."""
        return f"<{type(self).__name__}: {self.label}>"
