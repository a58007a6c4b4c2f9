"""Compiled form of driver/policies/load_balancing/token_aware.py: a plan as far as it is asked."""

import random

cimport cython
from cpython.object cimport PyObject
from cpython.sequence cimport PySequence_Fast, PySequence_Fast_GET_ITEM, PySequence_Fast_GET_SIZE

from driver._cython.slots cimport Place, attribute, is_instance, slot_offset, taken
from driver._cython.statements.bound cimport key_of
from driver._cython.topology.metadata cimport replicas_for

from ....policies.distance import HostDistance
from ....policies.load_balancing import dc_aware
from ....policies.load_balancing import token_aware as pure
from ....statements.base import Statement
from ....statements.bound import BoundStatement
from ....statements.prepared import PreparedStatement

__all__ = ["shuffle"]

cdef object Policy = pure.TokenAwarePolicy
cdef object plan_plainly = pure.TokenAwarePolicy.make_query_plan
cdef object _DCAware = dc_aware.DCAwareRoundRobinPolicy
cdef object _Statement = Statement
cdef object _BoundStatement = BoundStatement
cdef object _PreparedStatement = PreparedStatement
cdef object _LOCAL = HostDistance.LOCAL
cdef object _random = random.random
cdef Place DATACENTER, IS_UP, LED_KEYSPACES, LOCAL_DC

cdef Py_ssize_t CHILD = slot_offset(Policy, b"_child_policy")
cdef Py_ssize_t METADATA = slot_offset(Policy, b"_cluster_metadata")
cdef Py_ssize_t LEADING = slot_offset(Policy, b"_leading")
cdef Py_ssize_t RANKS = slot_offset(Policy, b"_ranks")
cdef Py_ssize_t SHUFFLES = slot_offset(Policy, b"shuffle_replicas")
cdef Py_ssize_t KEYSPACE = slot_offset(Statement, b"keyspace")
cdef Py_ssize_t TABLE = slot_offset(Statement, b"table")
cdef Py_ssize_t PREPARED = slot_offset(BoundStatement, b"prepared_statement")
cdef Py_ssize_t IS_LWT = slot_offset(PreparedStatement, b"_is_lwt")


def shuffle(list hosts not None):
    """Put hosts in random order; see driver/policies/load_balancing/token_aware.py."""
    cdef Py_ssize_t last, other
    for last in range(len(hosts) - 1, 0, -1):
        other = <Py_ssize_t>(<double>_random() * (last + 1))
        hosts[last], hosts[other] = hosts[other], hosts[last]


cdef inline object of_statement(object query, Py_ssize_t offset, str name):
    """What a statement has under a name; None if it has nothing of that name."""
    if is_instance(query, <PyObject *>_Statement):
        return taken(<PyObject *>query, offset)
    return getattr(query, name, None)


cdef bint is_lwt(object query) except -1:
    cdef object prepared
    if type(query) is _BoundStatement:
        prepared = taken(<PyObject *>query, PREPARED)
        if type(prepared) is _PreparedStatement:
            return taken(<PyObject *>prepared, IS_LWT)
    ask = getattr(query, "is_lwt", None)
    return ask is not None and ask()


cdef bint is_local(object child, object host) except -1:
    """Whether the child says so; the answer of the commonest one without asking it."""
    cdef object local
    if type(child) is _DCAware:
        local = attribute(child, "local_dc", &LOCAL_DC)
        if (attribute(host, "datacenter", &DATACENTER) or local) == local:
            return True
    return child.distance(host) == _LOCAL


cdef object replicas_of(object policy, object keyspace, object query):
    """The replicas of the statement's partition, in the order in which to ask them."""
    cdef PyObject *me = <PyObject *>policy
    cdef object metadata = taken(me, METADATA)
    cdef object key = (
        key_of(query) if type(query) is _BoundStatement else getattr(query, "routing_key", None)
    )
    cdef object replicas
    cdef bint ranks = taken(me, RANKS), shuffles = taken(me, SHUFFLES)
    if key is None or keyspace is None or metadata is None:
        return ()
    replicas = replicas_for(metadata, keyspace, key, of_statement(query, TABLE, "table"))
    # One is in order; so are several that nobody wants in another one.
    if not (shuffles or ranks) or len(replicas) == 1 or is_lwt(query):
        return replicas
    if shuffles:
        replicas = list(replicas)
        pure.shuffle(replicas)
    return sorted(replicas, key=policy._is_in_another_rack) if ranks else replicas


@cython.freelist(64)
cdef class Plan:
    """The local replicas that are up, then the other hosts of the child's plan.

    Attributes:
        policy, keyspace, query: what it is of.
        replicas: those of the partition; None before the first host is asked for.
        at: how many of them were looked at.
        first, more: those that were given.
        asked: a set of them, once the child's plan is needed.
        others: the child's plan; None before it is needed.
    """

    cdef object policy
    cdef object keyspace
    cdef object query
    cdef object replicas
    cdef Py_ssize_t at
    cdef object first
    cdef list more
    cdef object asked
    cdef object others

    def __iter__(self):
        return self

    def __next__(self):
        cdef object child = taken(<PyObject *>self.policy, CHILD)
        cdef object replica
        if self.replicas is None:
            self.replicas = PySequence_Fast(
                replicas_of(self.policy, self.keyspace, self.query), "replicas are a sequence"
            )
        while self.at < PySequence_Fast_GET_SIZE(self.replicas):
            replica = <object>PySequence_Fast_GET_ITEM(self.replicas, self.at)
            self.at += 1
            if attribute(replica, "is_up", &IS_UP) and is_local(child, replica):
                if self.first is None:
                    self.first = replica
                elif self.more is None:
                    self.more = [replica]
                else:
                    self.more.append(replica)
                return replica
        if self.others is None:
            # Few plans get here: nearly always the first host answers, and nobody asks on.
            self.asked = {self.first, *(self.more or ())}
            self.others = iter(child.make_query_plan(self.keyspace, self.query))
        while True:
            replica = next(self.others)
            if replica not in self.asked:
                return replica


def make_query_plan(self, working_keyspace=None, query=None):
    """See driver/policies/load_balancing/token_aware.py."""
    cdef Plan plan
    cdef object leading
    if not is_instance(self, <PyObject *>Policy):
        raise TypeError(f"a TokenAwarePolicy is needed, not a {type(self).__name__}")
    leading = taken(<PyObject *>self, LEADING)
    if leading is not None and attribute(leading, "led_keyspaces", &LED_KEYSPACES):
        return plan_plainly(self, working_keyspace, query)
    plan = Plan.__new__(Plan)
    plan.policy = self
    plan.keyspace = of_statement(query, KEYSPACE, "keyspace") or working_keyspace
    plan.query = query
    return plan


METHODS = {"TokenAwarePolicy.make_query_plan": make_query_plan}
