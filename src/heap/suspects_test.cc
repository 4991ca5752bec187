// SPDX-License-Identifier: Apache-2.0
#include "heap/suspects.h"

#include <gtest/gtest.h>

#include "heap/kinds.h"

namespace lowtide::heap {
namespace {

TEST(Suspects, AListOfResultsOfAnotherPackageIsNamedByWhatHasTheBytes) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> kept;
    for (int i = 0; i < rounds; ++i) {
      kept.push_back(heap.instance("pipeline.Result", {{"frame", frame_data(heap, 320'000)}}));
    }
    heap.module("pipeline", {{"_history", heap.list(kept)}});
  });
  expect_only(found, "pandas.DataFrame", "module pipeline → _history : list → [*] → Result.frame");
  EXPECT_EQ(found[0].count, 40);
  EXPECT_EQ(found[0].content, "float64 arrays (2000, 20)");
  EXPECT_GT(found[0].retained, Bytes{40 * 320'000});
  EXPECT_GE(found[0].freed_if_all, Bytes{50 * 320'000});
  ASSERT_EQ(found[0].holders.size(), 1u);
  EXPECT_EQ(found[0].holders[0].root, "module pipeline");
  EXPECT_EQ(found[0].holders[0].count, 40);
  EXPECT_EQ(found[0].holders[0].freed_if_only_this, found[0].freed_if_all);
}

TEST(Suspects, ACacheIsNamedByItsValuesAndNotByItsKeys) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    const NodeId cache = heap.dict({});
    for (int i = 0; i < rounds; ++i) {
      const NodeId key = heap.object("builtins.tuple", 56);
      heap.item(key, 0, text(heap));
      heap.edge(cache, EdgeKind::KeyObject, "", key);
      heap.edge(cache, EdgeKind::Key, "",
                heap.instance("app.Model", {{"weights", array(heap, 80'000, "float32 (20000,)")}}));
    }
    heap.module("app", {{"CACHE", cache}});
  });
  expect_only(found, "app.Model", "module app → CACHE : dict → [*]");
  EXPECT_EQ(found[0].content, "float32 arrays (20000,)");
}

TEST(Suspects, ASelfInACacheKeyIsWhatTheCacheKeeps) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    const NodeId cache = heap.dict({});
    for (int i = 0; i < rounds; ++i) {
      const NodeId key = heap.object("functools._HashedSeq", 72);
      heap.item(key, 0, heap.instance("app.RepoClient", {{"files", bytes(heap, 50'000)}}));
      heap.edge(cache, EdgeKind::KeyObject, "", key);
      heap.edge(cache, EdgeKind::Key, "", heap.object("builtins.float", 24, 0, "", 0));
    }
    const NodeId wrapper = heap.object("functools._lru_cache_wrapper", 100, 0, "fetch");
    heap.edge(wrapper, EdgeKind::Internal, "cache", cache);
    heap.module("app", {{"fetch", wrapper}});
  });
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(holds(found[0], "module app → fetch"));
  EXPECT_TRUE(found[0].type == "app.RepoClient") << found[0].type;
}

TEST(Suspects, ATracebackIsNamedByTheLocalThatHasTheBytes) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> tasks;
    for (int i = 0; i < rounds; ++i) {
      const NodeId frame = heap.object("builtins.frame", 400, 0, "load in app.py:12");
      heap.edge(frame, EdgeKind::Local, "table", frame_data(heap, 100'000));
      const NodeId trace = heap.object("builtins.traceback", 64);
      heap.edge(trace, EdgeKind::Attribute, "tb_frame", frame);
      const NodeId error = heap.object("builtins.ValueError", 80);
      heap.edge(error, EdgeKind::Attribute, "__traceback__", trace);
      tasks.push_back(heap.instance("asynq.AsyncTask", {{"_error", error}}));
    }
    heap.module("app", {{"failed", heap.list(tasks)}});
  });
  expect_only(found, "pandas.DataFrame", "AsyncTask._error → ValueError.__traceback__");
  EXPECT_TRUE(holds(found[0], "table"));
}

TEST(Suspects, ATracebackOfPlainBytesIsStillFollowedToTheLocal) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> errors;
    for (int i = 0; i < rounds; ++i) {
      const NodeId frame = heap.object("builtins.frame", 400, 0, "handle in app.py:12");
      heap.edge(frame, EdgeKind::Local, "body", bytes(heap, 1 << 20));
      const NodeId trace = heap.object("builtins.traceback", 64);
      heap.edge(trace, EdgeKind::Attribute, "tb_frame", frame);
      const NodeId error = heap.object("builtins.ValueError", 80);
      heap.edge(error, EdgeKind::Attribute, "__traceback__", trace);
      errors.push_back(error);
    }
    heap.module("app", {{"errors", heap.list(errors)}});
  });
  expect_only(found, "bytes", "module app → errors : list → [*] → ValueError.__traceback__");
  EXPECT_EQ(found[0].content, "1.00 MiB each");
  EXPECT_TRUE(holds(found[0], "body"));
}

TEST(Suspects, ALongLivedFutureKeepsTheTasksThatWaitedForIt) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    const NodeId waiters = heap.object("builtins.set", 216);
    for (int i = 0; i < rounds; ++i) {
      const NodeId task = heap.object("_asyncio.Task", 200);
      const NodeId coro = heap.object("builtins.coroutine", 200, 0, "worker in app.py:3");
      heap.edge(task, EdgeKind::Attribute, "_coro", coro);
      heap.edge(coro, EdgeKind::Local, "buffer", bytes(heap, 4'000));
      heap.edge(waiters, EdgeKind::Item, "", task);
    }
    const NodeId future = heap.object("_asyncio.Future", 160);
    heap.edge(future, EdgeKind::Attribute, "_asyncio_awaited_by", waiters);
    heap.module("app", {{"shutdown", future}});
  });
  expect_only(found, "asyncio.Task", "_asyncio_awaited_by");
}

TEST(Suspects, CallbacksOfAFutureAreNamedByTheirFunction) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> callbacks;
    for (int i = 0; i < 10 * rounds; ++i) {
      const NodeId pair = heap.object("builtins.tuple", 56);
      heap.item(pair, 0,
                heap.object("builtins.function", 152, 0, "wait.<locals>.done in app.py:8"));
      callbacks.push_back(pair);
    }
    const NodeId future = heap.object("_asyncio.Future", 160);
    heap.edge(future, EdgeKind::Attribute, "_callbacks", heap.list(callbacks));
    heap.module("app", {{"shutdown", future}});
  });
  expect_only(found, "function", "Future._callbacks : list", 10);
  EXPECT_EQ(found[0].content, "wait.<locals>.done in app.py:8");
}

TEST(Suspects, AContextKeepsWhatItWasCopiedWith) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> handles;
    for (int i = 0; i < rounds; ++i) {
      const NodeId process =
          heap.instance("aiida.engine.Process", {{"inputs", bytes(heap, 30'000)}});
      const NodeId stack = heap.list({process});
      const NodeId context = heap.object("_contextvars.Context", 80);
      heap.edge(context, EdgeKind::Attribute, "PROCESS_STACK", stack);
      const NodeId handle = heap.object("asyncio.events.Handle", 100);
      heap.edge(handle, EdgeKind::Attribute, "_context", context);
      handles.push_back(handle);
    }
    heap.module("kiwipy", {{"_handles", heap.list(handles)}});
  });
  expect_only(found, "aiida.engine.Process", "Handle._context");
}

TEST(Suspects, LoggersHangOnTheManager) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    const NodeId loggers = heap.dict({});
    for (int i = 0; i < 20 * rounds; ++i) {
      heap.edge(loggers, EdgeKind::KeyObject, "", text(heap));
      const NodeId logger = heap.object("logging.Logger", 48);
      heap.edge(logger, EdgeKind::Internal, "__dict__",
                heap.dict({{"handlers", heap.list({})}}, kCollectable | kNamespace));
      heap.edge(loggers, EdgeKind::Key, "call_" + std::to_string(i), logger);
    }
    const NodeId manager = heap.object("logging.Manager", 48);
    heap.edge(manager, EdgeKind::Internal, "__dict__",
              heap.dict({{"loggerDict", loggers}}, kCollectable | kNamespace));
    heap.module("logging", {{"manager", manager}});
  });
  expect_only(found, "logging.Logger", "Manager.loggerDict : dict", 20);
}

TEST(Suspects, ABufferThatOnlyGetsLargerIsNamedInPlace) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    const NodeId stream = heap.object("_io.StringIO", 80 + 10'000 * rounds);
    const NodeId handler = heap.object("logging.StreamHandler", 48);
    heap.edge(handler, EdgeKind::Internal, "__dict__",
              heap.dict({{"stream", stream}}, kCollectable | kNamespace));
    heap.module("app", {{"handler", handler}});
  });
  expect_only(found, "io.StringIO", "StreamHandler.stream", 0);
  EXPECT_EQ(found[0].count, 0);
  EXPECT_NE(found[0].content.find("grows in place"), std::string::npos);
  EXPECT_EQ(found[0].retained, Bytes{400'000});
}

TEST(Suspects, ADataFrameThatIsExtendedIsNamedAndNotItsBlocks) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    heap.module("app", {{"table", frame_data(heap, 40'000 * rounds)}});
  });
  expect_only(found, "pandas.DataFrame", "module app → table", 0);
}

TEST(Suspects, AListOfFloatsIsNamedByTheFloatsAndItsOwnSlotsCount) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> floats;
    for (int i = 0; i < 200 * rounds; ++i) {
      floats.push_back(heap.object("builtins.float", 24, 0, "", 0));
    }
    const NodeId list = heap.object("builtins.list", 56 + 8 * 200 * rounds);
    for (const NodeId f : floats) heap.append(list, f);
    heap.module("app", {{"losses", list}});
  });
  expect_only(found, "float", "module app → losses : list", 200);
  EXPECT_EQ(found[0].retained, Bytes{40 * 200 * 32});
}

