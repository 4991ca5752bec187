// SPDX-License-Identifier: Apache-2.0
#include "heap/suspects.h"

#include <gtest/gtest.h>

#include "heap/story.h"

namespace lowtide::heap {
namespace {

constexpr std::uint8_t kClass = kCollectable | kUser;

NodeId bytes(Sketch& heap, std::int64_t size) {
  return heap.object("builtins.bytes", size, 0, "", 0);
}
NodeId text(Sketch& heap, std::int64_t size = 60) {
  return heap.object("builtins.str", size, 0, "", 0);
}
NodeId array(Sketch& heap, std::int64_t size, std::string_view label) {
  return heap.object("numpy.ndarray", 112, size, label, kClass);
}
NodeId frame_data(Sketch& heap, std::int64_t size) {
  const NodeId block = heap.instance("pandas.core.internals.blocks.NumericBlock",
                                     {{"values", array(heap, size, "float64 (2000, 20)")}});
  const NodeId blocks = heap.object("builtins.tuple", 48);
  heap.item(blocks, 0, block);
  const NodeId manager =
      heap.instance("pandas.core.internals.managers.BlockManager", {{"blocks", blocks}});
  return heap.instance("pandas.core.frame.DataFrame", {{"_mgr", manager}});
}

std::string all(const std::vector<Suspect>& suspects) {
  std::string out;
  for (const Suspect& s : suspects) {
    out += s.type + " +" + std::to_string(s.count) + " retained " +
           std::to_string(s.retained.count) + " freed " + std::to_string(s.freed_if_all.count) +
           " content '" + s.content + "' conf " + std::to_string(s.confidence) + " " + s.reason +
           "\n";
    for (const Holder& h : s.holders) {
      out += "    " + std::to_string(h.count) + " | " + h.text + " | alone " +
             std::to_string(h.freed_if_only_this.count) + "\n";
    }
  }
  return out.empty() ? "(silence)" : out;
}

bool holds(const Suspect& suspect, std::string_view text) {
  for (const Holder& holder : suspect.holders) {
    if (holder.text.find(text) != std::string::npos) return true;
  }
  return false;
}

// The one suspect there is, of this type, held by a path that reads like this.
void expect_only(const std::vector<Suspect>& found, std::string_view type, std::string_view path,
                 double per_round = 1) {
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].type, type);
  EXPECT_TRUE(holds(found[0], path)) << "wanted: " << path;
  if (per_round > 0) {
    EXPECT_NEAR(found[0].count_per_round, per_round, 0.01);
  }
  EXPECT_GT(found[0].confidence, 0.6);
  EXPECT_NE(found[0].fingerprint, 0u);
}

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

TEST(Suspects, EveryLayerIsShownWithWhatItAloneWouldFree) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> spans, listeners;
    for (int i = 0; i < rounds; ++i) {
      const NodeId body = heap.instance("app.Body", {{"data", bytes(heap, 50'000)}});
      const NodeId listener = heap.object("builtins.function", 152, 0, "on_close in app.py:9");
      heap.edge(listener, EdgeKind::Closure, "body", body);
      listeners.push_back(listener);
      spans.push_back(body);
    }
    heap.module("tracer", {{"spans", heap.list(spans)}});
    heap.module("emitter", {{"listeners", heap.list(listeners)}});
  });
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].type, "app.Body");
  ASSERT_EQ(found[0].holders.size(), 2u);
  EXPECT_TRUE(holds(found[0], "module tracer → spans : list → [*]"));
  EXPECT_TRUE(holds(found[0], "module emitter → listeners : list → [*]"));
  EXPECT_GE(found[0].freed_if_all, Bytes{50 * 50'000});
  for (const Holder& holder : found[0].holders) {
    EXPECT_LT(holder.freed_if_only_this, Bytes{50 * 1000}) << holder.text;
  }
}

TEST(Suspects, AKeyOfAContainerThatHoldsAllIsShown) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> kept;
    for (int i = 0; i < rounds; ++i)
      kept.push_back(heap.instance("app.Event", {{"d", bytes(heap, 8'000)}}));
    const NodeId state = heap.dict({{"config", heap.list({})}, {"history", heap.list(kept)}});
    heap.module("app", {{"STATE", state}});
  });
  expect_only(found, "app.Event", "STATE : dict → ['history'] : list → [*]");
}

TEST(Suspects, ALocalOfTheMainFrameIsAHolderLikeAnyOther) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> kept;
    for (int i = 0; i < rounds; ++i)
      kept.push_back(heap.instance("__main__.Turn", {{"d", bytes(heap, 8'000)}}));
    heap.frame("main in agent.py:" + std::to_string(40 + rounds),
               {{"turns", heap.list(kept)}, {"turn", kept.back()}});
  });
  expect_only(found, "Turn", "turns : list → [*]");
  EXPECT_EQ(found[0].holders.size(), 1u) << "the round under way is nobody's holder";
}

TEST(Suspects, AReferenceThatNativeCodeLostIsItsOwnRoot) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    for (int i = 0; i < rounds; ++i) {
      heap.root(RootKind::Native, "", array(heap, 80'000, "float64 (10000,)"));
    }
  });
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].type, "numpy.ndarray");
  EXPECT_EQ(found[0].holders[0].root, "native reference");
  EXPECT_EQ(found[0].content, "float64 arrays (10000,)");
}

TEST(Suspects, LostSlicesAreNamedThoughTheyAreSmall) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    for (int i = 0; i < 20 * rounds; ++i) {
      heap.root(RootKind::Native, "", heap.object("builtins.slice", 56));
    }
  });
  expect_only(found, "slice", "native reference", 20);
}

