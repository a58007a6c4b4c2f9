"""What the peer's AES policy encrypts, ours decrypts; with one vector the bytes are equal."""

from cassandra.column_encryption.policies import AES256ColumnEncryptionPolicy as PeerPolicy
from cassandra.policies import ColDesc as PeerColDesc
from hypothesis import given
from hypothesis import strategies as st

from driver.policies.column_encryption import AES256ColumnEncryptionPolicy
from driver.protocol.columns import ColDesc

NAME = ("ks", "t", "c")


@given(
    data=st.binary(max_size=64),
    key=st.binary(min_size=32, max_size=32),
    iv=st.binary(min_size=16, max_size=16),
)
def test_encrypted_bytes_are_the_peer_s(data, key, iv):
    ours, theirs = AES256ColumnEncryptionPolicy(iv), PeerPolicy(iv)
    ours.add_column(ColDesc(*NAME), key, "blob")
    theirs.add_column(PeerColDesc(*NAME), key, "blob")
    encrypted = theirs.encrypt(PeerColDesc(*NAME), data)
    assert ours.encrypt(ColDesc(*NAME), data) == encrypted
    assert ours.decrypt(ColDesc(*NAME), encrypted) == data