TEST(Suspects, AListOfTheSameSmallObjectIsTheListItself) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    const NodeId none = heap.object("builtins.NoneType", 16, 0, "", kStatic);
    const NodeId list = heap.object("builtins.list", 8000 * rounds);
    heap.append(list, none);
    heap.module("app", {{"flags", list}, {"nothing", none}});
  });
  expect_only(found, "list", "module app → flags", 0);
}

TEST(Suspects, BytesInAListSaySoWithTheirSize) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> kept;
    for (int i = 0; i < rounds; ++i) kept.push_back(bytes(heap, 1 << 20));
    heap.module("app", {{"bodies", heap.list(kept)}});
  });
  expect_only(found, "bytes", "module app → bodies : list → [*]");
  EXPECT_EQ(found[0].content, "1.00 MiB each");
}

TEST(Suspects, ARequestHeldPerThreadIsHeldByTheThreadLocal) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    for (int i = 0; i < rounds; ++i) {
      const NodeId local =
          heap.dict({{"request", heap.instance("web.Request", {{"body", bytes(heap, 9'000)}})}});
      heap.root(RootKind::Thread, "thread-locals of Thread-" + std::to_string(i), local);
    }
  });
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].type, "web.Request");
  EXPECT_NE(found[0].holders[0].root.find("thread-locals"), std::string::npos);
}

TEST(Suspects, DynamicClassesAreNamedByTheirPattern) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> classes;
    for (int i = 0; i < rounds; ++i) {
      const NodeId made = heap.object("builtins.type", 1064, 0, "Model_" + std::to_string(100 + i));
      const NodeId names = heap.dict({}, kCollectable | kNamespace);
      heap.edge(names, EdgeKind::Key, "run",
                heap.object("builtins.function", 152, 0, "run in app.py:3"));
      heap.edge(made, EdgeKind::Internal, "__dict__", names);
      heap.edge(made, EdgeKind::Internal, "__mro__", heap.object("builtins.tuple", 64));
      classes.push_back(made);
    }
    const NodeId base = heap.object("builtins.type", 1064, 0, "Base");
    heap.edge(base, EdgeKind::Internal, "__dict__",
              heap.dict({{"_subclasses", heap.list(classes)}}, kCollectable | kNamespace));
    heap.module("schema", {{"Base", base}});
  });
  expect_only(found, "type", "_subclasses : list → [*]");
  EXPECT_EQ(found[0].content.substr(0, 7), "Model_1");
}

