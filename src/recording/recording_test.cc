// SPDX-License-Identifier: Apache-2.0
#include "recording/recording.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "recording/database.h"
#include "recording/testing.h"

namespace lowtide::recording {
namespace {

using testing::Folder;
using testing::make_reader;
using testing::make_writer;
using testing::sample_at;

std::vector<std::int64_t> residents(const Reader& reader, std::int64_t process) {
  std::vector<std::int64_t> figures;
  for (const Sample& sample : reader.samples(process)) figures.push_back(sample.resident);
  return figures;
}

TEST(Recording, GivesBackAllThatWasPut) {
  Folder folder;
  auto writer = make_writer(folder.path("x.tide"));
  Process process{1, 4242, 0, "python3 train.py", "CPython 3.11.2", 0.01, std::nullopt, 0, ""};
  writer->put(process);
  Sample sample{0.1, 1, 1000, 600, 300, 100, 0, 500, 50, 70, -1};
  writer->put(sample);
  writer->put(Round{0.5, 0.25, "pattern"});
  writer->put(Event{0.6, 1, "note", "something happened"});
  writer->put(AccountPart{0.5, 1, "stacks", 10});
  writer->put(AccountPart{0.9, 1, "stacks", 12});
  writer->put(AccountPart{0.9, 1, "unexplained", 3});
  writer->put(Conclusion{R"({"verdict":"leak"})"});
  writer->settle(1);
  process.ended = 1.5;
  process.peak = 2000;
  process.note = "exited with 1";
  writer->put(process);
  writer->finish(End{1.6, 1, 0, true, "python3 was killed", 1, 2000});
  EXPECT_EQ(writer->trouble(), "");

  auto reader = make_reader(folder.path("x.tide"));
  const auto run = reader->run();
  EXPECT_EQ(run.command, testing::some_run().command);
  EXPECT_EQ(run.limit, std::int64_t{2} << 30);
  EXPECT_EQ(run.limit_source, "container limit");
  EXPECT_EQ(run.round_pattern, "^step ");
  ASSERT_TRUE(reader->end());
  EXPECT_EQ(reader->end()->status, 1);
  EXPECT_TRUE(reader->end()->oom);
  ASSERT_EQ(reader->processes().size(), 1u);
  EXPECT_EQ(reader->processes()[0].name, "python3 train.py");
  EXPECT_EQ(reader->processes()[0].peak, 2000);
  EXPECT_EQ(reader->processes()[0].ended, 1.5);
  ASSERT_EQ(reader->samples(1).size(), 1u);
  const Sample back = reader->samples(1)[0];
  EXPECT_EQ(back.seconds, 0.1);
  EXPECT_EQ(back.anonymous, 600);
  EXPECT_EQ(back.cpu_ms, 70);
  EXPECT_EQ(back.container, -1);
  ASSERT_EQ(reader->rounds().size(), 1u);
  EXPECT_EQ(reader->rounds()[0].duration, 0.25);
  ASSERT_EQ(reader->events().size(), 1u);
  EXPECT_EQ(reader->events()[0].text, "something happened");
  ASSERT_EQ(reader->account().size(), 2u);
  EXPECT_EQ(reader->account()[0].bytes, 12);
  ASSERT_TRUE(reader->conclusion());
  EXPECT_EQ(reader->conclusion()->json, R"({"verdict":"leak"})");
  EXPECT_TRUE(reader->missing().empty());
}

TEST(Recording, IsOneFileForItsOwnerAloneWhenItIsFinished) {
  Folder folder;
  auto writer = make_writer(folder.path("x.tide"));
  for (int i = 0; i < 1000; ++i) writer->put(sample_at(i * 0.1, 0, i));
  writer->settle(100);
  struct stat found {};
  ASSERT_EQ(stat(folder.path("x.tide-wal").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  writer->finish(End{});
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path(""))) {
    EXPECT_EQ(entry.path().filename(), "x.tide");
    ++files;
  }
  EXPECT_EQ(files, 1u);
  ASSERT_EQ(stat(folder.path("x.tide").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
}

TEST(Recording, RefusesAFileThatExists) {
  Folder folder;
  make_writer(folder.path("x.tide"))->finish(End{});
  auto second = Writer::create(folder.path("x.tide"), testing::some_run());
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("exists already"), std::string::npos);
  EXPECT_TRUE(make_reader(folder.path("x.tide")));
}

TEST(Recording, SaysWhyItCannotBeMade) {
  auto writer = Writer::create("/nowhere/x.tide", testing::some_run());
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().message, "cannot create /nowhere/x.tide: No such file or directory");
}

TEST(Recording, OfARunOfEqualReadingsTheFirstAndTheLastAreStored) {
  Folder folder;
  auto writer = make_writer(folder.path("x.tide"));
  for (int i = 0; i < 50; ++i) {
    writer->put(sample_at(i, 1, i < 10 ? 5 : i < 40 ? 7 : 9));
    if (i % 3 == 0) writer->settle(i);
  }
  writer->finish(End{});
  auto reader = make_reader(folder.path("x.tide"));
  EXPECT_EQ(residents(*reader, 1), (std::vector<std::int64_t>{5, 5, 7, 7, 9, 9}));
  const auto samples = reader->samples(1);
  EXPECT_EQ(samples[1].seconds, 9);
  EXPECT_EQ(samples[2].seconds, 10);
  EXPECT_EQ(samples[3].seconds, 39);
  EXPECT_EQ(samples[5].seconds, 49);
}

TEST(Recording, AFigureThatWasNotReadKeepsItsLastReading) {
  Folder folder;
  auto writer = make_writer(folder.path("x.tide"));
  Sample sample = sample_at(0, 1, 100);
  sample.anonymous = 60;
  writer->put(sample);
  writer->put(sample_at(1, 1, 110));
  writer->finish(End{});
  auto reader = make_reader(folder.path("x.tide"));
  ASSERT_EQ(reader->samples(1).size(), 2u);
  EXPECT_EQ(reader->samples(1)[1].anonymous, 60);
  EXPECT_EQ(reader->samples(1)[1].swap, -1);
}

TEST(Recording, CanBeReadWhileItIsWritten) {
  Folder folder;
  auto writer = make_writer(folder.path("x.tide"));
  writer->put(sample_at(1, 1, 100));
  writer->settle(1);
  auto reader = make_reader(folder.path("x.tide"));
  EXPECT_EQ(residents(*reader, 1), (std::vector<std::int64_t>{100}));
  EXPECT_FALSE(reader->end());
  ASSERT_EQ(reader->missing().size(), 1u);
  writer->put(sample_at(2, 1, 200));
  writer->settle(2);
  writer->put(sample_at(3, 1, 200));
  writer->settle(3);
  EXPECT_EQ(residents(*make_reader(folder.path("x.tide")), 1),
            (std::vector<std::int64_t>{100, 200, 200}));
  reader.reset();
  writer->finish(End{});
  EXPECT_EQ(writer->trouble(), "");
  EXPECT_TRUE(make_reader(folder.path("x.tide"))->end());
}

TEST(Recording, GivesAHeapBackByteForByte) {
  Folder folder;
  auto writer = make_writer(folder.path("x.tide"));
  const std::string plain = testing::some_bytes(3'000'000, 7);
  const auto small = testing::put_heap(*writer, 1, "tiny");
  const auto large = testing::put_heap(*writer, 2, plain);
  writer->finish(End{});
  auto reader = make_reader(folder.path("x.tide"));
  ASSERT_EQ(reader->heaps().size(), 2u);
  EXPECT_TRUE(reader->heaps()[1].whole);
  EXPECT_GT(reader->heaps()[1].stored_bytes, 1'000'000);
  std::string back;
  const auto collect = [&](std::string_view piece) { return back += piece, true; };
  EXPECT_TRUE(reader->read_heap(small, collect));
  EXPECT_EQ(back, "tiny");
  back.clear();
  EXPECT_TRUE(reader->read_heap(large, collect));
  EXPECT_TRUE(back == plain);
  EXPECT_FALSE(reader->read_heap(99, collect));
}

TEST(Recording, AHeapCutShortIsReadAsFarAsItGot) {
  Folder folder;
  auto writer = make_writer(folder.path("x.tide"));
  const std::string plain = testing::some_bytes(4'000'000, 3);
  HeapInfo info;
  info.id = writer->begin_heap(info);
  HeapSqueezer squeezer;
  writer->put_heap(info.id, squeezer.add(plain));
  writer->end_heap(info);  // whole is false
  writer->finish(End{});
  auto reader = make_reader(folder.path("x.tide"));
  ASSERT_EQ(reader->heaps().size(), 1u);
  EXPECT_FALSE(reader->heaps()[0].whole);
  std::string back;
  const Status status =
      reader->read_heap(info.id, [&](std::string_view piece) { return back += piece, true; });
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("were stored"), std::string::npos);
  EXPECT_TRUE(back == plain);
}

TEST(Recording, ADroppedHeapLeavesNoRoomBehind) {
  Folder folder;
  auto writer = make_writer(folder.path("x.tide"));
  const std::string plain = testing::some_bytes(8'000'000, 1);
  const auto heap = testing::put_heap(*writer, 1, plain);
  writer->drop_heap(heap);
  writer->settle(2);
  writer->finish(End{});
  EXPECT_TRUE(make_reader(folder.path("x.tide"))->heaps().empty());
  EXPECT_LT(std::filesystem::file_size(folder.path("x.tide")), 200'000u);
}

TEST(Recording, ManyRoundsShareRowsAndComeBackOneByOne) {
  Folder folder;
  auto writer = make_writer(folder.path("x.tide"));
  const int count = 100'000;
  for (int i = 1; i <= count; ++i) {
    writer->put(Round{i * 0.5, 0.5, "lines"});
    if (i % 100 == 0) writer->settle(i);
  }
  writer->finish(End{});
  auto reader = make_reader(folder.path("x.tide"));
  const auto rounds = reader->rounds();
  ASSERT_EQ(rounds.size(), static_cast<std::size_t>(count));
  for (int i = 1; i <= count; ++i) {
    ASSERT_NEAR(rounds[static_cast<std::size_t>(i) - 1].seconds, i * 0.5, 0.001);
    ASSERT_NEAR(rounds[static_cast<std::size_t>(i) - 1].duration, 0.5, 0.001);
  }
  EXPECT_LT(std::filesystem::file_size(folder.path("x.tide")), 1'000'000u);
}

TEST(Recording, AFloodOfEventsKeepsItsBeginningAndItsEnd) {
  Folder folder;
  auto writer = make_writer(folder.path("x.tide"));
  for (int i = 0; i < 50'000; ++i) {
    writer->put(Event{i * 1.0, 0, "note", std::to_string(i)});
    if (i % 500 == 0) writer->settle(i);
  }
  writer->finish(End{});
  auto reader = make_reader(folder.path("x.tide"));
  const auto events = reader->events();
  EXPECT_EQ(events.front().text, "0");
  EXPECT_EQ(events.back().text, "49999");
  EXPECT_EQ(events.size(), 2u * 16384u);
  ASSERT_EQ(reader->missing().size(), 1u);
  EXPECT_NE(reader->missing()[0].find("events from the middle"), std::string::npos);
}

TEST(Recording, TheAccountKeepsItsLatestMoment) {
  Folder folder;
  auto writer = make_writer(folder.path("x.tide"));
  for (int i = 0; i < 10'000; ++i) {
    for (const char* part : {"stacks", "files", "live Python", "unexplained"}) {
      for (int process = 1; process <= 3; ++process) {
        writer->put(AccountPart{i + process * 0.1, process, part, i});
      }
    }
    if (i % 50 == 0) writer->settle(i);
  }
  writer->finish(End{});
  auto reader = make_reader(folder.path("x.tide"));
  const auto parts = reader->account();
  EXPECT_EQ(parts.size(), 12u);
  for (const AccountPart& part : parts) EXPECT_EQ(part.bytes, 9999);
  EXPECT_LT(std::filesystem::file_size(folder.path("x.tide")), 2'500'000u);
}

TEST(Recording, CanBeQueriedByAnyProgram) {
  Folder folder;
  auto writer = make_writer(folder.path("x.tide"));
  writer->put(Process{1, 4242, 0, "bad \xff name", "", 0, std::nullopt, 0, ""});
  writer->put(sample_at(1, 1, 3 << 20));
  writer->finish(End{});
  auto database = Database::open(folder.path("x.tide"), SQLITE_OPEN_READONLY);
  ASSERT_TRUE(database);
  EXPECT_EQ(database->ask("pragma user_version"), "1");
  EXPECT_EQ(database->ask("select schema_version from run"), "1");
  EXPECT_EQ(database->ask("pragma integrity_check"), "ok");
  EXPECT_EQ(database->ask("select name from memory where resident_mib = 3.0"),
            "bad \xef\xbf\xbd name");
  EXPECT_EQ(database->ask("select json_extract(command, '$[3]') from run"), "it's \"quoted\"");
  EXPECT_EQ(database->ask("select count(*) from samples"), "1");
  EXPECT_EQ(database->ask("select count(*) from last_account"), "0");
}

}  // namespace
}  // namespace lowtide::recording
