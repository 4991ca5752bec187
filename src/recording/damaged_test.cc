// SPDX-License-Identifier: Apache-2.0

// Files nobody wrote like that: cut off, overwritten, of another kind, or out of reach.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <random>

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

constexpr int kReadings = 6000;

// A finished recording with something in every table, about 1 MiB.
std::string finished_recording(const Folder& folder) {
  const std::string path = folder.path("whole.tide");
  auto writer = make_writer(path);
  for (int p = 1; p <= 3; ++p) {
    writer->put(Process{p, 4000 + p, 0, "python3 train.py", "CPython 3.11.2", 0, 9.0, 1, "ended"});
  }
  for (int i = 0; i < kReadings; ++i) {
    writer->put(sample_at(i * 0.1, i % 4, std::int64_t{i} * 4096));
    if (i % 10 == 0) writer->put(Round{i * 0.1, 1, "lines"});
    if (i % 100 == 0) writer->put(Event{i * 0.1, 0, "note", "a sentence about something"});
    if (i % 500 == 0) writer->put(AccountPart{i * 0.1, 1, "stacks", i});
    if (i % 500 == 0) writer->settle(i);
    if (i == 2000) testing::put_heap(*writer, 200, testing::some_bytes(600'000, 5));
  }
  writer->put(Conclusion{R"({"verdict":"steady"})"});
  writer->finish(End{600, 0, 0, false, "", 3, 4096});
  return path;
}

std::string bytes_of(const std::string& path) { return std::move(*read_file(path)); }

TEST(DamagedRecording, CutOffAnywhereIsReadAsFarAsItGoes) {
  Folder folder;
  const std::string whole = bytes_of(finished_recording(folder));
  std::vector<std::size_t> cuts;
  for (std::size_t i = 0; i < 120; ++i) cuts.push_back(i);
  for (std::size_t page = 4096; page < whole.size(); page += 4096) {
    for (const std::size_t cut : {page - 1, page, page + 1, page + 2048}) cuts.push_back(cut);
  }
  std::size_t most = 0;
  int opened = 0;
  for (const std::size_t cut : cuts) {
    if (cut >= whole.size()) continue;
    const std::string path = folder.path("cut.tide");
    ASSERT_TRUE(write_file(path, std::string_view(whole).substr(0, cut)));
    auto reader = Reader::open(path);
    if (!reader) {
      EXPECT_NE(reader.error().message.find("cut.tide"), std::string::npos);
      EXPECT_LT(cut, 400'000u) << reader.error().message;
      continue;
    }
    ++opened;
    EXPECT_NE((*reader)->missing()[0].find("cut off"), std::string::npos) << cut;
    testing::read_all(**reader);
    std::size_t readings = 0;
    for (int p = 0; p < 4; ++p) readings += (*reader)->samples(p).size();
    most = std::max(most, readings);
  }
  EXPECT_GT(opened, 200);
  EXPECT_GT(most, kReadings * 9u / 10);
}

TEST(DamagedRecording, AHoleInTheReadingsCostsTheReadingsInTheHole) {
  Folder folder;
  const std::string path = finished_recording(folder);
  std::string bytes = bytes_of(path);
  auto database = Database::open(path, SQLITE_OPEN_READONLY);
  ASSERT_TRUE(database);
  // Some leaf pages in the middle of the raw readings.
  Statement pages(*database,
                  "select pageno from dbstat where name = 'samples_raw' and pagetype = 'leaf' "
                  "order by path limit 5 offset 20");
  int holes = 0;
  while (pages.step() == SQLITE_ROW) {
    const auto at = static_cast<std::size_t>(pages.integer(0) - 1) * 4096;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), 4096, '\xee');
    ++holes;
  }
  if (holes == 0) GTEST_SKIP() << "this SQLite has no dbstat";
  ASSERT_TRUE(write_file(path, bytes));
  auto reader = make_reader(path);
  ASSERT_TRUE(reader);
  std::size_t readings = 0;
  for (int p = 0; p < 4; ++p) readings += reader->samples(p).size();
  EXPECT_LT(readings, static_cast<std::size_t>(kReadings));
  EXPECT_GT(readings, kReadings * 3u / 4);
  ASSERT_FALSE(reader->missing().empty());
  EXPECT_NE(reader->missing()[0].find("readings"), std::string::npos);
}

TEST(DamagedRecording, FlippedBytesNeverCrashTheReader) {
  Folder folder;
  const std::string whole = bytes_of(finished_recording(folder));
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    std::string bytes = whole;
    // Now and then in the first pages, where the schema and the roots of the tables are.
    const std::size_t reach = round % 3 == 0 ? 40'000 : bytes.size();
    const int flips = 1 << random() % 10;
    for (int i = 0; i < flips; ++i) bytes[random() % reach] = static_cast<char>(random());
    if (round % 7 == 0) bytes.resize(random() % bytes.size());
    const std::string path = folder.path("flipped.tide");
    ASSERT_TRUE(write_file(path, bytes));
    auto reader = Reader::open(path);
    if (reader) testing::read_all(**reader);
    EXPECT_TRUE(reader || !reader.error().message.empty());
  }
}

