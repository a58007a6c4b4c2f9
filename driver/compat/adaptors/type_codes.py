"""``cassandra.type_codes``: the option codes of types (native protocol, section 4.2.5.2)."""

from typing import Final

from ...types.base import types_by_option_code
from ...wire.responses.metadata import CUSTOM

CUSTOM_TYPE: Final = CUSTOM
globals().update({cqltype.__name__: code for code, cqltype in types_by_option_code.items()})
#: Of text in v1 and v2; that of today is varchar's there.
UTF8Type: Final = 0x000A
VarcharType: Final = 0x000D
