"""Batch statements: several statements sent as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..protocol.kinds import BatchType
from ..types.literals import Encoder
from .base import FETCH_SIZE_UNSET, Statement
from .bound import BoundStatement
from .prepared import PreparedStatement
from .simple import SimpleStatement, bind_params

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Protocol

    from ..policies.retry import RetryPolicy
    from ..protocol.typing import Parameters

    class _HasEncoder(Protocol):
        @property
        def encoder(self) -> Encoder: ...


#: The number of statements is a [short] on the wire.
MAX_STATEMENTS = 0xFFFF

#: One statement of a batch: whether it is prepared, its id or text, its serialised values.
BatchEntry = tuple[bool, "bytes | str", "Sequence[Any]"]


class BatchStatement(Statement):
    """Statements that the server applies together (native_protocol_v5 section 4.1.7).

    The batch is routed by the first statement that has a routing key. Statements are read as they
    are added: binding again what was added does not change the batch.

    Attributes:
        batch_type: a ``BatchType``; LOGGED makes the batch atomic.
    """

    def __init__(
        self,
        batch_type: BatchType = BatchType.LOGGED,
        retry_policy: RetryPolicy | None = None,
        consistency_level: int | None = None,
        serial_consistency_level: int | None = None,
        session: _HasEncoder | None = None,
        custom_payload: dict[str, bytes | None] | None = None,
    ) -> None:
        """Start empty; a session gives the encoder that writes literals."""
        self.batch_type = batch_type
        self._encoder = Encoder() if session is None else session.encoder
        self._statements_and_parameters: list[BatchEntry] = []
        #: A node that has forgotten one is told its text, for which somebody has to hold it.
        self._prepared: set[PreparedStatement] = set()
        self._is_lwt = False
        super().__init__(
            retry_policy,
            consistency_level,
            serial_consistency_level=serial_consistency_level,
            fetch_size=FETCH_SIZE_UNSET,
            custom_payload=custom_payload,
        )

    def is_lwt(self) -> bool:
        """Whether one of its statements is known to be a lightweight transaction."""
        return self._is_lwt

    @property
    def statements(self) -> Sequence[BatchEntry]:
        """What was added, as ``BatchMessage`` takes it.

        Raises:
            DriverException: a change of the schema outdated one that was prepared.
        """
        for prepared in self._prepared:
            if prepared.outdated:
                raise prepared.outdated_error()
        return tuple(self._statements_and_parameters)

    def add(
        self,
        statement: str | Statement | PreparedStatement,
        parameters: Parameters = None,
    ) -> BatchStatement:
        """Add a statement.

        Args:
            statement: text, or a simple, prepared or bound statement.
            parameters: values for a text, a simple or a prepared statement.

        Returns:
            This batch.

        Raises:
            ValueError: parameters for a bound statement, or more than 65,535 statements.
            TypeError: what is added is no statement that a batch can hold.
        """
        if isinstance(statement, str):
            self._append(None, (False, self._with_literals(statement, parameters), ()))
        elif isinstance(statement, PreparedStatement):
            bound = statement.bind(() if parameters is None else parameters)
            self._append(bound, (True, statement.query_id, bound.values))
            self._prepared.add(statement)
        elif isinstance(statement, BoundStatement):
            if parameters:
                raise ValueError("a BoundStatement has its values: it takes no parameters")
            prepared = statement.prepared_statement
            self._append(statement, (True, prepared.query_id, statement.values))
            self._prepared.add(prepared)
        elif isinstance(statement, SimpleStatement):
            text = self._with_literals(statement.query_string, parameters)
            self._append(statement, (False, text, ()))
        else:
            raise TypeError(f"a batch cannot hold a {type(statement).__name__}")
        return self

    def add_all(
        self,
        statements: Iterable[str | Statement | PreparedStatement],
        parameters: Iterable[Parameters],
    ) -> BatchStatement:
        """Add statements, each with its parameters.

        Raises:
            ValueError: there are not as many of the ones as of the others; also as ``add`` does.
        """
        for statement, values in zip(statements, parameters, strict=True):
            self.add(statement, values)
        return self

    def clear(self) -> None:
        """Remove all statements, and what was learnt from them about routing."""
        del self.routing_key
        self.keyspace = None
        self.table = None
        self.custom_payload = None
        self._is_lwt = False
        self._statements_and_parameters.clear()
        self._prepared.clear()

    def _with_literals(self, text: str, parameters: Parameters) -> str:
        return text if parameters is None else bind_params(text, parameters, self._encoder)

    def _append(self, statement: Statement | None, entry: BatchEntry) -> None:
        if len(self._statements_and_parameters) >= MAX_STATEMENTS:
            raise ValueError(
                f"a batch holds {MAX_STATEMENTS} statements at most, as the protocol counts them"
            )
        self._statements_and_parameters.append(entry)
        if statement is not None:
            self._is_lwt = self._is_lwt or statement.is_lwt()
            self._learn_routing(statement)
            if statement.custom_payload:
                self.custom_payload = {**(self.custom_payload or {}), **statement.custom_payload}

    def _learn_routing(self, statement: Statement) -> None:
        """Take routing key, keyspace and table from the first statement that has a key."""
        if self.routing_key is None and statement.keyspace and statement.routing_key:
            self.routing_key = statement.routing_key
            self.keyspace = statement.keyspace
            self.table = statement.table

    def __len__(self) -> int:
        """Number of statements."""
        return len(self._statements_and_parameters)

    def __bool__(self) -> bool:
        """A batch is true even when it is empty: it is a statement."""
        return True

    def __repr__(self) -> str:
        """Type, number of statements and consistency level."""
        return (
            f"<{type(self).__name__} type={BatchType(self.batch_type).name}, "
            f"statements={len(self)}, consistency={self._consistency_name()}>"
        )
