// SPDX-License-Identifier: Apache-2.0
#include "watch/tree.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "base/file.h"
#include "watch/proc_text.h"
#include "watch/process_files.h"

namespace lowtide::watch {
namespace {

constexpr double kSlowSeconds = 1.0;   // stat of each process; the full sweep
constexpr double kYoungSeconds = 0.1;  // between looks at a process that may be about to exec
constexpr int kUnsettled = 10;         // looks at an empty command line before it is believed
constexpr std::size_t kNameBytes = 80;

// Our own ru_maxrss: what a command we forked may show as its own.
std::int64_t own_peak() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

// A member, and what its ru_maxrss may owe to others: the kernel hands a forked image's peak on
// through exec, and wait4 adds the children's.
struct Entry {
  Member member;
  std::int64_t inherited_peak = 0;
  std::int64_t children_peak = 0;
};

// What the tree alone knows of a member that runs.
struct Watched {
  Watched(Entry& e, const std::string& proc_root, DescriptorBudget& budget)
      : entry(e), member(e.member), files(proc_root, e.member.pid, budget) {}

  Entry& entry;
  Member& member;
  ProcessFiles files;
  std::string comm;
  std::uint64_t stack = 0;
  int unsettled = 0;       // more looks for a command line: it may be in the middle of an exec
  std::int64_t text = -1;  // pages of code: differs between programs
  double looked = 0;       // when stat was read
  std::int64_t children_faults = -1;  // cminflt, then
  std::int64_t exits_known = 0;       // of its children, not yet set against a rise of that
  int copies = 0;                     // children that may be gone when we look, and are ours
};

}  // namespace

struct ProcessTree::State {
  State(Roots r, std::vector<std::int32_t> pids, Options o)
      : roots(std::move(r)), options(o), budget{o.descriptors}, root_pids(std::move(pids)) {
    loadavg.reset(open((roots.proc + "/loadavg").c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 32> buffer;
    std::string_view text =
        read_once(AT_FDCWD, (roots.proc + "/sys/kernel/pid_max").c_str(), buffer);
    if (std::int64_t n = parse_number(next_word(text)); n > 0) pid_max = n;
    last_pid = read_last_pid();
    text = read_once(AT_FDCWD, (roots.proc + "/uptime").c_str(), buffer);
    std::int64_t seconds = parse_number(text.substr(0, text.find('.')));
    if (seconds > 0) born_after = static_cast<std::uint64_t>(seconds + 1) * ticks_per_second();
    if (options.subreaper > 0) {
      own = std::make_unique<ProcessFiles>(roots.proc, options.subreaper, budget);
    }
  }

  Roots roots;
  Options options;
  DescriptorBudget budget;
  std::vector<std::int32_t> root_pids;
  bool rooted = false;

  std::unordered_map<std::int64_t, Entry> members;
  std::unordered_map<std::int32_t, std::int64_t> by_pid;  // the last member that had it
  std::unordered_map<std::int64_t, std::unique_ptr<Watched>> watched;  // those that run
  std::vector<std::int64_t> running;
  std::deque<std::int64_t> ended;  // oldest first
  std::unordered_set<std::int32_t> ignored;
  std::int64_t next_id = 1;

  std::vector<Change> changes;
  std::vector<Change> pending;  // from adopt and note_exit, for the next update
  std::vector<std::int32_t> list;

  Fd loadavg;
  std::unique_ptr<ProcessFiles> own;
  std::int64_t last_pid = -1;
  std::int64_t pid_max = 32768;
  std::int64_t handed_out = 0;  // pids, by the whole machine
  std::int64_t met = 0;         // of them, threads included
  std::int64_t missed = 0;
  std::uint64_t born_after =
      ~std::uint64_t{0};  // ticks: pids of older processes were handed out before we counted
  std::int64_t highest_peak = 0;  // of all members, ever
  bool news_before = true;        // a list may change under our hands, so each sweep is done twice
  double swept = -std::numeric_limits<double>::infinity();

  bool is_root(std::int32_t pid) const {
    return std::find(root_pids.begin(), root_pids.end(), pid) != root_pids.end();
  }
  std::int64_t read_last_pid();
  bool machine_started_something();
  Entry& make(std::int32_t pid, double now);
  Member& make_ended(std::int32_t pid, double now);
  bool add(std::int32_t pid, std::int64_t lister, double now, std::vector<Change>& out);
  bool known(std::int32_t pid, bool thorough);
  void name(Watched& one, const Stat& stat);
  void look(Watched& one, double now);
  void end(std::int64_t id, double now, std::vector<Change>& out);
  void forget();
  void sweep(double now, bool thorough);
};

// The last pid handed out in our pid namespace, threads' included, or -1.
std::int64_t ProcessTree::State::read_last_pid() {
  if (!loadavg) return -1;
  std::array<char, 128> buffer;
  std::string_view text = read_at_start(loadavg.number(), buffer);
  for (int i = 0; i < 4; ++i) next_word(text);
  return parse_number(next_word(text));
}

bool ProcessTree::State::machine_started_something() {
  std::int64_t last = read_last_pid();
  if (last < 0 || last_pid < 0) {
    last_pid = last;
    return true;
  }
  if (last == last_pid) return false;
  constexpr std::int64_t kReservedPids = 300;  // Not used again once pids have wrapped.
  handed_out += last > last_pid
                    ? last - last_pid
                    : std::max<std::int64_t>(pid_max - kReservedPids - last_pid + last, 1);
  last_pid = last;
  return true;
}

Entry& ProcessTree::State::make(std::int32_t pid, double now) {
  std::int64_t id = next_id++;
  Entry& entry = members[id];
  Member& member = entry.member;
  member.id = id;
  member.pid = pid;
  member.seen = now;
  by_pid[pid] = id;
  entry.inherited_peak = is_root(pid) ? own_peak() : highest_peak;
  return entry;
}

// One that ended before anybody could look.
Member& ProcessTree::State::make_ended(std::int32_t pid, double now) {
  Member& member = make(pid, now).member;
  member.name = "[pid " + std::to_string(pid) + "]";
  member.ended = now;
  ++met;
  ++missed;
  ended.push_back(member.id);
  pending.push_back({Change::Kind::Started, member.id});
  pending.push_back({Change::Kind::Ended, member.id});
  return member;
}

void ProcessTree::State::name(Watched& one, const Stat& stat) {
  Member& member = one.member;
  one.comm = stat.comm;
  std::array<char, 4096> buffer;
  member.name = short_name(one.files.read("cmdline", buffer), stat.comm, kNameBytes);
  std::string link = roots.proc + "/" + std::to_string(member.pid) + "/exe";
  ssize_t n = readlink(link.c_str(), buffer.data(), buffer.size());
  member.exe = n > 0 ? std::string(buffer.data(), static_cast<std::size_t>(n)) : std::string{};
}

// A new member, unless the process is gone already. `lister`: whose list of children it was in.
bool ProcessTree::State::add(std::int32_t pid, std::int64_t lister, double now,
                             std::vector<Change>& out) {
  std::array<char, 1024> buffer;
  std::string path = roots.proc + "/" + std::to_string(pid) + "/stat";
  Stat stat;
  if (!parse_stat(read_once(AT_FDCWD, path.c_str(), buffer), stat) || stat.pid != pid) return false;
  if (stat.comm == kCopyName) {
    ignored.insert(pid);
    return true;
  }
  Entry& entry = make(pid, now);
  Member& member = entry.member;
  member.start_ticks = stat.start;
  auto parent = by_pid.find(stat.parent);
  member.parent = parent != by_pid.end() && watched.count(parent->second) ? parent->second : lister;
  auto one = std::make_unique<Watched>(entry, roots.proc, budget);
  one->looked = now;
  one->stack = stat.stack;
  one->children_faults = stat.children_faults;
  if (auto found = watched.find(member.parent); found != watched.end()) {
    const Watched& maker = *found->second;
    member.forked = stat.stack != 0 && stat.stack == maker.stack;
    entry.inherited_peak = std::max(maker.member.peak, maker.member.resident);
  }
  member.threads = static_cast<int>(std::clamp<std::int64_t>(stat.threads, 1, 1 << 20));
  if (stat.start > born_after) met += member.threads;
  member.cpu_ms = ticks_to_ms(stat.ticks);
  name(*one, stat);
  if (member.name.front() == '[') one->unsettled = kUnsettled;
  Statm statm;
  bool alive = stat.state != 'Z' && stat.state != 'X' && one->files.read_statm(statm);
  out.push_back({Change::Kind::Started, member.id});
  running.push_back(member.id);
  one->text = statm.text;
  watched.emplace(member.id, std::move(one));
  if (!alive) {
    end(member.id, now, out);
    return true;
  }
  member.sampled = true;
  member.size = statm.size * page_bytes();
  member.resident = statm.resident * page_bytes();
  member.shared = statm.shared * page_bytes();
  return true;
}

// Is this pid, which somebody lists, a member we have, running or as a zombie?
bool ProcessTree::State::known(std::int32_t pid, bool thorough) {
  if (ignored.count(pid)) return true;
  auto found = by_pid.find(pid);
  if (found == by_pid.end()) return false;
  if (watched.count(found->second)) return true;
  // It ended. Until it is waited for it stays in its parent's list; once it was, the pid may come
  // again, but not before every other pid was used.
  if (!thorough) return true;
  std::array<char, 1024> buffer;
  std::string path = roots.proc + "/" + std::to_string(pid) + "/stat";
  Stat stat;
  if (!parse_stat(read_once(AT_FDCWD, path.c_str(), buffer), stat)) return true;
  return stat.start == members[found->second].member.start_ticks;
}

// Reads stat: processor time, threads, and whether it is still the same program, or process.
void ProcessTree::State::look(Watched& one, double now) {
  Member& member = one.member;
  std::array<char, 1024> buffer;
  Stat stat;
  if (!parse_stat(one.files.read("stat", buffer), stat)) return;  // Its statm will say it is gone.
  one.looked = now;
  if (stat.start != member.start_ticks) {  // The pid belongs to another process by now.
    end(member.id, now, changes);
    return;
  }
  int threads = static_cast<int>(std::clamp<std::int64_t>(stat.threads, 1, 1 << 20));
  met += std::max(0, threads - member.threads);
  member.threads = threads;
  member.cpu_ms = ticks_to_ms(stat.ticks);
  if (stat.children_faults > one.children_faults && one.children_faults >= 0) {
    // It waited for at least one child. If no child of its that we know has ended, for another.
    if (one.exits_known > 0) {
      --one.exits_known;
    } else {
      ++missed;
    }
  }
  one.children_faults = stat.children_faults;
  // Where the stack begins is random in each exec and stays through forks and renames. Where it
  // may not be seen, a new name tells.
  bool another = stat.stack != 0 ? stat.stack != one.stack : stat.comm != one.comm;
  if (another || one.unsettled > 0) {
    std::string before = member.name;
    name(one, stat);
    // In the middle of an exec the command line is still empty, and the stack moves once more.
    one.unsettled = member.name.front() != '[' ? 0
                    : one.unsettled > 0        ? one.unsettled - 1
                                               : kUnsettled;
    if (one.unsettled > 0) {
      member.name = before;
      return;
    }
    if (another) {
      if (member.forked) member.peak = -1;  // That was its parent's memory.
      member.forked = false;
      ++member.execs;
    }
    one.stack = stat.stack;
    if (another || member.name != before) changes.push_back({Change::Kind::Exec, member.id});
  }
}

void ProcessTree::State::end(std::int64_t id, double now, std::vector<Change>& out) {
  auto found = watched.find(id);
  if (found == watched.end()) return;
  Entry& entry = found->second->entry;
  Member& member = entry.member;
  member.ended = now;
  if (auto parent = watched.find(member.parent); parent != watched.end()) {
    ++parent->second->exits_known;
    Entry& above = parent->second->entry;
    above.children_peak = std::max({above.children_peak, member.peak, entry.children_peak});
  }
  watched.erase(found);
  running.erase(std::lower_bound(running.begin(), running.end(), id));
  ended.push_back(id);
  out.push_back({Change::Kind::Ended, id});
}

void ProcessTree::State::forget() {
  while (ended.size() > kEndedKept) {
    auto found = members.find(ended.front());
    if (auto pid = by_pid.find(found->second.member.pid);
        pid != by_pid.end() && pid->second == ended.front()) {
      by_pid.erase(pid);
    }
    members.erase(found);
    ended.pop_front();
  }
}

void ProcessTree::State::sweep(double now, bool thorough) {
  auto take = [&](std::int64_t lister) {
    for (std::int32_t pid : list) {
      if (known(pid, thorough)) continue;
      if (add(pid, lister, now, changes)) continue;
      if (auto found = watched.find(lister); found != watched.end() && found->second->copies > 0) {
        --found->second->copies;
      } else {
        ++missed;
      }
    }
  };
  // `running` grows while we go, so what is found is itself asked for children.
  if (thorough) {
    // Their pids may come again.
    std::erase_if(ignored, [&](std::int32_t pid) {
      return access((roots.proc + "/" + std::to_string(pid)).c_str(), F_OK) != 0;
    });
  }
  for (std::size_t i = 0; i < running.size(); ++i) {
    std::int64_t id = running[i];
    list.clear();
    watched[id]->files.read_children(true, list);
    take(id);
  }
  if (own) {
    std::size_t before = running.size();
    list.clear();
    own->read_children(true, list);
    take(0);
    for (std::size_t i = before; i < running.size(); ++i) {
      std::int64_t id = running[i];
      list.clear();
      watched[id]->files.read_children(true, list);
      take(id);
    }
  }
}

ProcessTree::ProcessTree(Roots roots, std::vector<std::int32_t> root_pids, Options options)
    : state_(std::make_unique<State>(std::move(roots), std::move(root_pids), options)) {}
ProcessTree::~ProcessTree() = default;
ProcessTree::ProcessTree(ProcessTree&&) noexcept = default;
ProcessTree& ProcessTree::operator=(ProcessTree&&) noexcept = default;

const std::vector<Change>& ProcessTree::update(double now) {
  State& s = *state_;
  s.forget();
  s.changes.swap(s.pending);
  s.pending.clear();
  if (!s.rooted) {
    s.rooted = true;
    for (std::int32_t pid : s.root_pids) {
      if (s.by_pid.count(pid) || s.add(pid, 0, now, s.changes)) continue;
      s.make_ended(pid, now);
    }
    if (!s.pending.empty()) {
      s.changes.insert(s.changes.end(), s.pending.begin(), s.pending.end());
      s.pending.clear();
    }
  }

  const std::vector<std::int64_t> before = s.running;
  for (std::int64_t id : before) {
    Watched& one = *s.watched[id];
    Member& member = one.member;
    Statm statm;
    // A zombie's statm is all zeros.
    if (!one.files.read_statm(statm) || statm.size == 0) {
      s.end(id, now, s.changes);
      continue;
    }
    bool resized = statm.size * page_bytes() != member.size;
    bool recoded = statm.text != one.text;
    one.text = statm.text;
    double since = now - one.looked;
    if (recoded || since >= kSlowSeconds || !one.files.identity_kept() || one.unsettled > 0 ||
        (member.forked && resized && since >= kYoungSeconds)) {
      s.look(one, now);
      if (!member.running()) continue;  // `one` is no more.
    }
    member.size = statm.size * page_bytes();
    member.resident = statm.resident * page_bytes();
    member.shared = statm.shared * page_bytes();
    member.peak = std::max(member.peak, member.resident);
    s.highest_peak = std::max(s.highest_peak, member.peak);
    member.sampled = true;
  }

  bool news = s.machine_started_something();
  bool thorough = now - s.swept >= kSlowSeconds;
  if (news || s.news_before || thorough) s.sweep(now, thorough);
  if (thorough) s.swept = now;
  s.news_before = news;
  return s.changes;
}

bool ProcessTree::adopt(std::int32_t pid, double now) {
  State& s = *state_;
  if (pid <= 0 || s.known(pid, true)) return false;
  if (s.add(pid, 0, now, s.pending)) return true;
  s.make_ended(pid, now);
  return true;
}

void ProcessTree::note_exit(std::int32_t pid, int wait_status, const rusage& usage, double now) {
  State& s = *state_;
  if (s.ignored.erase(pid)) return;
  auto found = s.by_pid.find(pid);
  // One that was waited for before is another process that had the pid.
  bool fresh = found == s.by_pid.end() || s.members[found->second].member.wait_status != -1;
  Entry& entry = s.members[fresh ? s.make_ended(pid, now).id : found->second];
  Member& member = entry.member;
  std::int64_t most = static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
  std::int64_t owed = std::max(entry.inherited_peak, entry.children_peak);
  if (most > owed || (member.peak < 0 && s.is_root(pid))) member.peak = std::max(member.peak, most);
  s.highest_peak = std::max(s.highest_peak, member.peak);
  member.wait_status = wait_status;
  member.cpu_ms = static_cast<std::int64_t>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
                  (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
  s.end(member.id, now, s.pending);
}

void ProcessTree::note_peak(std::int32_t pid, std::int64_t bytes) {
  auto found = state_->by_pid.find(pid);
  if (found == state_->by_pid.end()) return;
  if (bytes > state_->members[found->second].inherited_peak) note_high_water(found->second, bytes);
}

void ProcessTree::note_high_water(std::int64_t id, std::int64_t bytes) {
  auto found = state_->members.find(id);
  if (found == state_->members.end()) return;
  Member& member = found->second.member;
  member.peak = std::max(member.peak, bytes);
  state_->highest_peak = std::max(state_->highest_peak, member.peak);
}

void ProcessTree::ignore(std::int32_t pid) {
  if (pid > 0) state_->ignored.insert(pid);
}

bool ProcessTree::copied() const {
  return std::any_of(state_->ignored.begin(), state_->ignored.end(), [&](std::int32_t pid) {
    return access((state_->roots.proc + "/" + std::to_string(pid)).c_str(), F_OK) == 0;
  });
}

void ProcessTree::expect_copy(std::int32_t pid) {
  auto found = state_->by_pid.find(pid);
  if (found == state_->by_pid.end()) return;
  auto one = state_->watched.find(found->second);
  if (one == state_->watched.end()) return;
  one->second->copies = 1;
  ++one->second->exits_known;
}

const Member* ProcessTree::find(std::int64_t id) const {
  auto found = state_->members.find(id);
  return found == state_->members.end() ? nullptr : &found->second.member;
}

const Member* ProcessTree::running(std::int32_t pid) const {
  auto found = state_->by_pid.find(pid);
  if (found == state_->by_pid.end()) return nullptr;
  const Member* member = find(found->second);
  return member && member->running() ? member : nullptr;
}

const std::vector<std::int64_t>& ProcessTree::running_ids() const { return state_->running; }
std::int64_t ProcessTree::count() const { return state_->next_id - 1; }
const Roots& ProcessTree::roots() const { return state_->roots; }

Unseen ProcessTree::unseen() const {
  Unseen unseen;
  unseen.at_least = state_->missed;
  if (state_->last_pid >= 0) {
    unseen.at_most = std::max(state_->handed_out - state_->met, state_->missed);
  }
  return unseen;
}

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) getrlimit(RLIMIT_NOFILE, &limit);
  }
  return static_cast<std::size_t>(limit.rlim_cur);
}

std::string short_name(std::string_view cmdline, std::string_view comm, std::size_t limit) {
  while (!cmdline.empty() && cmdline.back() == '\0') cmdline.remove_suffix(1);
  if (cmdline.empty()) return "[" + readable(comm, limit) + "]";
  std::size_t first = cmdline.find('\0');
  std::string_view program = cmdline.substr(0, first);
  if (std::size_t slash = program.rfind('/'); slash != std::string_view::npos) {
    if (slash + 1 < program.size()) cmdline.remove_prefix(slash + 1);
  }
  std::string text(cmdline);
  std::replace(text.begin(), text.end(), '\0', ' ');
  return readable(text, limit);
}

}  // namespace lowtide::watch
