"""What a person is told in place of a traceback."""


class Failure(Exception):  # noqa: N818  (a message for a person)
    """Something that the person should read without a traceback."""
