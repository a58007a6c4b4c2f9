"""A program of a user that imports all public names at once; nothing here is ever run."""

from driver import *  # noqa: F403

statement = SimpleStatement("q", consistency_level=ConsistencyLevel.ONE)  # noqa: F405
threads: type[Cluster] = Cluster  # noqa: F405
loop: type[AsyncCluster] = AsyncCluster  # noqa: F405
statement.no_such_thing  # noqa: B018  # wrong: no attribute