TEST(Suspects, CyclesGrowOnlyWhileTheCollectorIsOff) {
  const Story cycles = [](Sketch& heap, int rounds) {
    for (int i = 0; i < rounds; ++i) {
      const NodeId node = heap.instance("app.Node", {{"data", bytes(heap, 20'000)}});
      const NodeId child = heap.instance("app.Node", {{"parent", node}});
      heap.edge(heap.dict_of(node), EdgeKind::Key, "child", child);
    }
    heap.module("app", {});
  };
  Telling off;
  off.gc_off = true;
  const auto found = suspects_of(cycles, off);
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].garbage);
  EXPECT_EQ(found[0].type, "app.Node");
  EXPECT_NE(found[0].reason.find("gc.disable"), std::string::npos);
  EXPECT_NE(found[0].holders[0].text.find("parent"), std::string::npos);
  EXPECT_GE(found[0].retained, Bytes{40 * 20'000});
  EXPECT_TRUE(suspects_of(cycles).size() <= 1u);  // four intervals: late, said with its reason
  Telling brief;
  brief.rounds = {10, 20, 30};
  EXPECT_TRUE(suspects_of(cycles, brief).empty());
}

TEST(Suspects, ClosuresAreNamedByTheirFunctionUnlessAClassHasTheBytes) {
  const auto story = [](bool heavy) {
    return [heavy](Sketch& heap, int rounds) {
      std::vector<NodeId> kept;
      for (int i = 0; i < 10 * rounds; ++i) {
        const NodeId made =
            heap.object("builtins.function", 152, 0, "make.<locals>.run in app.py:5");
        heap.edge(made, EdgeKind::Closure, "payload",
                  heavy ? heap.instance("app.Payload", {{"d", bytes(heap, 9'000)}})
                        : heap.object("builtins.float", 24, 0, "", 0));
        kept.push_back(made);
      }
      heap.module("app", {{"cache", heap.list(kept)}});
    };
  };
  expect_only(suspects_of(story(false)), "function", "module app → cache : list → [*]", 10);
  expect_only(suspects_of(story(true)), "app.Payload", "payload", 10);
}

TEST(Suspects, EmptySetsOfASignalMap) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    const NodeId map = heap.dict({});
    for (int i = 0; i < 10 * rounds; ++i) {
      heap.edge(map, EdgeKind::KeyObject, "", heap.object("builtins.int", 32, 0, "", 0));
      heap.edge(map, EdgeKind::Key, "", heap.object("builtins.set", 216));
    }
    heap.module("signals",
                {{"ready", heap.instance("blinker.base.Signal", {{"_by_sender", map}})}});
  });
  expect_only(found, "set", "Signal._by_sender : dict → [*]", 10);
}

TEST(Suspects, AClassAttributeIsAHolderOfItsOwnClass) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    const NodeId registry = heap.dict({});
    for (int i = 0; i < 10 * rounds; ++i) {
      heap.edge(registry, EdgeKind::Key, "id" + std::to_string(i),
                heap.instance("icat.client.Client", {{"url", text(heap)}}));
    }
    const NodeId client = heap.object("builtins.type", 1064, 0, "Client");
    heap.edge(client, EdgeKind::Internal, "__dict__",
              heap.dict({{"Register", registry}}, kCollectable | kNamespace));
    heap.module("icat.client", {{"Client", client}});
  });
  expect_only(found, "icat.client.Client", "Register : dict → [*]", 10);
}

TEST(Suspects, TwoClassesInOneListAreTwoSuspects) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> kept;
    for (int i = 0; i < rounds; ++i) {
      kept.push_back(heap.instance("app.Started", {{"d", bytes(heap, 9'000)}}));
      kept.push_back(heap.instance("app.Finished", {{"d", bytes(heap, 5'000)}}));
    }
    heap.module("app", {{"events", heap.list(kept)}});
  });
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].type, "app.Started");
  EXPECT_EQ(found[1].type, "app.Finished");
}

TEST(Suspects, AListPerUserIsHeldByAllOfThem) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<std::vector<NodeId>> users(30);
    for (int i = 0; i < 30 * rounds; ++i) {
      users[static_cast<std::size_t>(i % 30)].push_back(
          heap.instance("app.Message", {{"d", bytes(heap, 900)}}));
    }
    const NodeId inboxes = heap.dict({});
    for (const auto& user : users) heap.edge(inboxes, EdgeKind::Key, "", heap.list(user));
    heap.module("app", {{"inboxes", inboxes}});
  });
  expect_only(found, "app.Message", "module app → inboxes : dict → [*] : list → [*]", 30);
  EXPECT_GE(found[0].freed_if_all, Bytes{30 * 50 * 900});
}

TEST(Suspects, OnlyTheLeakedPartOfATypeIsTracedToItsHolder) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> kept, passing;
    for (int i = 0; i < rounds; ++i)
      kept.push_back(heap.instance("app.Job", {{"d", bytes(heap, 9'000)}}));
    heap.module("app", {{"done", heap.list(kept)}});
    for (int i = 0; i < 500 + rounds % 3; ++i) {
      passing.push_back(heap.instance("app.Job", {{"d", bytes(heap, 9'000)}}));
    }
    heap.frame("main in app.py:9", {{"queue", heap.list(passing)}});
  });
  expect_only(found, "app.Job", "module app → done : list → [*]");
  EXPECT_EQ(found[0].holders.size(), 1u);
}

TEST(Suspects, NumberedNamesOfANamespaceAreOneShape) {
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    Sketch::Members members;
    for (int i = 0; i < rounds; ++i) {
      members.emplace_back("result_" + std::to_string(i),
                           heap.instance("app.Result", {{"d", bytes(heap, 9'000)}}));
    }
    heap.module("app", members);
  });
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].type, "app.Result");
}

TEST(Suspects, AHolderThatChangesBetweenSnapshotsLosesNoGrowth) {
  // The objects are all in both lists; the shorter way to them is another one each time.
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> kept;
    for (int i = 0; i < rounds; ++i)
      kept.push_back(heap.instance("app.Result", {{"d", bytes(heap, 9'000)}}));
    const NodeId near = heap.list(kept), far = heap.list(kept);
    const bool odd = rounds / 10 % 2 == 1;
    heap.module("app",
                {{"a", odd ? near : heap.list({near})}, {"b", odd ? heap.list({far}) : far}});
  });
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].type, "app.Result");
  EXPECT_EQ(found[0].holders.size(), 2u);
}

TEST(Suspects, ACallUnderWayThatHoldsTheContainerHidesNothing) {
  // In the third snapshot a frame holds the list and the array by a shorter way.
  const auto found = suspects_of([](Sketch& heap, int rounds) {
    std::vector<NodeId> kept;
    for (int i = 0; i < 10 * rounds; ++i) kept.push_back(text(heap, 500));
    const NodeId list = heap.list(kept);
    const NodeId trace = array(heap, 8'000 * rounds, "float64 (n,)");
    const NodeId inner = heap.instance("app.Inner", {{"lines", list}, {"trace", trace}});
    heap.module("app", {{"outer", heap.instance("app.Outer", {{"inner", inner}})}});
    if (rounds == 30) heap.frame("append in app.py:3", {{"lines", list}, {"array", trace}});
  });
  SCOPED_TRACE(all(found));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(holds(found[0], "Inner.trace"));
  EXPECT_TRUE(holds(found[1], "Inner.lines : list"));
}

TEST(Suspects, TheSameLeakHasTheSameFingerprintInTheNextRun) {
  const auto story = [](int base) {
    return [base](Sketch& heap, int rounds) {
      for (int i = 0; i < base; ++i) text(heap);
      std::vector<NodeId> kept;
      for (int i = 0; i < rounds * base; ++i)
        kept.push_back(heap.instance("app.R", {{"d", bytes(heap, 9'000)}}));
      heap.frame("main in app.py:" + std::to_string(rounds), {{"kept", heap.list(kept)}});
    };
  };
  const auto one = suspects_of(story(1)), other = suspects_of(story(3));
  ASSERT_EQ(one.size(), 1u);
  ASSERT_EQ(other.size(), 1u);
  EXPECT_EQ(one[0].fingerprint, other[0].fingerprint);
}

TEST(Suspects, WithoutRoundsGrowthIsPerSecondAndTwoSnapshotsAreLessSure) {
  const Story story = [](Sketch& heap, int rounds) {
    std::vector<NodeId> kept;
    for (int i = 0; i < rounds; ++i)
      kept.push_back(heap.instance("app.R", {{"d", bytes(heap, 9'000)}}));
    heap.module("app", {{"kept", heap.list(kept)}});
  };
  Telling telling;
  telling.count_rounds = false;
  const auto found = suspects_of(story, telling);
  ASSERT_EQ(found.size(), 1u) << all(found);
  EXPECT_EQ(found[0].count_per_round, 0);
  EXPECT_NEAR(found[0].count_per_second, 2, 0.01);
  telling.rounds = {10, 50};
  const auto two = suspects_of(story, telling);
  ASSERT_EQ(two.size(), 1u) << all(two);
  EXPECT_LT(two[0].confidence, 0.5);
  EXPECT_EQ(two[0].type, "app.R");
}

}  // namespace
}  // namespace lowtide::heap
