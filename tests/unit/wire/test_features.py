"""ScyllaDB's extensions are read from SUPPORTED and turned on in STARTUP."""

import pytest

from driver.wire.features import NO_FEATURES, ProtocolFeatures, ShardingInfo

SHARDING = {
    "SCYLLA_SHARD": ["3"],
    "SCYLLA_NR_SHARDS": ["12"],
    "SCYLLA_PARTITIONER": ["org.apache.cassandra.dht.Murmur3Partitioner"],
    "SCYLLA_SHARDING_ALGORITHM": ["biased-token-round-robin"],
    "SCYLLA_SHARDING_IGNORE_MSB": ["12"],
    "SCYLLA_SHARD_AWARE_PORT": ["19042"],
}
SCYLLADB = {
    **SHARDING,
    "SCYLLA_RATE_LIMIT_ERROR": ["ERROR_CODE=-61440"],
    "TABLETS_ROUTING_V1": [],
    "SCYLLA_USE_METADATA_ID": [],
    "SCYLLA_LWT_ADD_METADATA_MARK": ["LWT_OPTIMIZATION_META_BIT_MASK=2147483648"],
}


def test_cassandra_has_none():
    features = ProtocolFeatures.parse_from_supported({"COMPRESSION": ["lz4", "snappy"]})
    assert features == NO_FEATURES
    assert features.shard_id == 0
    options = {}
    features.add_startup_options(options)
    assert options == {}


def test_scylladb_has_them_all():
    features = ProtocolFeatures.parse_from_supported(SCYLLADB)
    assert features.rate_limit_error == -61440
    assert features.tablets_routing_v1
    assert features.lwt_metadata_mask == 0x80000000
    assert features.shard_id == 3
    assert features.sharding_info == ShardingInfo(
        shard_id=3,
        shards_count=12,
        partitioner="org.apache.cassandra.dht.Murmur3Partitioner",
        sharding_algorithm="biased-token-round-robin",
        sharding_ignore_msb=12,
        shard_aware_port=19042,
        shard_aware_port_ssl=None,
    )


def test_startup_turns_on_what_the_server_has():
    options = {}
    ProtocolFeatures.parse_from_supported(SCYLLADB).add_startup_options(options)
    assert options == {
        "SCYLLA_RATE_LIMIT_ERROR": "",
        "TABLETS_ROUTING_V1": "",
        "SCYLLA_USE_METADATA_ID": "",
        "SCYLLA_LWT_ADD_METADATA_MARK": "LWT_OPTIMIZATION_META_BIT_MASK=2147483648",
    }


def turned_on(supported, version=4):
    options = {}
    ProtocolFeatures.parse_from_supported(supported, version).add_startup_options(options)
    return set(options)


def test_the_second_version_of_tablets_stands_in_place_of_the_first():
    both = {**SCYLLADB, "TABLETS_ROUTING_V2_EXPERIMENTAL": []}
    assert turned_on(both) == turned_on(SCYLLADB) - {"TABLETS_ROUTING_V1"} | {
        "TABLETS_ROUTING_V2_EXPERIMENTAL"
    }


@pytest.mark.parametrize("version", [3, 5])
def test_what_changes_execute_is_of_version_4(version):
    both = {**SCYLLADB, "TABLETS_ROUTING_V2_EXPERIMENTAL": []}
    assert turned_on(both, version) == turned_on(SCYLLADB) - {"SCYLLA_USE_METADATA_ID"}


def test_what_changes_execute_is_off_where_the_shards_are_unknown():
    unknown = {**SCYLLADB, "TABLETS_ROUTING_V2_EXPERIMENTAL": [], "SCYLLA_PARTITIONER": ["Other"]}
    assert turned_on(unknown) == turned_on(SCYLLADB) - {"SCYLLA_USE_METADATA_ID"}


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("SCYLLA_SHARD", ["three"]),
        ("SCYLLA_NR_SHARDS", ["0"]),
        ("SCYLLA_NR_SHARDS", []),
        ("SCYLLA_SHARDING_IGNORE_MSB", [""]),
        ("SCYLLA_PARTITIONER", ["org.apache.cassandra.dht.RandomPartitioner"]),
        ("SCYLLA_SHARDING_ALGORITHM", ["by-moonlight"]),
    ],
)
def test_sharding_that_we_do_not_understand_is_off(key, values):
    features = ProtocolFeatures.parse_from_supported({**SHARDING, key: values})
    assert features.sharding_info is None


def test_the_partitioner_may_live_in_any_package():
    # As the document of the extensions has it; servers say "dht".
    said = {"SCYLLA_PARTITIONER": ["org.apache.cassandra.partitioners.Murmur3Partitioner"]}
    assert ProtocolFeatures.parse_from_supported({**SHARDING, **said}).shard_id == 3


def test_an_extension_with_a_malformed_parameter_is_off():
    supported = {
        "SCYLLA_RATE_LIMIT_ERROR": ["CODE=1", "ERROR_CODE=x"],
        "SCYLLA_LWT_ADD_METADATA_MARK": [],
    }
    assert ProtocolFeatures.parse_from_supported(supported) == NO_FEATURES


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("SCYLLA_NR_SHARDS", "3000000"),
        ("SCYLLA_NR_SHARDS", "0"),
        ("SCYLLA_NR_SHARDS", "-1"),
        ("SCYLLA_SHARD", "12"),
        ("SCYLLA_SHARD", "-1"),
        ("SCYLLA_SHARDING_IGNORE_MSB", "-1"),
        ("SCYLLA_SHARDING_IGNORE_MSB", "64"),
        ("SCYLLA_SHARDING_IGNORE_MSB", "9" * 4000),
    ],
)
def test_numbers_that_cannot_be_turn_sharding_off_with_a_warning(key, value, caplog):
    assert ShardingInfo.parse({**SHARDING, key: [value]}) is None
    assert f"{key}={value[:20]}" in caplog.text
    assert len(caplog.text) < 2000


@pytest.mark.parametrize("port", ["0", "-1", "65536"])
def test_a_port_that_cannot_be_is_none(port, caplog):
    sharding = ShardingInfo.parse({**SHARDING, "SCYLLA_SHARD_AWARE_PORT": [port]})
    assert sharding.shards_count == 12
    assert sharding.shard_aware_port is None
    assert "SCYLLA_SHARD_AWARE_PORT" in caplog.text


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("SCYLLA_RATE_LIMIT_ERROR", f"ERROR_CODE={1 << 31}"),
        ("SCYLLA_LWT_ADD_METADATA_MARK", "LWT_OPTIMIZATION_META_BIT_MASK=-1"),
        ("SCYLLA_LWT_ADD_METADATA_MARK", f"LWT_OPTIMIZATION_META_BIT_MASK={1 << 32}"),
    ],
)
def test_extensions_with_numbers_that_cannot_be_are_off(key, value, caplog):
    options = {}
    ProtocolFeatures.parse_from_supported({**SCYLLADB, key: [value]}).add_startup_options(options)
    assert key not in options
    assert key in caplog.text
