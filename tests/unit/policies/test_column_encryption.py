"""AES-256 column encryption: round trips, and what cannot be encrypted or decrypted."""

import sys

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

from driver.policies.column_encryption import AES256ColumnEncryptionPolicy
from driver.protocol.columns import ColDesc
from driver.protocol.errors import DependencyException
from driver.types import Int32Type, UTF8Type

KEY, OTHER_KEY = bytes(range(32)), bytes(32)
SECRET, PLAIN = ColDesc("ks", "t", "secret"), ColDesc("ks", "t", "plain")


@pytest.fixture
def policy():
    policy = AES256ColumnEncryptionPolicy()
    policy.add_column(SECRET, KEY, "int")
    return policy


@given(st.binary(max_size=100))
def test_what_was_encrypted_can_be_decrypted(data):
    policy = AES256ColumnEncryptionPolicy()
    policy.add_column(SECRET, KEY, "blob")
    encrypted = policy.encrypt(SECRET, data)
    assert policy.decrypt(SECRET, encrypted) == data
    assert policy.decrypt(SECRET, memoryview(encrypted)) == data


def test_the_text_is_aes_256_in_cbc_mode_after_its_vector(policy):
    encrypted = policy.encrypt(SECRET, b"four")
    assert encrypted[:16] == policy.iv
    decryptor = Cipher(algorithms.AES256(KEY), modes.CBC(policy.iv)).decryptor()
    assert decryptor.update(encrypted[16:]) == b"four" + bytes([12]) * 12


def test_every_policy_has_its_own_vector_unless_one_is_given():
    assert AES256ColumnEncryptionPolicy().iv != AES256ColumnEncryptionPolicy().iv
    given_one = [AES256ColumnEncryptionPolicy(iv=b"v" * 16) for _ in range(2)]
    for policy in given_one:
        policy.add_column(SECRET, KEY, "int")
    assert given_one[0].encrypt(SECRET, b"x") == given_one[1].encrypt(SECRET, b"x")


def test_another_process_decrypts_with_the_key_alone(policy):
    other = AES256ColumnEncryptionPolicy()
    other.add_column(SECRET, KEY, "int")
    assert other.decrypt(SECRET, policy.encrypt(SECRET, b"data")) == b"data"


def test_columns_are_known_by_their_full_name(policy):
    assert policy.contains_column(SECRET)
    assert not policy.contains_column(PLAIN)
    assert policy.column_type(SECRET) is Int32Type
    policy.add_column(PLAIN, KEY, "list<text>")
    assert policy.column_type(PLAIN).subtypes == (UTF8Type,)


def test_values_are_serialised_and_encrypted_in_one_step(policy):
    assert policy.decrypt(SECRET, policy.encode_and_encrypt(SECRET, 5)) == b"\x00\x00\x00\x05"
    with pytest.raises(ValueError, match="None cannot be encrypted"):
        policy.encode_and_encrypt(SECRET, None)


@pytest.mark.parametrize("method", ["encrypt", "decrypt", "encode_and_encrypt"])
def test_an_unknown_column_is_named(policy, method):
    with pytest.raises(ValueError, match=r"Could not find column .*plain"):
        getattr(policy, method)(PLAIN, b"x" * 32)


def test_the_type_of_an_unknown_column_is_unknown(policy):
    with pytest.raises(ValueError, match="plain"):
        policy.column_type(PLAIN)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((None, KEY, "int"), "needs a description, a key and a type"),
        ((SECRET, b"", "int"), "needs a description, a key and a type"),
        ((SECRET, KEY, ""), "needs a description, a key and a type"),
        ((SECRET, KEY[:16], "int"), "has 32 bytes, not 16"),
        ((SECRET, KEY, "no such type"), "no such type"),
    ],
)
def test_a_column_needs_a_description_a_key_and_a_type(args, message):
    with pytest.raises(ValueError, match=message):
        AES256ColumnEncryptionPolicy().add_column(*args)


def test_a_vector_has_sixteen_bytes():
    with pytest.raises(ValueError, match="has 16 bytes, not 3"):
        AES256ColumnEncryptionPolicy(iv=b"abc")


@pytest.mark.parametrize("length", [0, 15, 16, 31])
def test_what_is_no_whole_text_is_refused(policy, length):
    with pytest.raises(ValueError, match=f"{length} bytes in column 'secret' are no AES-256"):
        policy.decrypt(SECRET, bytes(length))


def test_another_key_is_noticed():
    ours, theirs = (AES256ColumnEncryptionPolicy(iv=b"v" * 16) for _ in range(2))
    ours.add_column(SECRET, KEY, "int")
    theirs.add_column(SECRET, OTHER_KEY, "int")
    with pytest.raises(ValueError, match="'secret' was not encrypted with this key"):
        theirs.decrypt(SECRET, ours.encrypt(SECRET, b"data"))


def test_without_the_library_a_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers", None)
    with pytest.raises(DependencyException, match=r"pip install cqlpath\[encryption\]"):
        AES256ColumnEncryptionPolicy()
