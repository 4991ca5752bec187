#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What packages keep outside Python's heap. Each part is left out where its package is missing.

    usage: packages_test.py walker.so
"""
import importlib.util
import sys
import unittest

import dump_stream as ds
import walk_self


def has(name):
    return importlib.util.find_spec(name) is not None


class Case(unittest.TestCase):
    def node(self, heap, value):
        node = heap.of(value)
        self.assertIsNotNone(node)
        return node


@unittest.skipUnless(has("numpy"), "no numpy here")
class NumpyTest(Case):
    def test_arrays(self):
        import numpy
        owner = numpy.ones((2000, 20))
        view = owner[10:20]
        objects = numpy.array([["one", ["in an array"]], ["two", ["also"]]], dtype=object)
        records = numpy.zeros(3, dtype=[("a", "f8"), ("o", "O")])
        records["o"][1] = ["in a record"]
        untouched = numpy.zeros(10 ** 6)
        narrow = numpy.arange(10, dtype="i2")
        heap = walk_self.walk(LIBRARY)
        node = self.node(heap, owner)
        self.assertEqual((node.label, node.native), ("float64 (2000, 20)", 320000))
        node = self.node(heap, view)
        self.assertEqual((node.label, node.native), ("float64 (10, 20) view", 0))
        self.assertEqual(heap.out(node, ds.INTERNAL, "base").address, id(owner))
        self.assertLess(self.node(heap, untouched).native, 1 << 16)
        self.assertGreater(heap.account["native never touched"], 8 * 10 ** 6 - (1 << 16))
        self.assertEqual(self.node(heap, narrow).label, "int16 (10,)")
        self.assertEqual(heap.out(self.node(heap, objects), ds.ITEM, 3).address,
                         id(objects[1, 1]))
        held = [heap.nodes[e.target].address for e in self.node(heap, records).edges
                if e.kind == ds.ATTRIBUTE and e.name == "o"]
        self.assertIn(id(records["o"][1]), held)

    def test_arrays_that_were_lost(self):
        """Whole pools of them, in which nothing else lies."""
        import ctypes
        import numpy
        increase = ctypes.pythonapi.Py_IncRef
        increase.argtypes = [ctypes.py_object]
        lost = []
        for _ in range(2000):
            array = numpy.ones(50)
            lost.append(id(array))
            increase(array)
        del array
        heap = walk_self.walk(LIBRARY)
        self.assertGreaterEqual(sum(1 for address in lost if address in heap.by_address), 1990)


@unittest.skipUnless(has("pandas"), "no pandas here")
class PandasTest(Case):
    def test_frames_lead_to_their_arrays_and_strings(self):
        import pandas
        frame = pandas.DataFrame({"number": [float(i) for i in range(777)],
                                  "text": ["text %d" % i for i in range(777)]})
        heap = walk_self.walk(LIBRARY)
        seen, todo = set(), [self.node(heap, frame).id]
        while todo:
            here = todo.pop()
            for edge in heap.nodes[here].edges:
                inside = edge.name not in ("__class__", "__globals__")
                if inside and edge.kind != ds.WEAK and edge.target not in seen:
                    seen.add(edge.target)
                    todo.append(edge.target)
        labels = [heap.nodes[i].label for i in seen if heap.nodes[i].type == "numpy.ndarray"]
        self.assertTrue([x for x in labels if x.startswith("float64 (1, 777)")], labels)
        self.assertIn(self.node(heap, frame["text"].iloc[5]).id, seen)


@unittest.skipUnless(has("PIL"), "no Pillow here")
class PillowTest(Case):
    def test_pixels_are_counted(self):
        from PIL import Image
        image = Image.new("RGB", (640, 480))
        heap = walk_self.walk(LIBRARY)
        self.assertEqual(self.node(heap, image.im).native, 640 * 480 * 4)


@unittest.skipUnless(has("torch"), "no torch here")
class TorchTest(Case):
    def test_a_kept_loss_keeps_its_graph(self):
        import torch
        weight = torch.randn(64, 128, requires_grad=True)
        images = torch.randn(128, 1000)
        history = [((weight @ images).relu() ** 2).sum()]
        del images
        owner = torch.zeros(1000, 1000)
        view = owner[:10]
        heap = walk_self.walk(LIBRARY)
        self.assertEqual(self.node(heap, owner).label, "float32 (1000, 1000)")
        storages = [heap.out(heap.out(self.node(heap, x), ds.NATIVE, "impl"), ds.NATIVE, "storage")
                    for x in (owner, view)]
        self.assertEqual(storages[0].id, storages[1].id)
        self.assertEqual(storages[0].native, 4 * 10 ** 6)
        seen, todo = set(), [self.node(heap, history[0]).id]
        while todo:
            for edge in heap.nodes[todo.pop()].edges:
                if edge.kind == ds.NATIVE and edge.target not in seen:
                    seen.add(edge.target)
                    todo.append(edge.target)
        types = {heap.nodes[i].type for i in seen}
        self.assertIn("torch::autograd::generated::MmBackward0", types)
        self.assertIn(128 * 1000 * 4, [heap.nodes[i].native for i in seen])

    def test_what_autograd_has_saved_is_held_by_the_graph(self):
        import torch
        weight = torch.randn(64, 64, requires_grad=True)
        loss = (weight @ make_input(torch)).sum()
        held = torch.randn(8, 8)
        heap = walk_self.walk(LIBRARY)
        reached = heap.reached()
        saved = [n for n in heap.nodes[1:] if n.label == "float32 (64, 3)"
                 and n.type == "torch.Tensor"]
        self.assertEqual(len(saved), 1)
        self.assertIn(saved[0].id, reached)
        owners = [(n.type, e.name) for n in heap.nodes[1:] for e in n.edges
                  if e.target == saved[0].id]
        self.assertEqual(owners, [("c10::TensorImpl", "wrapper")])
        self.assertEqual([n.type for n in heap.nodes[1:] for e in n.edges
                          if e.target == self.node(heap, held).id and e.name == "wrapper"], [])
        del loss


def make_input(torch):
    """A tensor that Python made, named, and lets go."""
    named = torch.randn(64, 3)
    return named


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    unittest.main()
