// SPDX-License-Identifier: Apache-2.0

// The disk does not take it, or the file goes away. The writer goes on, counts and says so.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "base/file.h"
#include "recording/database.h"
#include "recording/recording.h"
#include "recording/testing.h"

namespace lowtide::recording {
namespace {

namespace fs = std::filesystem;
using testing::Folder;
using testing::make_reader;
using testing::make_writer;
using testing::sample_at;

// Limits, mounts and the like would trouble the tests that follow.
bool in_a_process_of_its_own(const std::function<void()>& check) {
  const pid_t child = ::fork();
  if (child == 0) {
    check();
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void put_seconds(Writer& writer, int from, int to) {
  for (int second = from; second < to; ++second) {
    for (int i = 0; i < 10; ++i) {
      for (int process = 0; process < 20; ++process) {
        writer.put(sample_at(second + i * 0.1, process, second * 1000 + i));
      }
    }
    writer.put(Round{second * 1.0, 1, "lines"});
    writer.settle(second);
  }
}

TEST(LosingWriter, GoesOnWhenTheFileMayNotGrow) {
  Folder folder;
  const std::string path = folder.path("x.tide");
  EXPECT_TRUE(in_a_process_of_its_own([&] {
    auto writer = make_writer(path);
    put_seconds(*writer, 0, 20);
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit tight{300'000, RLIM_INFINITY};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
    put_seconds(*writer, 20, 300);
    EXPECT_NE(writer->trouble().find("readings"), std::string::npos) << writer->trouble();
    const auto heap = testing::put_heap(*writer, 1, testing::some_bytes(900'000, 1));
    EXPECT_GT(heap, 0);
    EXPECT_NE(writer->trouble().find("of heaps"), std::string::npos) << writer->trouble();
    writer->put(Process{1, 1, 0, "late", "", 0, std::nullopt, 0, ""});
    writer->finish(End{});
    EXPECT_NE(writer->trouble().find("x.tide lacks "), std::string::npos) << writer->trouble();
  }));
  auto reader = make_reader(path);
  ASSERT_TRUE(reader);
  EXPECT_GE(reader->samples(1).size(), 200u);
  EXPECT_FALSE(reader->missing().empty());
}

TEST(LosingWriter, OffersAgainWhatTheDiskRefusedOnceThereIsRoom) {
  Folder folder;
  const std::string path = folder.path("x.tide");
  EXPECT_TRUE(in_a_process_of_its_own([&] {
    auto writer = make_writer(path);
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{100'000, RLIM_INFINITY};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    put_seconds(*writer, 0, 15);
    EXPECT_NE(writer->trouble().find("cannot write"), std::string::npos) << writer->trouble();
    limit.rlim_cur = RLIM_INFINITY;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    put_seconds(*writer, 15, 20);
    EXPECT_EQ(writer->trouble(), "");
    writer->finish(End{});
  }));
  auto reader = make_reader(path);
  EXPECT_EQ(reader->samples(3).size(), 200u);
  EXPECT_EQ(reader->rounds().size(), 20u);
  EXPECT_TRUE(reader->missing().empty());
}

TEST(LosingWriter, SaysThatTheDiskIsFull) {
  Folder folder;
  const std::string small = folder.path("small");
  fs::create_directory(small);
  if (::mount("none", small.c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "a small disk can only be made by root";
  }
  {
    auto writer = make_writer(small + "/x.tide");
    put_seconds(*writer, 0, 300);
    EXPECT_NE(writer->trouble().find("the disk is full"), std::string::npos) << writer->trouble();
    writer->finish(End{});
    auto reader = make_reader(small + "/x.tide");
    EXPECT_TRUE(reader);
    EXPECT_GT(reader ? reader->samples(1).size() : 0, 100u);
    auto second = Writer::create(small + "/y.tide", testing::some_run());
    EXPECT_TRUE(second || second.error().message.find("disk is full") != std::string::npos);
  }
  EXPECT_EQ(::umount2(small.c_str(), MNT_DETACH), 0);
}

TEST(LosingWriter, NoticesThatItsFileWasDeleted) {
  Folder folder;
  auto writer = make_writer(folder.path("x.tide"));
  put_seconds(*writer, 0, 5);
  for (const auto& entry : fs::directory_iterator(folder.path(""))) fs::remove(entry);
  put_seconds(*writer, 5, 100);
  EXPECT_NE(writer->trouble().find("deleted or moved"), std::string::npos) << writer->trouble();
  const auto heap = testing::put_heap(*writer, 1, "plain");
  writer->drop_heap(heap);
  writer->finish(End{});
  EXPECT_NE(writer->trouble().find("deleted or moved"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder.path("")));
}

TEST(LosingWriter, NoticesThatItsFolderIsGone) {
  Folder folder;
  fs::create_directory(folder.path("runs"));
  auto writer = make_writer(folder.path("runs/x.tide"));
  put_seconds(*writer, 0, 5);
  fs::remove_all(folder.path("runs"));
  put_seconds(*writer, 5, 100);
  writer->finish(End{});
  EXPECT_NE(writer->trouble().find("deleted or moved"), std::string::npos) << writer->trouble();
}

TEST(LosingWriter, DoesWithoutAWalWhereThereIsNoSharedMemory) {
  Folder folder;
  fs::create_symlink("nowhere", folder.path("x.tide-shm"));  // SQLite follows none
  auto writer = make_writer(folder.path("x.tide"));
  put_seconds(*writer, 0, 10);
  EXPECT_EQ(writer->trouble(), "");
  EXPECT_FALSE(fs::exists(folder.path("x.tide-wal")));
  EXPECT_EQ(make_reader(folder.path("x.tide"))->samples(1).size(), 100u);
  put_seconds(*writer, 10, 20);
  writer->finish(End{});
  EXPECT_EQ(writer->trouble(), "");
  auto reader = make_reader(folder.path("x.tide"));
  EXPECT_EQ(reader->samples(1).size(), 200u);
  EXPECT_TRUE(reader->end());
  EXPECT_FALSE(fs::exists(folder.path("x.tide-journal")));
}

TEST(LosingWriter, DoesNotWaitForAnotherProgramsLock) {
  Folder folder;
  auto writer = make_writer(folder.path("x.tide"));
  put_seconds(*writer, 0, 5);
  {
    auto other = Database::open(folder.path("x.tide"), SQLITE_OPEN_READWRITE);
    ASSERT_EQ(other->execute("begin immediate"), SQLITE_OK);
    put_seconds(*writer, 5, 10);
    EXPECT_NE(writer->trouble().find("another program keeps it locked"), std::string::npos);
  }
  put_seconds(*writer, 10, 15);
  EXPECT_EQ(writer->trouble(), "");
  writer->finish(End{});
  EXPECT_EQ(make_reader(folder.path("x.tide"))->samples(1).size(), 150u);
}

TEST(LosingWriter, ARecordingThatSomebodyReadsAtItsEndKeepsItsWal) {
  Folder folder;
  auto writer = make_writer(folder.path("x.tide"));
  put_seconds(*writer, 0, 5);
  auto other = Database::open(folder.path("x.tide"), SQLITE_OPEN_READONLY);
  Statement reading(*other, "select * from run");
  ASSERT_EQ(reading.step(), SQLITE_ROW);
  writer->finish(End{});
  EXPECT_NE(writer->trouble().find("x.tide-wal"), std::string::npos) << writer->trouble();
  reading = Statement();
  other->close();
  auto reader = make_reader(folder.path("x.tide"));
  EXPECT_TRUE(reader->end());
  EXPECT_EQ(reader->samples(1).size(), 50u);
}

}  // namespace
}  // namespace lowtide::recording
