"""Where our messages differ from those of cassandra-driver 3.30.1 on purpose, and why.

Every entry has a test in ``test_messages_requests.py`` or ``test_messages_responses.py`` that shows
both sides; a difference that disappears fails there. docs/peers.md says the same to readers.
"""

KNOWN_MESSAGE_DIFFERENCES = {
    "skip_meta sets the flag": (
        "EXECUTE with skip_meta: the peer keeps the argument and never sets Skip_metadata (0x02), "
        "so servers always send metadata. We set it, as section 4.1.4 says."
    ),
    "UNSET in v3 is refused": (
        "The peer's messages write -2 in v3 too, which v3 servers take for null and delete the "
        "cell (its bind() prevents that one layer higher). Our messages refuse it themselves."
    ),
    "v5 EXECUTE without a metadata id": (
        "The peer fails with TypeError from len(None); we raise ValueError and say what to do."
    ),
    "an empty keyspace is written": (
        "PREPARE of the peer sets the flag of a keyspace that is the empty string and leaves the "
        "string out, so that the frame ends early. We write both, and the server answers in words."
    ),
    "a negative timestamp is written": (
        "The peer packs timestamps unsigned and fails with struct.error before 1970. [long] is "
        "signed, and servers take all but the smallest."
    ),
    "the token of AUTH_SUCCESS is bytes": (
        "The peer decodes it as UTF-8 text. Section 4.2.8 says [bytes], and a SASL token of a "
        "mechanism such as Kerberos is not text."
    ),
    "signatures are named tuples": (
        "The peer wraps function and aggregate in UserFunctionDescriptor and "
        "UserAggregateDescriptor; ours is one SignatureDescriptor with the same two attributes."
    ),
    "CAS_WRITE_UNKNOWN is known": (
        "The peer gives a plain ErrorMessage for code 0x1700 of v5, and drops its payload."
    ),
    "CAS contentions are read": (
        "The <contentions> of a v5 write timeout are in our info and not in the peer's."
    ),
    "messages are not exceptions": (
        "The peer's ErrorMessage is an exception, and to_exception() of codes without a class of "
        "its own returns the message. Ours is a message, and every code has an exception."
    ),
    "the peer's NumPy handler loses the rows": (
        "NumpyProtocolHandler of the published wheel leaves parsed_rows at None, so our arrays "
        "are compared with the peer's tuples instead."
    ),
    "columns and decode errors have their own classes": (
        "The peer's columns of rows are plain tuples and a value that does not decode is a "
        "DriverException; ours are ColumnMetadata and ColumnDecodeError, which are subclasses."
    ),
    "a frame that ends early has one error": (
        "The peer raises struct.error, IndexError or EOFError depending on where it ends, and "
        "reads a string that ends early as a shorter one; ours is MalformedFrameError."
    ),
}
