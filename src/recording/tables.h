// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tables of a recording while they are written: what goes in, and how they are kept small.
//
// Every function answers with SQLite's result code. Those that move rows about do so in a
// transaction of their own and, when it fails, leave things as they were.

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "recording/batch.h"
#include "recording/database.h"
#include "recording/schema.h"

namespace lowtide::recording {

int insert_run(const Database& database, const Run& run);

class Tables {
 public:
  explicit Tables(const Database& database);

  // All of `batch`, and `tails` into the tail table, in one transaction.
  int store(const Batch& batch, const std::vector<Sample>& tails);

  int store_heap(const HeapInfo& info);  // again to change it
  int store_piece(std::int64_t heap, std::int64_t number, std::string_view zstd);
  int drop_heap(std::int64_t heap);  // its pieces go by and by, see tidy()

  // Brings tables that have grown too long back to their size, and goes on deleting the pieces
  // of dropped heaps: milliseconds of work at a time.
  void tidy();
  // All that is left of that, and gives the free pages at the end of the file back.
  void tidy_up();

 private:
  int insert_rows(const Batch& batch, const std::vector<Sample>& tails);
  int put(Statement& statement, const Sample& sample);
  int thin_level(std::size_t level);
  int merge_rounds();
  int thin_account();
  void delete_pieces(int count);
  // Runs `work` between begin and commit; undoes it where either fails.
  template <typename Work>
  int transaction(Work&& work);

  const Database& database_;
  Statement begin_, commit_, rollback_;
  Statement put_process_, put_round_, put_event_, cut_event_, put_account_, put_conclusion_,
      put_end_;
  std::array<Statement, kLevels.size()> put_sample_, oldest_, cut_sample_;
  Statement put_tail_, cut_tail_, put_heap_, put_piece_, cut_heap_, piece_ids_, cut_piece_;

  std::array<std::int64_t, kLevels.size()> sample_rows_{};
  std::int64_t round_rows_ = 0;
  std::int64_t rounds_a_row_ = 1;  // that merging may put into one
  std::int64_t account_rows_ = 0;
  std::vector<std::int64_t> dropped_;
};

}  // namespace lowtide::recording