TEST(Suspects, WhatAtexitKeepsIsTheObjectOfTheMethod) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    for (int i = 0; i < rounds; ++i) {
      const NodeId object = heap.instance("gdx.GdxFile", {{"data", bytes(heap, 20'000)}});
      const NodeId method = heap.object("builtins.method", 64);
      heap.edge(method, EdgeKind::Attribute, "__self__", object);
      heap.root(RootKind::Runtime, "atexit", method);
    }
  });
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].type, "gdx.GdxFile");
  EXPECT_NE(found[0].holders[0].root.find("atexit"), std::string::npos);
  EXPECT_GT(found[0].freed_if_all, Bytes{50 * 20'000});
}

TEST(Suspects, MockCallsAreNamedWithBothLists) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> calls, args;
    for (int i = 0; i < 10 * rounds; ++i) {
      for (auto* list : {&calls, &args}) {
        const NodeId call = heap.object("unittest.mock._Call", 80);
        heap.item(call, 0, heap.object("builtins.tuple", 56));
        list->push_back(call);
      }
    }
    const NodeId mock =
        heap.instance("unittest.mock.MagicMock",
                      {{"mock_calls", heap.list(calls)}, {"call_args_list", heap.list(args)}});
    heap.module("app", {{"client", mock}});
  });
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].type, "unittest.mock._Call");
  EXPECT_EQ(found[0].holders.size(), 2u);
  EXPECT_TRUE(holds(found[0], "mock_calls"));
  EXPECT_TRUE(holds(found[0], "call_args_list"));
  EXPECT_NEAR(found[0].count_per_round, 20, 0.01);
}

