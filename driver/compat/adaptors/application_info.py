"""``cassandra.application_info``: what an application says of itself, as an object."""

from __future__ import annotations

from dataclasses import dataclass


class ApplicationInfoBase:
    """Adds to what STARTUP says of the client; ``Cluster(application_info=...)`` takes it."""

    def add_startup_options(self, options: dict[str, str]) -> None:
        """Add options.

        Raises:
            NotImplementedError: a subclass has to say which.
        """
        raise NotImplementedError


@dataclass
class ApplicationInfo(ApplicationInfoBase):
    """A name, a version and an id; those that are empty or None are left out.

    Raises:
        TypeError: one of them is no text.
    """

    application_name: str | None = None
    application_version: str | None = None
    client_id: str | None = None

    def __post_init__(self) -> None:
        """Refuse what is no text."""
        for name, value in vars(self).items():
            if value and not isinstance(value, str):
                raise TypeError(f"{name} must be a string")

    def add_startup_options(self, options: dict[str, str]) -> None:
        """Add what is given, each under its name in upper case."""
        options.update({name.upper(): value for name, value in vars(self).items() if value})
