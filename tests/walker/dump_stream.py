#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The stream of wire/heap_stream.h as Python objects: the oracle of the walker's tests.

    usage: dump_stream.py FILE           what is in it, by type
           dump_stream.py FILE ADDRESS   one node (hexadecimal), its edges and who refers to it
"""
import collections
import sys

ATTRIBUTE, ITEM, KEY, KEY_OBJECT, LOCAL, CLOSURE, INTERNAL, WEAK, NATIVE = range(9)
KINDS = "attribute item key key-object local closure internal weak native".split()
MODULE, FRAME, THREAD, RUNTIME, TYPE, NATIVE_ROOT = range(6)
ROOTS = "module frame thread runtime type native".split()
FLAGS = {1: "collectable", 2: "synthetic", 4: "static", 8: "storage", 16: "scanned",
         32: "namespace", 64: "user", 128: "finalizer"}
(COLLECTABLE, SYNTHETIC, STATIC, STORAGE, SCANNED, NAMESPACE, USER, FINALIZER) = FLAGS

Node = collections.namedtuple(
    "Node", "id type label shallow native refcount flags address edges")
Edge = collections.namedtuple("Edge", "kind name target")
Root = collections.namedtuple("Root", "kind name target")


class Heap:
    def __init__(self, data):
        self.data, self.at = data, 0
        self.strings, self.nodes, self.roots = [""], [None], []
        self.notes, self.account, self.values = [], {}, {}
        self.refused = self.end = self.runtime = None
        while self.at < len(data):
            self.record()
        self.by_address = {n.address: n for n in self.nodes[1:]}

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def text(self):
        size = self.varint()
        self.at += size
        return self.data[self.at - size:self.at].decode("utf-8", "replace")

    def record(self):
        tag = chr(self.data[self.at])
        self.at += 1
        v = self.varint
        if tag == "N":
            node = len(self.nodes)
            type_, label = self.strings[v()], self.strings[v()]
            shallow, native, refcount, flags, address = v(), v(), v(), v(), v()
            edges = []
            for _ in range(v()):
                kind, name, delta = v(), v(), v()
                target = node + ((delta >> 1) ^ -(delta & 1))
                edges.append(Edge(kind, name if kind == ITEM else self.strings[name], target))
            self.nodes.append(
                Node(node, type_, label, shallow, native, refcount, flags, address, edges))
        elif tag == "S":
            self.strings.append(self.text())
        elif tag == "R":
            self.roots.append(Root(v(), self.strings[v()], v()))
        elif tag == "H":
            self.version, self.pid, self.runtime, self.flags = v(), v(), self.text(), v()
        elif tag == "T":
            self.notes.append(self.text())
        elif tag == "A":
            name = self.strings[v()]
            self.account[name] = v()
        elif tag == "V":
            address = v()
            self.values[address] = self.text()
        elif tag == "E":
            self.end = dict(zip(("nodes", "edges", "walk_ns", "unreadable", "flags"),
                                (v(), v(), v(), v(), v())))
        elif tag == "X":
            self.refused = self.text()
        else:
            raise ValueError("no record begins with %r, at %d" % (tag, self.at - 1))

    def of(self, value):
        return self.by_address.get(id(value))

    def out(self, node, kind, name):
        """The one node an edge of this kind and name leads to."""
        found = [e for e in node.edges if e.kind == kind and e.name == name]
        assert len(found) == 1, (node[:8], KINDS[kind], name, len(found),
                                 [(KINDS[e.kind], e.name) for e in node.edges[:40]])
        return self.nodes[found[0].target]

    def root(self, kind, name):
        found = [r for r in self.roots if r.kind == kind and r.name == name]
        assert found, (ROOTS[kind], name)
        return self.nodes[found[0].target]

    def reached(self):
        """The ids that some root reaches without a weak edge."""
        seen = set(r.target for r in self.roots)
        todo = list(seen)
        while todo:
            for edge in self.nodes[todo.pop()].edges:
                if edge.kind != WEAK and edge.target not in seen:
                    seen.add(edge.target)
                    todo.append(edge.target)
        return seen


def describe(node):
    flags = " ".join(name for bit, name in FLAGS.items() if node.flags & bit)
    return "%d %s %r at %#x, %d + %d bytes, %d refs, %s" % (
        node.id, node.type, node.label, node.address, node.shallow, node.native, node.refcount,
        flags)


def main(path, address=None):
    heap = Heap(open(path, "rb").read())
    if heap.refused:
        return print("refused:", heap.refused)
    if address:
        node = heap.by_address[int(address, 16)]
        print(describe(node))
        for edge in node.edges:
            print("  ->", KINDS[edge.kind], edge.name, describe(heap.nodes[edge.target]))
        for other in heap.nodes[1:]:
            for edge in other.edges:
                if edge.target == node.id:
                    print("  <-", KINDS[edge.kind], edge.name, describe(other))
        return
    print(heap.runtime, "pid", heap.pid, heap.end, heap.account, *heap.notes, sep="\n")
    count, size = collections.Counter(), collections.Counter()
    for node in heap.nodes[1:]:
        count[node.type] += 1
        size[node.type] += node.shallow + node.native
    for name, number in count.most_common(30):
        print("%9d %12d  %s" % (number, size[name], name))
    print(collections.Counter(ROOTS[r.kind] for r in heap.roots))
    reached = heap.reached()
    print(len(heap.nodes) - 1 - len(reached), "not reached,",
          sum(1 for n in heap.nodes[1:] if n.flags & SCANNED), "found by scanning")


if __name__ == "__main__":
    main(*sys.argv[1:])