TEST(Suspects, ALinkedListFoldsAndIsNamedOnce) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    NodeId head = 0;
    for (int i = 0; i < 100 * rounds; ++i) {
      head = head == 0 ? heap.instance("app.HookInfo", {})
                       : heap.instance("app.HookInfo", {{"trigger", head}});
    }
    heap.module("app", {{"head", head}});
  });
  expect_only(found, "app.HookInfo", "HookInfo", 100);
  ASSERT_EQ(found[0].holders.size(), 1u);
  EXPECT_LT(found[0].holders[0].text.size(), 120u);
  EXPECT_NE(found[0].holders[0].text.find("×"), std::string::npos);
}

// Nodes with slots, each before it in the list.
std::vector<NodeId> chain(Sketch& heap, int length, const char* link, std::int64_t payload = 0) {
  std::vector<NodeId> nodes;
  for (int i = 0; i < length; ++i) {
    nodes.push_back(heap.object("__main__.Node", 32, 0, "", kClass));
    heap.edge(nodes.back(), EdgeKind::Attribute, "value",
              payload == 0 ? heap.object("builtins.int", 32, 0, "", 0)
                           : heap.object("builtins.bytearray", 56, payload, "", 0));
    if (i == 0) continue;
    const bool next = std::string_view(link) == "next";
    heap.edge(nodes[nodes.size() - (next ? 2 : 1)], EdgeKind::Attribute, link,
              nodes[nodes.size() - (next ? 1 : 2)]);
  }
  return nodes;
}

TEST(Suspects, AChainThatGrowsAtItsHeadIsHeldByTheHead) {
  for (const std::int64_t payload : {0, 1000}) {
    const auto found = suspects_of([payload](Sketch& heap, int rounds) {
      const NodeId head = chain(heap, 300 * rounds, "older", payload).back();
      heap.module("__main__", {{"log", heap.instance("__main__.Log", {{"head", head}})}});
    });
    expect_only(found, "Node", "module __main__ → log → Log.head → Node.older ×", 300);
    EXPECT_EQ(found[0].holders.size(), 1u);
  }
}

TEST(Suspects, AChainThatGrowsAtItsTailIsHeldByTheHead) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    const std::vector<NodeId> nodes = chain(heap, 300 * rounds, "next");
    heap.module("__main__", {{"head", nodes.front()}, {"tail", nodes.back()}});
  });
  expect_only(found, "Node", "module __main__ → head → Node.next ×", 300);
}

TEST(Suspects, AChainLinkedBothWaysIsOneSuspectHeldAtBothEnds) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    const std::vector<NodeId> nodes = chain(heap, 300 * rounds, "next");
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      heap.edge(nodes[i], EdgeKind::Attribute, "prev", nodes[i - 1]);
    }
    const NodeId log =
        heap.instance("__main__.Log", {{"head", nodes.front()}, {"tail", nodes.back()}});
    heap.module("__main__", {{"books", heap.dict({{"a", log}})}});
  });
  expect_only(found, "Node", "module __main__ → books : dict → ['a'] → Log.head → Node.next ×",
              300);
  EXPECT_TRUE(holds(found[0], "Log.tail → Node.prev ×"));
}

