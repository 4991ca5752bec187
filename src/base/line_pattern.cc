// SPDX-License-Identifier: Apache-2.0
#include "base/line_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <map>
#include <optional>
#include <string>

namespace lowtide {
namespace {

using ByteSet = std::bitset<256>;

// Thompson's machine. A state either consumes one byte of `on` and goes to `next`, or goes on to
// `next` and `other` without consuming, where an anchored step only does so at the line's start.
struct Step {
  enum class Kind { Consume, Split, LineStart, Accept } kind = Kind::Accept;
  ByteSet on;
  int next = -1;
  int other = -1;
};

// A piece of machine with one way in and the ends still to be joined.
struct Piece {
  int start = -1;
  std::vector<std::pair<int, bool>> ends;  // step, and whether its `other` is the open end
};

constexpr int kMostSteps = 20000;
constexpr int kMostRepeats = 255;
constexpr int kDeepest = 200;  // nested parentheses: the parser recurses on them

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<std::vector<Step>> parse(int& start) {
    Piece whole = alternatives(0);
    if (error_.empty() && at_ < text_.size()) fail("an unmatched ')'");
    if (!error_.empty()) {
      return Error{Code::Invalid, fmt::format("cannot read the pattern \"{}\": {} at character {}",
                                              text_, error_, at_ + 1)};
    }
    const int accept = add(Step{});
    join(whole, accept);
    start = whole.start;
    return std::move(steps_);
  }

 private:
  void fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
  }

  int add(Step step) {
    if (steps_.size() >= kMostSteps) fail("it is too large");
    steps_.push_back(std::move(step));
    return static_cast<int>(steps_.size()) - 1;
  }

  void join(const Piece& piece, int to) {
    for (auto [step, other] : piece.ends) {
      (other ? steps_[static_cast<std::size_t>(step)].other
             : steps_[static_cast<std::size_t>(step)].next) = to;
    }
  }

  Piece single(Step step) {
    const int id = add(std::move(step));
    return Piece{id, {{id, false}}};
  }

  Piece empty() { return single(Step{Step::Kind::Split, {}, -1, -1}); }

  Piece alternatives(int depth) {
    if (depth > kDeepest) {
      fail("parentheses nested too deeply");
      return empty();
    }
    Piece left = sequence(depth);
    while (error_.empty() && at_ < text_.size() && text_[at_] == '|') {
      ++at_;
      Piece right = sequence(depth);
      const int fork = add(Step{Step::Kind::Split, {}, left.start, right.start});
      left.start = fork;
      left.ends.insert(left.ends.end(), right.ends.begin(), right.ends.end());
    }
    return left;
  }

  Piece sequence(int depth) {
    Piece all = empty();
    while (error_.empty() && at_ < text_.size() && text_[at_] != '|' && text_[at_] != ')') {
      Piece next = repeated(depth);
      join(all, next.start);
      all.ends = next.ends;
    }
    return all;
  }

