"""``cassandra.type_codes``: the option codes of types (native protocol, section 4.2.5.2)."""

from typing import Final

CUSTOM_TYPE: Final = 0x0000
AsciiType: Final = 0x0001
LongType: Final = 0x0002
BytesType: Final = 0x0003
BooleanType: Final = 0x0004
CounterColumnType: Final = 0x0005
DecimalType: Final = 0x0006
DoubleType: Final = 0x0007
FloatType: Final = 0x0008
Int32Type: Final = 0x0009
UTF8Type: Final = 0x000A
DateType: Final = 0x000B
UUIDType: Final = 0x000C
VarcharType: Final = 0x000D
IntegerType: Final = 0x000E
TimeUUIDType: Final = 0x000F
InetAddressType: Final = 0x0010
SimpleDateType: Final = 0x0011
TimeType: Final = 0x0012
ShortType: Final = 0x0013
ByteType: Final = 0x0014
DurationType: Final = 0x0015
ListType: Final = 0x0020
MapType: Final = 0x0021
SetType: Final = 0x0022
UserType: Final = 0x0030
TupleType: Final = 0x0031
