// SPDX-License-Identifier: Apache-2.0
#include "watch/account.h"

#include <algorithm>
#include <map>

namespace lowtide::watch {
namespace {

constexpr const char* kUnexplained = "unexplained";

void settle(Account& account) {
  auto gone = std::remove_if(account.parts.begin(), account.parts.end(),
                             [](const recording::AccountPart& part) { return part.bytes == 0; });
  account.parts.erase(gone, account.parts.end());
  std::stable_sort(account.parts.begin(), account.parts.end(),
                   [](const recording::AccountPart& a, const recording::AccountPart& b) {
                     bool a_last = a.part == kUnexplained, b_last = b.part == kUnexplained;
                     return a_last != b_last ? b_last : a.bytes > b.bytes;
                   });
  account.total = 0;
  for (const recording::AccountPart& part : account.parts) account.total += part.bytes;
}

// Hands out a sum in pieces, never more than there is.
struct Rest {
  std::int64_t bytes = 0;
  std::int64_t refused = 0;

  std::int64_t take(std::int64_t wanted) {
    wanted = std::max<std::int64_t>(wanted, 0);
    std::int64_t got = std::min(wanted, bytes);
    bytes -= got;
    refused += wanted - got;
    return got;
  }
};

}  // namespace

Account make_account(const Mappings& mappings, const Known& known, double seconds,
                     std::int64_t process, Basis basis) {
  auto by_basis = [basis](const Resident& part) {
    return basis == Basis::Rss ? part.rss : part.pss;
  };
  Account account;
  auto put = [&](std::string name, std::int64_t bytes) {
    account.parts.push_back({seconds, process, std::move(name), bytes});
  };
  put("stacks", by_basis(mappings.stacks));
  put("mapped files", by_basis(mappings.files));
  put("shared memory", by_basis(mappings.shared));
  put("other mappings", by_basis(mappings.other));

  Rest rest{by_basis(mappings.heap) + by_basis(mappings.anonymous)};
  // Of pages that forks share, Pss counts a part; of what lies in them it is the same part.
  std::int64_t whole = mappings.heap.rss + mappings.anonymous.rss;
  double part = whole > 0 ? static_cast<double>(rest.bytes) / static_cast<double>(whole) : 1;
  auto scaled = [part](std::int64_t bytes) {
    return bytes < 0 ? bytes : static_cast<std::int64_t>(static_cast<double>(bytes) * part);
  };
  std::int64_t live = scaled(known.live), garbage = scaled(known.garbage);
  std::int64_t native = scaled(known.live_native), in_use = scaled(known.allocator_in_use);

  // The surest first: what is free was often given back to the kernel already.
  put(known.runtime.empty() ? "live objects" : "live " + known.runtime, rest.take(live));
  put("garbage", rest.take(garbage));
  put("native", rest.take(native));
  put("runtime free", rest.take(scaled(known.runtime_free)));
  put("allocator free", rest.take(scaled(known.allocator_free)));
  account.not_resident = rest.refused;
  if (live >= 0) {
    // Objects may lie in malloc's memory or not; what is in use beyond all of them surely is not
    // one of them.
    std::int64_t explained =
        live + std::max<std::int64_t>(garbage, 0) + std::max<std::int64_t>(native, 0);
    std::int64_t beyond = in_use < 0 ? 0 : std::max<std::int64_t>(in_use - explained, 0);
    put("malloc in use", std::min(rest.bytes, beyond));
    put(kUnexplained, rest.bytes - std::min(rest.bytes, beyond));
  } else if (in_use >= 0) {
    put("malloc in use", rest.take(in_use));
    account.not_resident = rest.refused;
    put("other anonymous", rest.bytes);
  } else {
    put("other anonymous", rest.bytes);
  }
  settle(account);
  return account;
}

Account tree_account(const std::vector<Account>& processes, double seconds) {
  std::map<std::string, std::int64_t> sums;
  Account tree;
  for (const Account& account : processes) {
    for (const recording::AccountPart& part : account.parts) sums[part.part] += part.bytes;
    tree.not_resident += account.not_resident;
  }
  for (auto& [name, bytes] : sums) tree.parts.push_back({seconds, 0, name, bytes});
  settle(tree);
  return tree;
}

std::vector<recording::AccountPart> container_parts(const MemoryStat& stat, double seconds) {
  std::vector<recording::AccountPart> parts;
  auto put = [&](const char* name, std::int64_t bytes) {
    if (bytes > 0) parts.push_back({seconds, 0, std::string("container: ") + name, bytes});
  };
  // Shared memory and mapped files are in the processes' account.
  std::int64_t cache = stat.file;
  if (cache >= 0) {
    cache -= std::max<std::int64_t>(stat.file_mapped, 0);
    // Shmem that nobody maps is no cache: it cannot be dropped.
    if (stat.shmem > 0) cache = std::min(cache, stat.file - stat.shmem);
  }
  put("page cache", cache);
  put("kernel stacks", stat.kernel_stack);
  put("page tables", stat.page_tables);
  put("slab", stat.slab);
  put("sockets", stat.sock);
  std::int64_t named = 0;
  for (std::int64_t bytes : {stat.kernel_stack, stat.page_tables, stat.slab}) {
    named += std::max<std::int64_t>(bytes, 0);
  }
  put("other kernel memory", stat.kernel - named);
  return parts;
}

}  // namespace lowtide::watch