  // An atom with what follows it. Counted repeats read the atom's text again for each copy.
  Piece repeated(int depth) {
    const std::size_t begin = at_;
    Piece one = atom(depth);
    while (error_.empty() && at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '*' || c == '+' || c == '?') {
        ++at_;
        one = loop(std::move(one), c);
      } else if (const auto counts = braces()) {
        one = counted(begin, *counts, depth);
      } else {
        break;
      }
    }
    return one;
  }

  Piece loop(Piece one, char how) {
    const int fork = add(Step{Step::Kind::Split, {}, one.start, -1});
    if (how == '?') {
      one.ends.emplace_back(fork, true);
      return Piece{fork, one.ends};
    }
    join(one, fork);
    return Piece{how == '*' ? fork : one.start, {{fork, true}}};
  }

  struct Counts {
    int least = 0;
    int most = 0;  // -1: no end
    std::size_t before = 0;
    std::size_t after = 0;
  };

  // "{2}", "{2,}", "{2,5}" at the cursor; a brace that is none of these is itself.
  std::optional<Counts> braces() {
    if (text_[at_] != '{') return std::nullopt;
    std::size_t at = at_ + 1;
    const auto number = [&]() -> int {
      int n = -1;
      while (at < text_.size() && text_[at] >= '0' && text_[at] <= '9' && n < 100000) {
        n = (n < 0 ? 0 : n * 10) + (text_[at++] - '0');
      }
      return n;
    };
    Counts counts;
    counts.least = counts.most = number();
    if (counts.least < 0) return std::nullopt;
    if (at < text_.size() && text_[at] == ',') {
      ++at;
      counts.most = number();
    }
    if (at >= text_.size() || text_[at] != '}') return std::nullopt;
    if (counts.least > kMostRepeats || counts.most > kMostRepeats ||
        (counts.most >= 0 && counts.most < counts.least)) {
      fail("a repeat count that is too large or reversed");
    }
    counts.before = at_;
    counts.after = at + 1;
    at_ = counts.after;
    return counts;
  }

  Piece counted(std::size_t begin, const Counts& counts, int depth) {
    const auto copy = [&] {
      at_ = begin;
      return repeated_until(counts.before, depth);
    };
    Piece all = empty();
    for (int i = 0; i < counts.least && error_.empty(); ++i) {
      Piece next = copy();
      join(all, next.start);
      all.ends = next.ends;
    }
    if (counts.most < 0) {
      Piece rest = loop(copy(), '*');
      join(all, rest.start);
      all.ends = rest.ends;
    }
    for (int i = counts.least; i < counts.most && error_.empty(); ++i) {
      Piece maybe = loop(copy(), '?');
      join(all, maybe.start);
      all.ends = maybe.ends;
    }
    at_ = counts.after;
    return all;
  }

  Piece repeated_until(std::size_t end, int depth) {
    const std::string_view whole = text_;
    text_ = text_.substr(0, end);
    Piece one = repeated(depth + 1);
    text_ = whole;
    return one;
  }

  Piece atom(int depth) {
    const char c = text_[at_];
    switch (c) {
      case '(': {
        ++at_;
        if (text_.substr(at_).starts_with("?:")) at_ += 2;
        Piece inside = alternatives(depth + 1);
        if (at_ >= text_.size() || text_[at_] != ')') {
          fail("a '(' that is never closed");
        } else {
          ++at_;
        }
        return inside;
      }
      case '[':
        ++at_;
        return consume(bracket());
      case '.': {
        ++at_;
        ByteSet any;
        any.set();
        any.reset('\n');
        return consume(any);
      }
      case '^':
        ++at_;
        return single(Step{Step::Kind::LineStart, {}, -1, -1});
      case '$': {
        ++at_;
        ByteSet end;
        end.set('\n');
        return consume(end);
      }
      case '\\':
        ++at_;
        return consume(escape());
      case '*':
      case '+':
      case '?':
        fail("nothing to repeat");
        return empty();
      default: {
        ++at_;
        ByteSet one;
        one.set(static_cast<unsigned char>(c));
        return consume(one);
      }
    }
  }

  Piece consume(const ByteSet& on) { return single(Step{Step::Kind::Consume, on, -1, -1}); }

  static ByteSet range(unsigned char from, unsigned char to) {
    ByteSet set;
    for (unsigned c = from; c <= to; ++c) set.set(c);
    return set;
  }

  ByteSet escape() {
    if (at_ >= text_.size()) {
      fail("a '\\' with nothing after it");
      return {};
    }
    const char c = text_[at_++];
    const ByteSet digit = range('0', '9');
    const ByteSet word = digit | range('a', 'z') | range('A', 'Z') | range('_', '_');
    const ByteSet space = range('\t', '\r') | range(' ', ' ');
    ByteSet line_end;
    line_end.set('\n');
    switch (c) {
      case 'd':
        return digit;
      case 'w':
        return word;
      case 's':
        return space & ~line_end;
      case 'D':
        return ~digit & ~line_end;
      case 'W':
        return ~word & ~line_end;
      case 'S':
        return ~space;
      case 't':
        return range('\t', '\t');
      case 'n':
        return line_end;
      default:
        break;
    }
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) {
      fail(fmt::format("'\\{}', which this kind of pattern does not have,", c));
    }
    return range(static_cast<unsigned char>(c), static_cast<unsigned char>(c));
  }

  ByteSet bracket() {
    bool negated = false;
    if (at_ < text_.size() && text_[at_] == '^') negated = true, ++at_;
    ByteSet set;
    for (bool first = true;; first = false) {
      if (at_ >= text_.size()) {
        fail("a '[' that is never closed");
        return set;
      }
      const char c = text_[at_];
      if (c == ']' && !first) break;
      ++at_;
      if (c == '\\') {
        set |= escape();
        continue;
      }
      const auto from = static_cast<unsigned char>(c);
      if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
        const auto to = static_cast<unsigned char>(text_[at_ + 1]);
        at_ += 2;
        if (to < from) fail("a reversed range");
        if (to >= from) set |= range(from, to);
      } else {
        set.set(from);
      }
    }
    ++at_;
    if (negated) {
      set.flip();
      set.reset('\n');
    }
    return set;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Step> steps_;
  std::string error_;
};

