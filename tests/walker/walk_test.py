#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A heap that is known, walked and compared. Needs no package; run by every CPython there is.

    usage: walk_test.py walker.so
"""
import array
import asyncio
import atexit
import collections
import contextvars
import ctypes
import functools
import gc
import io
import sys
import threading
import types
import unittest
import weakref

import dump_stream as ds
import walk_self


class Plain:
    def __init__(self):
        self.first = ["first"]
        self.second = "two"


class Slotted:
    __slots__ = ("left", "right")


class ListKind(list):
    pass


class DictKind(dict):
    pass


class IntKind(int):
    pass


class StrKind(str):
    pass


class WithDel:
    def __del__(self):
        pass


class WithSizeof:
    def __sizeof__(self):
        raise AssertionError("the walk asked an object for its size")


class Problem(Exception):
    pass


def make_closure():
    captured = ["captured"]

    def inner(default=("default",), *, only=("only",)):
        return captured, default, only
    return inner


def generate():
    held = ["held by a generator"]
    yield held
    yield held


async def wait():
    held = ["held by a coroutine"]
    await asyncio.sleep(0)
    return held


@functools.lru_cache(maxsize=100)
def cached(number):
    return ["cached", number]


@functools.lru_cache(maxsize=None)
def cached_forever(number):
    return ["cached for ever", number]


def raise_problem():
    held_by_traceback = ["held by a traceback"]
    try:
        raise Problem(held_by_traceback)
    except Problem as problem:
        return problem


instance = Plain()
with_dict = Plain()
with_dict.__dict__["extra"] = ["extra"]
with_dict.third = 3
slotted = Slotted()
slotted.left = ["left"]
fields = Slotted()
numbers = [10 ** 6 + 1, 10 ** 40, -7, 0, True, False, 1.5, 2j, IntKind(7), IntKind(2 ** 90)]
texts = ["ascii", "h\xe9llo" * 3, "\u1234" * 5, "\U0001f600", StrKind("sub"), StrKind("\u1234"),
         b"bytes", bytearray(100), "", b""]
containers = [
    [1], [], ListKind([1, 2]), (1, 2), (), {1: 2}, {"a": 1}, DictKind(a=1), {}, {1, 2},
    set(range(1000)), frozenset("abc"), {i: i for i in range(100)},
    {"k%d" % i: i for i in range(300)}, collections.deque(range(200)), collections.deque(),
    collections.OrderedDict(a=1, b=2), collections.defaultdict(list, a=[1]),
    collections.Counter("abc"), array.array("d", range(10)), slice(1, 2), range(5)]
callables = [make_closure(), instance.__init__, len, Plain, functools.partial(len, [1]),
             types.SimpleNamespace(name=["value"])]
mapping = {"name": ["by name"], "not a name": ["2"], 7: ["by number"], ("t",): ["by tuple"]}
ring = collections.deque(["first", "last"])
ring.rotate(1)
ordered = collections.OrderedDict(one=["ordered"])
weak = weakref.ref(instance)
weak_values = weakref.WeakValueDictionary(key=instance)
generator = generate()
next(generator)
coroutine = wait()
problem = raise_problem()
buffer = io.BytesIO(b"buffered" * 100)
text_buffer = io.StringIO()
text_buffer.write("text" * 100)
view = memoryview(bytearray(b"viewed"))
block = ctypes.create_string_buffer(100000)
variable = contextvars.ContextVar("variable")
variable.set(["in a context"])
local = threading.local()
local.value = ["thread-local"]
unregistered = ["held by atexit"]
atexit.register(len, unregistered)
finalizer, sizeof = WithDel(), WithSizeof()
cached(1), cached(2), cached_forever(1)


class Deep:
    class Inner:
        attribute = ["of a class"]


def run(library):
    local_variable = ["a local"]
    in_cell = ["in a cell"]

    def use():
        return in_cell
    lost = lose()
    started, stop = threading.Event(), threading.Event()

    def other(in_thread):
        waiting = ["in a thread"]
        started.set()
        stop.wait()
        return waiting, in_thread
    thread = threading.Thread(target=other, args=(["argument"],))
    thread.start()
    started.wait()
    gc.collect()
    gc.disable()
    try:
        tracked = [(id(o), type(o).__name__) for o in gc.get_objects()]
        garbage = Plain()
        garbage.itself = garbage
        address = id(garbage)
        del garbage
        heap = walk_self.walk(library)
    finally:
        gc.enable()
        stop.set()
        thread.join()
    del use
    return heap, local_variable, in_cell, lost, tracked, address


def lose():
    """Objects that only a count keeps: what C code forgot to release."""
    forget = ctypes.pythonapi.Py_IncRef
    forget.argtypes, forget.restype = [ctypes.py_object], None
    small = b"".join([b"lost", b" and small"])
    large = b"".join([b"lost and large"] * 1000)
    chain = ("lost", ["held by what was lost"] + small.split())
    addresses = []
    for one in (small, large, chain[1]):
        if one is chain[1]:
            holder = tuple([one])
            gc.collect()  # leaves only what may refer to itself
            forget(holder)
            addresses.append(id(holder))
        else:
            forget(one)
            addresses.append(id(one))
    return addresses


class WalkTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        (cls.heap, cls.local_variable, cls.in_cell, cls.lost, cls.tracked,
         cls.garbage) = run(LIBRARY)

    def node(self, value):
        node = self.heap.of(value)
        self.assertIsNotNone(node, "%s was not met" % type(value))
        return node

    def leads(self, value, kind, name, target):
        self.assertEqual(self.heap.out(self.node(value), kind, name).address, id(target))

    def to(self, node, kind, name):
        return self.heap.out(node, kind, name)

    def test_the_walk_is_whole(self):
        self.assertIsNone(self.heap.refused)
        self.assertEqual(self.heap.end["unreadable"], 0)
        self.assertEqual(self.heap.end["flags"], 4)  # the collector was off
        self.assertEqual(self.heap.end["nodes"], len(self.heap.nodes) - 1)
        self.assertEqual(self.heap.end["edges"], sum(len(n.edges) for n in self.heap.nodes[1:]))
        self.assertEqual(self.heap.runtime, "CPython " + sys.version.split()[0])

    def test_every_tracked_object_is_met(self):
        gone = [name for address, name in self.tracked if address not in self.heap.by_address
                and name != "function"]  # the comprehension that lists them
        self.assertEqual(gone, [])

    def test_every_edge_leads_to_a_node(self):
        count = len(self.heap.nodes)
        for node in self.heap.nodes[1:]:
            for edge in node.edges:
                self.assertTrue(0 < edge.target < count)

    def test_sizes_are_those_of_getsizeof(self):
        exact = numbers + texts + containers + callables + [
            instance, slotted, problem, weak, generator, coroutine, finalizer, variable, local,
            make_closure.__code__, mapping, ordered, types, Plain, Slotted,
            WithDel, cached, view, None, Ellipsis, NotImplemented, int, type, wait]
        wrong = []
        for value in exact:
            node = self.node(value)
            got = node.shallow
            if isinstance(value, (bytearray, array.array)):
                got += node.native
            if got != sys.getsizeof(value) and type(value).__name__ != "code":
                wrong.append((type(value).__name__, repr(value)[:30], got, sys.getsizeof(value)))
        self.assertEqual(wrong, [])

    def test_types_are_named_by_module_and_qualified_name(self):
        self.assertEqual(self.node(instance).type, "__main__.Plain")
        self.assertEqual(self.node(Deep.Inner).label, "__main__.Deep.Inner")
        self.assertEqual(self.node(Deep.Inner).type, "builtins.type")
        self.assertEqual(self.node(len).type, "builtins.builtin_function_or_method")
        self.assertEqual(self.node(ring).type, "collections.deque")

    def test_user_and_finalizer_flags(self):
        self.assertTrue(self.node(instance).flags & ds.USER)
        self.assertFalse(self.node(ordered).flags & ds.USER)
        self.assertFalse(self.node(weak_values).flags & ds.USER)
        self.assertTrue(self.node(finalizer).flags & ds.FINALIZER)
        self.assertFalse(self.node(instance).flags & ds.FINALIZER)
        self.assertTrue(self.node(int).flags & ds.STATIC)
        self.assertTrue(self.node(None).flags & ds.STATIC)
        self.assertFalse(self.node(Plain).flags & ds.STATIC)

    def test_attributes(self):
        if sys.version_info >= (3, 11):
            self.leads(instance, ds.ATTRIBUTE, "first", instance.first)
        else:
            namespace = self.to(self.node(instance), ds.INTERNAL, "__dict__")
            self.assertTrue(namespace.flags & ds.NAMESPACE)
            self.assertEqual(self.to(namespace, ds.KEY, "first").address, id(instance.first))
        self.leads(slotted, ds.ATTRIBUTE, "left", slotted.left)
        self.leads(instance, ds.INTERNAL, "__class__", Plain)
        self.leads(callables[4], ds.ATTRIBUTE, "func", len)
        namespace = self.to(self.node(with_dict), ds.INTERNAL, "__dict__")
        found = [e for n in (namespace, self.node(with_dict)) for e in n.edges
                 if e.name == "extra"]
        self.assertEqual([self.heap.nodes[e.target].address for e in found],
                         [id(with_dict.extra)])

    def test_containers(self):
        self.leads(mapping, ds.KEY, "name", mapping["name"])
        key = [k for k in mapping if k == ("t",)][0]
        edges = self.node(mapping).edges
        self.assertIn(id(key), [self.heap.nodes[e.target].address for e in edges
                                if e.kind == ds.KEY_OBJECT])
        self.assertEqual(sum(1 for e in edges if e.kind == ds.KEY and e.name == ""), 3)
        self.leads(ring, ds.ITEM, 0, ring[0])
        self.leads(ring, ds.ITEM, 1, ring[1])
        self.leads(ordered, ds.KEY, "one", ordered["one"])
        self.leads(containers, ds.ITEM, 3, containers[3])
        self.leads(containers[17], ds.ATTRIBUTE, "default_factory", list)
        self.assertEqual(len([e for e in self.node(containers[10]).edges]), 1000)
        big = containers[14]
        self.assertEqual([e.name for e in self.node(big).edges if e.kind == ds.ITEM],
                         list(range(200)))

    def test_functions(self):
        closure = callables[0]
        node = self.node(closure)
        self.assertEqual(node.label, "make_closure.<locals>.inner (walk_test.py:%d)"
                         % closure.__code__.co_firstlineno)
        cell = self.to(node, ds.CLOSURE, "captured")
        self.assertEqual(self.to(cell, ds.INTERNAL, "cell_contents").address,
                         id(closure.__closure__[0].cell_contents))
        self.leads(closure, ds.INTERNAL, "__defaults__", closure.__defaults__)
        self.leads(closure, ds.INTERNAL, "__kwdefaults__", closure.__kwdefaults__)
        self.leads(closure, ds.INTERNAL, "__globals__", globals())
        self.assertTrue(self.node(globals()).flags & ds.NAMESPACE)
        method = callables[1]
        self.leads(method, ds.ATTRIBUTE, "__self__", instance)
        self.assertEqual(self.node(len).label, "len")

    def test_classes(self):
        namespace = self.to(self.node(Deep.Inner), ds.INTERNAL, "__dict__")
        self.assertTrue(namespace.flags & ds.NAMESPACE)
        self.assertEqual(self.to(namespace, ds.KEY, "attribute").address,
                         id(Deep.Inner.attribute))
        self.leads(Deep.Inner, ds.INTERNAL, "__mro__", Deep.Inner.__mro__)
        static = self.to(self.node(collections.deque), ds.INTERNAL, "__dict__")
        self.to(static, ds.KEY, "append")
        self.to(self.to(self.node(int), ds.INTERNAL, "__dict__"), ds.KEY, "bit_length")

    def test_caches(self):
        cache = self.to(self.node(cached), ds.INTERNAL, "cache")
        self.assertEqual(cache.type, "builtins.dict")
        link = [self.heap.nodes[e.target] for e in cache.edges if e.kind == ds.KEY][0]
        self.assertEqual(self.to(link, ds.ATTRIBUTE, "result").address, id(cached(1)))
        forever = self.to(self.node(cached_forever), ds.INTERNAL, "cache")
        values = [self.heap.nodes[e.target].address for e in forever.edges if e.kind == ds.KEY]
        self.assertEqual(values, [id(cached_forever(1))])

    def test_weak_references(self):
        self.leads(weak, ds.WEAK, "referent", instance)
        keyed = self.to(self.node(weak_values.data), ds.KEY, "key")
        self.assertEqual(self.to(keyed, ds.WEAK, "referent").address, id(instance))

    def test_frames(self):
        frame = [r for r in self.heap.roots if r.kind == ds.FRAME
                 and r.name.startswith("run in walk_test.py:")]
        self.assertEqual(len(frame), 1)
        node = self.heap.nodes[frame[0].target]
        self.assertEqual(node.label, frame[0].name)
        lines = range(run.__code__.co_firstlineno + 20, run.__code__.co_firstlineno + 40)
        self.assertIn(int(frame[0].name.rsplit(":")[-1]), lines)
        self.assertEqual(self.to(node, ds.LOCAL, "local_variable").address,
                         id(self.local_variable))
        cell = self.to(node, ds.LOCAL, "in_cell")
        self.assertEqual(self.to(cell, ds.INTERNAL, "cell_contents").address, id(self.in_cell))
        other = [r for r in self.heap.roots if r.kind == ds.FRAME
                 and r.name.startswith("other in walk_test.py:")]
        self.assertEqual(len(other), 1)
        waiting = self.to(self.heap.nodes[other[0].target], ds.LOCAL, "waiting")
        self.assertEqual(waiting.type, "builtins.list")

    def test_generators_and_coroutines(self):
        held = generator.gi_frame.f_locals["held"]
        node = self.node(generator)
        if sys.version_info < (3, 11):
            node = self.to(node, ds.INTERNAL, "frame")
        self.assertEqual(self.to(node, ds.LOCAL, "held").address, id(held))
        self.assertTrue(node.label.startswith("generate in walk_test.py:"), node.label)
        self.assertEqual(self.node(coroutine).type, "builtins.coroutine")

    def test_exceptions(self):
        trace = self.to(self.node(problem), ds.ATTRIBUTE, "__traceback__")
        frame = self.to(trace, ds.ATTRIBUTE, "tb_frame")
        held = self.to(frame, ds.LOCAL, "held_by_traceback")
        self.assertEqual(held.address, id(problem.args[0]))

    def test_native_memory(self):
        self.assertEqual(self.node(texts[7]).native, 101)
        self.assertGreaterEqual(self.node(containers[19]).native, 80)
        self.assertEqual(self.node(block).native, 100000)
        self.assertEqual(self.to(self.node(buffer), ds.INTERNAL, "buffer").type,
                         "builtins.bytes")
        inner = self.to(self.node(view), ds.INTERNAL, "buffer")
        self.assertEqual(self.to(inner, ds.INTERNAL, "object").type, "builtins.bytearray")

    def test_roots(self):
        self.assertEqual(self.heap.root(ds.MODULE, "__main__").address,
                         id(sys.modules["__main__"]))
        self.assertEqual(self.heap.root(ds.TYPE, "builtins.int").address, id(int))
        held = [r.target for r in self.heap.roots if r.kind == ds.RUNTIME and r.name == "atexit"]
        items = [e.target for t in held for e in self.heap.nodes[t].edges]
        self.assertTrue(self.node(unregistered).id in items)
        reached = self.heap.reached()
        self.assertTrue(self.node(local.value).id in reached)
        found = variable.get()
        self.assertTrue(self.node(found).id in reached)
        holders = [(n.type, e.name) for n in self.heap.nodes[1:] for e in n.edges
                   if e.target == self.node(found).id and e.kind == ds.KEY]
        self.assertEqual([name for _, name in holders], ["variable"])

    def test_garbage_is_there_and_not_reached(self):
        node = self.heap.by_address[self.garbage]
        self.assertFalse(node.id in self.heap.reached())
        self.assertFalse(node.flags & ds.SCANNED)

    def test_lost_objects_are_found_by_scanning(self):
        reached = self.heap.reached()
        for address in self.lost:
            node = self.heap.by_address.get(address)
            self.assertIsNotNone(node)
            self.assertFalse(node.id in reached)
        self.assertTrue(self.heap.by_address[self.lost[0]].flags & ds.SCANNED)
        self.assertTrue(self.heap.by_address[self.lost[1]].flags & ds.SCANNED)

    def test_little_is_found_that_nobody_holds(self):
        found = [n for n in self.heap.nodes[1:] if n.flags & ds.SCANNED]
        kinds = collections.Counter(n.type for n in found)
        self.assertLess(len(found), 60, kinds.most_common(8))

    def test_counts_have_few_references_too_few(self):
        """Every strong reference should be an edge: fewer counted than edges is a bug."""
        counted = collections.Counter(r.target for r in self.heap.roots)
        for node in self.heap.nodes[1:]:
            for edge in node.edges:
                if edge.kind not in (ds.WEAK, ds.CLOSURE):
                    counted[edge.target] += 1
        for value in containers + texts[5:8] + [instance, slotted, problem, ring, ordered]:
            node = self.node(value)
            if node.refcount and len(node.edges) > 0:
                self.assertEqual(node.refcount, counted[node.id], ds.describe(node))

    def test_accounts(self):
        account = self.heap.account
        self.assertGreater(account["pymalloc arenas"], account["pymalloc in use"])
        self.assertGreater(account["pymalloc in use"], 1 << 20)
        self.assertLess(account["python objects"], 1 << 30)

    def test_show_evaluates_an_expression_over_each_object(self):
        heap = walk_self.walk(LIBRARY, kind=walk_self.SHOW, text=b"Plain\0[o.second, len(o.first)]")
        self.assertEqual(heap.values[id(instance)], "['two', 1]")
        self.assertEqual(heap.values[id(with_dict)], "['two', 1]")
        heap = walk_self.walk(LIBRARY, kind=walk_self.SHOW, text=b"__main__.Slotted\0o.right")
        self.assertTrue(heap.values[id(slotted)].startswith("AttributeError"),
                        heap.values[id(slotted)])
        self.assertEqual(len(heap.nodes), 1)
        heap = walk_self.walk(LIBRARY, kind=walk_self.SHOW, text=b"Plain\0not an expression")
        self.assertTrue(heap.notes[0].startswith("the expression cannot be read: SyntaxError"))

    def test_a_memory_limit_ends_the_walk_and_says_so(self):
        heap = walk_self.walk(LIBRARY, memory_limit=2 << 20)
        self.assertTrue(heap.refused or heap.end["flags"] & 2)


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    unittest.main()
