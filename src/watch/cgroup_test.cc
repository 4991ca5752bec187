// SPDX-License-Identifier: Apache-2.0
#include "watch/cgroup.h"

#include <gtest/gtest.h>

#include <string>

#include "watch/testing.h"

namespace lowtide::watch {
namespace {

using testing::Folder;

constexpr std::string_view kUnlimited = "9223372036854771712\n";

// A machine of 8 GiB with a process 7.
struct Machine {
  Machine() { folder.write("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\n"); }
  Roots roots() const { return {folder / "proc", folder / "cgroup"}; }
  Container of_7() const { return Container::of(roots(), 7); }
  void group(std::string_view text) const { folder.write("proc/7/cgroup", text); }
  void write(const std::string& name, std::string_view text) const {
    folder.write("cgroup/" + name, text);
  }
  Folder folder;
};

TEST(Container, V2TakesTheSmallestLimitOnTheWayUp) {
  Machine m;
  m.group("0::/pods/pod/app\n");
  m.write("cgroup.controllers", "memory\n");
  m.write("pods/memory.current", "900\n");
  m.write("pods/memory.max", "4294967296\n");
  m.write("pods/memory.high", "1073741824\n");
  m.write("pods/pod/memory.current", "800\n");
  m.write("pods/pod/memory.max", "2147483648\n");
  m.write("pods/pod/memory.swap.max", "0\n");
  m.write("pods/pod/app/memory.current", "700\n");
  m.write("pods/pod/app/memory.max", "max\n");
  Container container = m.of_7();
  Limit limit = container.limit();
  EXPECT_EQ(limit.bytes, 2147483648);
  EXPECT_EQ(limit.source, "container limit");
  EXPECT_EQ(limit.where, m.folder / "cgroup/pods/pod/memory.max");
  EXPECT_EQ(limit.high, 1073741824);
  EXPECT_EQ(limit.swap, 0);
  EXPECT_EQ(container.usage(), 800);
  ASSERT_EQ(container.groups().size(), 4u - 0u);
  EXPECT_EQ(container.groups()[0].path, "/pods/pod/app");
}

TEST(Container, V2FromInsideANamespaceIsTheMountsTop) {
  Machine m;
  m.group("0::/\n");
  m.write("cgroup.controllers", "memory\n");
  m.write("memory.current", "500\n");
  m.write("memory.max", "536870912\n");
  Limit limit = m.of_7().limit();
  EXPECT_EQ(limit.bytes, 536870912);
  EXPECT_EQ(m.of_7().usage(), 500);
}

TEST(Container, V1FromInsideWithoutANamespaceStripsTheMountsRoot) {
  Machine m;
  m.group("9:cpu:/\n4:memory:/docker/abc\n0::/\n");
  m.folder.write(
      "proc/self/mountinfo",
      "30 25 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
      "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro shared:7 - cgroup cgroup rw,memory\n");
  m.write("memory/memory.usage_in_bytes", "300\n");
  m.write("memory/memory.limit_in_bytes", "268435456\n");
  Container container = m.of_7();
  EXPECT_EQ(container.limit().bytes, 268435456);
  EXPECT_EQ(container.groups()[0].path, "/docker/abc");
  EXPECT_EQ(container.groups()[0].version, 1);
  EXPECT_EQ(container.usage(), 300);
}

TEST(Container, V1KnowsLimitsAboveWhatTheMountShows) {
  Machine m;
  m.group("4:memory:/a\n");
  m.write("memory/memory.limit_in_bytes", kUnlimited);
  m.write("memory/a/memory.usage_in_bytes", "300\n");
  m.write("memory/a/memory.limit_in_bytes", kUnlimited);
  m.write("memory/a/memory.stat", "cache 5\nrss 6\nhierarchical_memory_limit 1073741824\n");
  EXPECT_EQ(m.of_7().limit().bytes, 1073741824);
}

TEST(Container, HybridUsesTheHierarchyThatHoldsMemory) {
  Machine m;
  m.group("4:memory:/app\n1:name=systemd:/x\n0::/other\n");
  m.write("unified/cgroup.controllers", "hugetlb\n");
  m.write("memory/memory.usage_in_bytes", "9\n");
  m.write("memory/app/memory.usage_in_bytes", "7\n");
  m.write("memory/app/memory.limit_in_bytes", "1048576\n");
  m.write("memory/app/memory.memsw.limit_in_bytes", "3145728\n");
  Container container = m.of_7();
  EXPECT_EQ(container.limit().bytes, 1048576);
  EXPECT_EQ(container.limit().swap, 2097152);
}

TEST(Container, UnlimitedMeansTheMachine) {
  Machine m;
  m.group("4:memory:/app\n");
  m.write("memory/app/memory.usage_in_bytes", "7\n");
  m.write("memory/app/memory.limit_in_bytes", kUnlimited);
  Limit limit = m.of_7().limit();
  EXPECT_EQ(limit.bytes, std::int64_t{8} << 30);
  EXPECT_EQ(limit.source, "memory of this machine");
  EXPECT_EQ(limit.where, m.folder / "proc/meminfo");
}

TEST(Container, ALimitAboveTheMachineIsNone) {
  Machine m;
  m.group("0::/app\n");
  m.write("cgroup.controllers", "memory\n");
  m.write("app/memory.current", "7\n");
  m.write("app/memory.max", "1099511627776\n");
  EXPECT_EQ(m.of_7().limit().source, "memory of this machine");
}

TEST(Container, TheAddressSpaceCanBeTheSmallest) {
  Machine m;
  m.group("0::/\n");
  m.folder.write(
      "proc/7/limits",
      "Limit                     Soft Limit           Hard Limit           Units     \n"
      "Max open files            20000                20000                files     \n"
      "Max address space         1048576000           unlimited            bytes     \n");
  Limit limit = m.of_7().limit();
  EXPECT_EQ(limit.bytes, 1048576000);
  EXPECT_EQ(limit.source, "ulimit -v");
}

TEST(Container, WithoutAnythingNothingIsKnown) {
  Folder empty;
  Container container = Container::of({empty.path(), empty.path()}, 7);
  EXPECT_FALSE(container.known());
  EXPECT_EQ(container.limit().bytes, 0);
  EXPECT_EQ(container.limit().source, "");
  EXPECT_EQ(container.usage(), -1);
  EXPECT_EQ(container.stat().file, -1);
  EXPECT_EQ(container.events(0).oom_kill, -1);
}

TEST(Container, PathsOfNonsenseStayInsideTheMount) {
  Machine m;
  m.write("cgroup.controllers", "memory\n");
  m.write("memory.current", "500\n");
  m.write("memory.max", "536870912\n");
  m.folder.write("secret/memory.max", "1\n");
  m.folder.write("secret/memory.current", "1\n");
  for (const char* path : {"0::/../secret\n", "0::\n", "0::/gone/away\n", "0::/a:b\n"}) {
    m.group(path);
    EXPECT_EQ(m.of_7().limit().bytes, 536870912) << path;
  }
  m.group("::::\n:\n4:memory\n0\n");
  EXPECT_EQ(m.of_7().limit().source, "memory of this machine");
}

TEST(Container, AGroupWithoutTheControllerIsPassedOver) {
  Machine m;
  m.group("0::/user/session\n");
  m.write("cgroup.controllers", "memory\n");
  m.write("user/session/cgroup.procs", "7\n");
  m.write("user/memory.current", "44\n");
  m.write("user/memory.max", "1048576\n");
  Container container = m.of_7();
  EXPECT_EQ(container.limit().bytes, 1048576);
  EXPECT_EQ(container.groups()[0].path, "/user");
}

TEST(Container, StatHasOneNameForBothVersions) {
  Machine m;
  m.write("cgroup.controllers", "memory\n");
  m.group("0::/app\n");
  m.write("app/memory.current", "7\n");
  m.write("app/memory.stat",
          "anon 100\nfile 200\nkernel 70\nkernel_stack 10\npagetables 20\nsock 5\nshmem 30\n"
          "file_mapped 40\nslab 33\n");
  MemoryStat v2 = m.of_7().stat();
  EXPECT_EQ(v2.anonymous, 100);
  EXPECT_EQ(v2.file, 200);
  EXPECT_EQ(v2.kernel_stack, 10);
  EXPECT_EQ(v2.page_tables, 20);
  EXPECT_EQ(v2.slab, 33);
  EXPECT_EQ(v2.sock, 5);
  m.group("4:memory:/app\n");
  m.write("memory/app/memory.usage_in_bytes", "7\n");
  m.write("memory/app/memory.stat",
          "cache 1\nrss 2\ntotal_cache 200\ntotal_rss 100\ntotal_shmem 30\n");
  m.write("memory/app/memory.kmem.usage_in_bytes", "70\n");
  MemoryStat v1 = m.of_7().stat();
  EXPECT_EQ(v1.anonymous, 100);
  EXPECT_EQ(v1.file, 200);
  EXPECT_EQ(v1.shmem, 30);
  EXPECT_EQ(v1.kernel, 70);
  EXPECT_EQ(v1.slab, -1);
}

TEST(Container, OfOurselvesNeverFails) {
  Container container = Container::of(Roots{}, getpid());
  Limit limit = container.limit();
  EXPECT_GT(limit.bytes, 0);
  EXPECT_FALSE(limit.source.empty());
}

}  // namespace
}  // namespace lowtide::watch