TEST(Suspects, NativeMemoryBesideAClassInOneContainerIsTheClasss) {
  // Such as a container of a C++ library shows that holds storages of its own beside its tensors.
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> losses;
    for (int i = 0; i < rounds; ++i) {
      losses.push_back(heap.object("torch.Tensor", 80, 0, "float32 ()", kClass));
      const NodeId impl = heap.object("c10::TensorImpl", 192, 0, "", kSynthetic);
      heap.edge(losses.back(), EdgeKind::Native, "", impl);
    }
    const NodeId kept = heap.list(losses);
    for (int i = 0; i < rounds; ++i) {
      heap.edge(kept, EdgeKind::Native, "",
                heap.object("torch storage", 0, 40'000, "", kSynthetic | kStorage));
    }
    heap.module("train", {{"trainer", heap.instance("train.Trainer", {{"losses", kept}})}});
  });
  expect_only(found, "torch.Tensor",
              "module train → trainer → Trainer.losses : list → [*] : Tensor");
  EXPECT_GE(found[0].retained, Bytes{40 * 40'000});
  EXPECT_GE(found[0].freed_if_all, found[0].retained);
  EXPECT_EQ(found[0].holders[0].freed_if_only_this, found[0].freed_if_all);
}

TEST(Suspects, ASumThatKeepsTheLossesIsTheirSecondHolder) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> losses;
    NodeId sum = 0;
    for (int i = 0; i < 20 * rounds; ++i) {
      losses.push_back(heap.object("torch.Tensor", 80, 4'096, "float32 (1024,)", kClass));
      const NodeId before = sum;
      sum = heap.object("torch::autograd::AddBackward0", 192, 0, "", kSynthetic);
      heap.edge(sum, EdgeKind::Native, "", losses.back());
      if (before != 0) heap.edge(sum, EdgeKind::Native, "", before);
    }
    const NodeId total = heap.object("torch.Tensor", 80, 4, "float32 ()", kClass);
    heap.edge(total, EdgeKind::Native, "", sum);
    heap.module("train", {{"losses", heap.list(losses)}, {"total", total}});
  });
  expect_only(found, "torch.Tensor", "module train → losses : list → [*] : Tensor", 20);
  EXPECT_TRUE(holds(found[0], "module train → total"));
  EXPECT_LE(found[0].freed_if_all, Bytes{1000 * (80 + 4'096 + 192)});
}

TEST(Suspects, NativeMemoryWithAHolderOfItsOwnIsASuspect) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> losses;
    NodeId sum = 0;
    for (int i = 0; i < 20 * rounds; ++i) {
      losses.push_back(heap.object("torch.Tensor", 80, 4'096, "float32 (1024,)", kClass));
      const NodeId before = sum;
      sum = heap.object("torch::autograd::AddBackward0", 192, 9'000, "", kSynthetic);
      if (before != 0) heap.edge(sum, EdgeKind::Native, "", before);
    }
    const NodeId total = heap.object("torch.Tensor", 80, 4, "float32 ()", kClass);
    heap.edge(total, EdgeKind::Native, "", sum);
    heap.module("train", {{"losses", heap.list(losses)}, {"total", total}});
  });
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(holds(found[0], "module train → total"));
  EXPECT_TRUE(holds(found[1], "module train → losses"));
}

TEST(Suspects, AGraphOfTensorsIsHeldByTheLossHistory) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> losses;
    for (int i = 0; i < rounds; ++i) {
      NodeId node = heap.object("torch.Tensor", 80, 4'096, "float32 (1024,)", kClass);
      for (int j = 0; j < 4; ++j) {
        const NodeId parents = heap.object("builtins.tuple", 56);
        heap.item(parents, 0, node);
        node = heap.object("torch.Tensor", 80, 4'096, "float32 (1024,)", kClass);
        heap.edge(node, EdgeKind::Attribute, "_parents", parents);
      }
      losses.push_back(node);
    }
    heap.module("train", {{"loss_history", heap.list(losses)}});
  });
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].type, "torch.Tensor");
  EXPECT_TRUE(holds(found[0], "module train → loss_history : list → [*]"));
}

TEST(Suspects, TheObjectOfTheProgramInALibrarysRecordOfIt) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    Sketch::Members registry;
    for (int i = 0; i < rounds; ++i) {
      const NodeId method = heap.object("builtins.method", 64);
      heap.edge(method, EdgeKind::Attribute, "__self__",
                heap.instance("app.Lease", {{"blob", bytes(heap, 5000)}}));
      const NodeId info = heap.object("weakref.finalize._Info", 56);
      heap.edge(info, EdgeKind::Attribute, "func", method);
      registry.emplace_back(std::to_string(i), info);
    }
    heap.module("weakref", {{"registry", heap.dict(registry)}});
  });
  expect_only(found, "app.Lease", "_Info.func");
}

}  // namespace
}  // namespace lowtide::heap