// The steps reachable without consuming a byte; sorted, only those that matter kept.
std::vector<int> closure(const std::vector<Step>& steps, std::vector<int> from, bool line_start) {
  std::vector<bool> seen(steps.size());
  std::vector<int> kept;
  while (!from.empty()) {
    const int at = from.back();
    from.pop_back();
    if (at < 0 || seen[static_cast<std::size_t>(at)]) continue;
    seen[static_cast<std::size_t>(at)] = true;
    const Step& step = steps[static_cast<std::size_t>(at)];
    if (step.kind == Step::Kind::Split) {
      from.push_back(step.next);
      from.push_back(step.other);
    } else if (step.kind == Step::Kind::LineStart) {
      if (line_start) from.push_back(step.next);
    } else {
      kept.push_back(at);
    }
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

}  // namespace

Result<LinePattern> LinePattern::compile(std::string_view pattern, std::size_t most_states) {
  int start = -1;
  auto parsed = Parser(pattern).parse(start);
  if (!parsed) return parsed.error();
  const std::vector<Step>& steps = *parsed;
  const auto accepts = [&](const std::vector<int>& set) {
    return std::any_of(set.begin(), set.end(), [&](int at) {
      return steps[static_cast<std::size_t>(at)].kind == Step::Kind::Accept;
    });
  };

  const std::vector<int> first = closure(steps, {start}, true);
  const std::vector<int> again = closure(steps, {start}, false);  // a match may start later
  if (accepts(first) || accepts(again)) {
    return Error{
        Code::Invalid,
        fmt::format("the pattern \"{}\" matches every line; name what a round prints", pattern)};
  }
  LinePattern made;
  std::map<std::vector<int>, std::uint16_t> known;
  std::vector<std::vector<int>> sets(3);
  made.next_.resize(3);
  made.next_[kDead].fill(kDead);
  made.next_[kAccepted].fill(kAccepted);
  sets[kStart] = first;
  known.emplace(first, kStart);
  known.emplace(std::vector<int>{}, kDead);
  for (std::size_t state = kStart; state < sets.size(); ++state) {
    if (state == kAccepted) continue;
    for (unsigned byte = 0; byte < 256; ++byte) {
      std::vector<int> moved;
      for (int at : sets[state]) {
        const Step& step = steps[static_cast<std::size_t>(at)];
        if (step.kind == Step::Kind::Consume && step.on.test(byte)) moved.push_back(step.next);
      }
      std::vector<int> to = closure(steps, std::move(moved), false);
      if (accepts(to)) {
        made.next_[state][byte] = kAccepted;
        continue;
      }
      to.insert(to.end(), again.begin(), again.end());
      std::sort(to.begin(), to.end());
      to.erase(std::unique(to.begin(), to.end()), to.end());
      const auto [place, is_new] = known.emplace(to, static_cast<std::uint16_t>(sets.size()));
      if (is_new) {
        if (sets.size() >= most_states) {
          return Error{
              Code::Limit,
              fmt::format("the pattern \"{}\" needs more than {} states; use a simpler one",
                          pattern, most_states)};
        }
        sets.push_back(std::move(to));
        made.next_.emplace_back();
      }
      made.next_[state][byte] = place->second;
    }
  }
  return made;
}

bool LinePattern::found_in(std::string_view line) const {
  std::uint16_t state = kStart;
  for (char c : line) state = next_[state][static_cast<unsigned char>(c)];
  return next_[state][static_cast<unsigned char>('\n')] == kAccepted;
}

}  // namespace lowtide
