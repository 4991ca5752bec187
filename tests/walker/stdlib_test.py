#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What C types of the standard library hold, by name: on no path may a step be missing.

    usage: stdlib_test.py walker.so
"""
import asyncio
import collections
import csv
import datetime
import gc
import io
import itertools
import mmap
import pickle
import queue
import sys
import threading
import unittest
import xml.etree.ElementTree

import dump_stream as ds
import walk_self


class Held:
    """One of these is behind each thing below, and nowhere else."""

    def __init__(self, name):
        self.name = name


async def work(argument):
    await asyncio.sleep(1000)
    return argument


def make():
    things, loop = {}, asyncio.new_event_loop()
    future = loop.create_future()
    future.add_done_callback(Held("first callback").__repr__)
    future.add_done_callback(Held("second callback").__repr__)
    result = loop.create_future()
    result.set_result(Held("result"))
    failed = loop.create_future()
    failed.set_exception(ValueError(Held("exception")))
    failed.exception()
    task = loop.create_task(work(Held("argument")))
    loop.run_until_complete(asyncio.sleep(0))
    things.update(future=future, result=result, failed=failed, task=task, loop=loop)

    text = io.StringIO()
    for i in range(1000):
        text.write("piece %d " % i)
    read = io.StringIO("x" * 1000)
    read.read(1)
    things.update(text=text, read=read, file=open(__file__, "rb"))
    things["file"].read(1)

    pickler = pickle.Pickler(io.BytesIO())
    pickler.dump(Held("pickled"))
    element = xml.etree.ElementTree.Element("root")
    for i in range(1500):
        xml.etree.ElementTree.SubElement(element, "child", number="text %d" % i)
    element.text = Held("text")
    simple = queue.SimpleQueue()
    simple.put(Held("queued"))
    local = threading.local()
    local.value = Held("local")

    class Zone(datetime.tzinfo):
        held = Held("zone")
    things.update(
        pickler=pickler, element=element, simple=simple, local=local,
        aware=datetime.datetime(2000, 1, 1, tzinfo=Zone()), naive=datetime.datetime(2000, 1, 1),
        zone=datetime.timezone(datetime.timedelta(hours=1), "".join(["named", "zone"])),
        chain=itertools.chain(iter([Held("chained")])), cycle=itertools.cycle([Held("cycled")]),
        repeat=itertools.repeat(Held("repeated")), reader=csv.reader(iter(())),
        mapped=map(Held, [Held("mapped")]), anonymous=mmap.mmap(-1, 1 << 21, mmap.MAP_PRIVATE),
        tee=itertools.tee(iter([Held("teed")]))[0])
    next(things["tee"])
    things["anonymous"][:8192] = b"x" * 8192
    return things


class StdlibTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.things = make()
        gc.collect()
        cls.heap = walk_self.walk(LIBRARY)

    @classmethod
    def tearDownClass(cls):
        cls.things["task"].cancel()
        cls.things["loop"].run_until_complete(asyncio.sleep(0))
        cls.things["loop"].close()
        cls.things["file"].close()
        # CPython 3.12.1 crashes if a tee is still there when the interpreter ends.
        cls.things.clear()

    def node(self, name):
        found = self.heap.of(self.things[name])
        self.assertIsNotNone(found, name)
        return found

    def leads(self, thing, name, target_type):
        types = [self.heap.nodes[e.target].type for e in self.node(thing).edges if e.name == name]
        self.assertIn(target_type, types, [(e.name, self.heap.nodes[e.target].type)
                                           for e in self.node(thing).edges])

    def test_everything_held_is_reached_without_a_native_reference(self):
        reached = self.heap.reached()
        lost = [n for n in self.heap.nodes[1:] if n.type == "__main__.Held"
                and n.id not in reached]
        self.assertEqual(lost, [])
        held = [n for n in self.heap.nodes[1:] if n.type == "__main__.Held"]
        self.assertEqual(len(held), 15)

    def test_no_reference_is_made_up(self):
        counted = collections.Counter(r.target for r in self.heap.roots)
        for node in self.heap.nodes[1:]:
            for edge in node.edges:
                if edge.kind not in (ds.WEAK, ds.CLOSURE):
                    counted[edge.target] += 1
        for node in self.heap.nodes[1:]:
            if node.type == "__main__.Held":
                self.assertEqual(node.refcount, counted[node.id], ds.describe(node))

    def test_futures_and_tasks(self):
        loop = self.node("loop").type
        self.leads("future", "_loop", loop)
        self.leads("future", "_callbacks", "builtins.list")
        self.leads("result", "_result", "__main__.Held")
        self.leads("failed", "_exception", "builtins.ValueError")
        if sys.version_info < (3, 14):
            self.leads("task", "_coro", "builtins.coroutine")
            self.leads("task", "_fut_waiter", "_asyncio.Future")
            self.leads("task", "_loop", loop)

    def test_text_that_is_being_gathered(self):
        buffers = [self.heap.nodes[e.target] for e in self.node("text").edges
                   if e.name == "buffer"]
        self.assertEqual(len(buffers), 1)
        if buffers[0].type == "builtins.list":
            self.assertEqual(len(buffers[0].edges), 1000)
        else:
            self.assertGreater(buffers[0].shallow, 9000)
        self.assertGreaterEqual(self.node("read").native, 4000)

    def test_memory_of_files_and_maps(self):
        self.assertGreaterEqual(self.node("file").native, 4096)
        self.assertEqual(self.node("anonymous").native, 8192)

    def test_elements(self):
        self.leads("element", "text", "__main__.Held")
        element = self.node("element")
        self.assertEqual([e.name for e in element.edges if e.kind == ds.ITEM],
                         list(range(1500)))
        child = self.heap.of(self.things["element"][7])
        self.assertEqual(self.heap.out(child, ds.ATTRIBUTE, "attrib").type, "builtins.dict")
        self.assertGreaterEqual(element.shallow + element.native,
                                sys.getsizeof(self.things["element"]) - 8)

    def test_what_was_pickled_is_remembered(self):
        self.leads("pickler", "memo", "__main__.Held")

    def test_times_hold_their_zone(self):
        self.leads("aware", "tzinfo", "__main__.make.<locals>.Zone")
        self.assertEqual([e.name for e in self.node("naive").edges if e.kind != ds.INTERNAL], [])
        self.leads("zone", "offset", "datetime.timedelta")
        self.leads("zone", "name", "builtins.str")

    def test_queues_locals_and_iterators(self):
        first = [e for e in self.node("simple").edges if e.name == "items"]
        self.assertEqual(len(first), 1)
        self.leads("local", "values", "builtins.dict")
        self.leads("repeat", "element", "__main__.Held")
        self.leads("cycle", "iterator", "builtins.list_iterator")
        self.leads("chain", "source", "builtins.tuple_iterator")
        self.leads("mapped", "function", "builtins.type")


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    unittest.main()