TEST(DamagedRecording, ADamagedHeapIsASentence) {
  Folder folder;
  const std::string path = folder.path("x.tide");
  auto writer = make_writer(path);
  const auto heap = testing::put_heap(*writer, 1, testing::some_bytes(500'000, 5));
  HeapInfo info;
  info.id = writer->begin_heap(info);
  writer->put_heap(info.id, "this was never compressed");
  writer->end_heap(info);
  writer->finish(End{});
  {
    auto database = Database::open(path, SQLITE_OPEN_READWRITE);
    ASSERT_EQ(database->execute("update heap_pieces set zstd = substr(zstd, 1, 9000) || x'00112233'"
                                " || substr(zstd, 9005) where heap = 1"),
              SQLITE_OK);
  }
  auto reader = make_reader(path);
  for (const auto id : {heap, info.id}) {
    const Status status = reader->read_heap(id, [](std::string_view) { return true; });
    ASSERT_FALSE(status);
    EXPECT_NE(status.error().message.find("breaks off"), std::string::npos);
  }
}

TEST(Reader, SaysInASentenceWhatAFileIsInstead) {
  Folder folder;
  const auto message = [&](const std::string& path) {
    auto reader = Reader::open(path);
    return reader ? std::string("opened") : reader.error().message;
  };
  const std::string path = folder.path("x.tide");
  EXPECT_EQ(message(path), "cannot open " + path + ": No such file or directory");
  ASSERT_TRUE(write_file(path, ""));
  EXPECT_EQ(message(path), path + " is empty: its run ended before it began");
  ASSERT_TRUE(write_file(path, "import torch\n"));
  EXPECT_EQ(message(path), path + " is not a recording of lowtide");
  ASSERT_TRUE(write_file(path, testing::some_bytes(100'000, 2)));
  EXPECT_EQ(message(path), path + " is not a recording of lowtide");
  EXPECT_EQ(message(folder.path("")), folder.path("") + " is a folder, not a recording");
  EXPECT_EQ(message("/dev/null"), "/dev/null is not a file, so not a recording");
  const std::string other = folder.path("other.db");
  {
    auto database = Database::open(other, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    database->execute("create table run (command text); insert into run values ('x')");
  }
  EXPECT_EQ(message(other), other + " is an SQLite database but not a recording of lowtide");
}

TEST(Reader, NamesTheVersionItDoesNotKnowAndTheWayOut) {
  Folder folder;
  const std::string path = finished_recording(folder);
  {
    auto database = Database::open(path, SQLITE_OPEN_READWRITE);
    database->execute("pragma user_version = 7; update run set lowtide_version = '2.5.0'");
  }
  auto reader = Reader::open(path);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, Code::Unsupported);
  EXPECT_EQ(reader.error().message,
            path +
                " is a recording of format 7, written by lowtide 2.5.0, and this lowtide reads "
                "formats up to 1; read it with a newer lowtide");
}

// Runs `check` as a user without rights; the tests may be run by root, whom nothing stops.
bool as_nobody(const std::function<void()>& check) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
    check();
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Reader, ReadsAFileItMayOnlyReadInAFolderItMayOnlyRead) {
  Folder folder;
  const std::string path = finished_recording(folder);
  ::chmod(path.c_str(), 0444);
  ::chmod(folder.path("").c_str(), 0555);
  EXPECT_TRUE(as_nobody([&] {
    auto reader = make_reader(path);
    ASSERT_TRUE(reader);
    EXPECT_TRUE(reader->missing().empty());
    EXPECT_EQ(reader->samples(1).size(), kReadings / 4u);
  }));
  ::chmod(folder.path("").c_str(), 0700);
}

// A recording as a killed recorder leaves it: with its WAL, in which some of it still is.
void leave_with_wal(const Folder& folder) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto writer = std::move(*Writer::create(folder.path("x.tide"), testing::some_run()));
    for (int i = 0; i < 100; ++i) writer->put(sample_at(i, 1, i));
    writer->settle(1);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  ASSERT_GT(fs::file_size(folder.path("x.tide-wal")), 0u);
}

TEST(Reader, RecoversAKilledRecorderWhereItMayNotWrite) {
  Folder folder;
  leave_with_wal(folder);
  for (const char* end : {"", "-wal", "-shm"})
    ::chmod(folder.path(std::string("x.tide") + end).c_str(), 0444);
  ::chmod(folder.path("").c_str(), 0555);
  EXPECT_TRUE(as_nobody([&] {
    auto reader = make_reader(folder.path("x.tide"));
    ASSERT_TRUE(reader);
    EXPECT_EQ(reader->samples(1).size(), 100u);
  }));
  // The shm is not always left; nor does it help.
  ::chmod(folder.path("").c_str(), 0700);
  fs::remove(folder.path("x.tide-shm"));
  ::chmod(folder.path("").c_str(), 0555);
  EXPECT_TRUE(as_nobody([&] {
    auto reader = make_reader(folder.path("x.tide"));
    ASSERT_TRUE(reader);
    EXPECT_EQ(reader->samples(1).size(), 100u);
  }));
  ::chmod(folder.path("").c_str(), 0700);
}

TEST(Reader, ACutOffFileWithAWalBesideItIsReadAndLeftAsItIs) {
  Folder folder;
  leave_with_wal(folder);
  const std::string path = folder.path("x.tide");
  fs::resize_file(path, fs::file_size(path) / 2);
  const auto size = fs::file_size(path);
  const auto wal = fs::file_size(path + "-wal");
  auto reader = Reader::open(path);
  if (reader) testing::read_all(**reader);
  EXPECT_TRUE(reader || !reader.error().message.empty());
  reader = Error{Code::Io, ""};
  EXPECT_EQ(fs::file_size(path), size);
  EXPECT_EQ(fs::file_size(path + "-wal"), wal);
}

TEST(Reader, ACutOffWalCostsOnlyItsEnd) {
  for (const double share : {0.0, 0.01, 0.3, 0.6, 0.99}) {
    Folder folder;
    leave_with_wal(folder);
    const std::string path = folder.path("x.tide");
    const auto wal = static_cast<double>(fs::file_size(path + "-wal"));
    fs::resize_file(path + "-wal", static_cast<std::uintmax_t>(wal * share));
    auto reader = make_reader(path);
    ASSERT_TRUE(reader);
    EXPECT_LE(reader->samples(1).size(), 100u);
  }
}

TEST(Reader, SaysWhenItMayNotReadAFile) {
  Folder folder;
  const std::string path = finished_recording(folder);
  ::chmod(path.c_str(), 0000);
  ::chmod(folder.path("").c_str(), 0755);
  EXPECT_TRUE(as_nobody([&] {
    auto reader = Reader::open(path);
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().code, Code::Permission);
    EXPECT_EQ(reader.error().message, "cannot open " + path + ": Permission denied");
  }));
}

}  // namespace
}  // namespace lowtide::recording
