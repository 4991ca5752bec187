// SPDX-License-Identifier: Apache-2.0
#include "cli/heap_capture.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <vector>

namespace lowtide::cli {
namespace {

constexpr std::size_t kFirstBytes = 1024;  // HELLO, or a refusal, is shorter
constexpr std::size_t kLastBytes = 64;     // END is at most 51
constexpr std::size_t kBlock = 256 * 1024;
constexpr std::size_t kBlocksAStep = 8;  // so that a fast copy cannot starve the sampling

// Bounds-checked reading of what a target sent.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64 && at_ < bytes_.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::string text() {
    const auto length = varint();
    if (!length) return {};
    const std::string_view found = bytes_.substr(at_, *length);
    at_ += found.size();
    return std::string(found);
  }

  char byte() { return at_ < bytes_.size() ? bytes_[at_++] : '\0'; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace

StreamFacts stream_facts(std::string_view first_bytes, std::string_view last_bytes) {
  StreamFacts facts;
  Cursor head(first_bytes);
  char record = head.byte();
  if (record == 'H') {
    head.varint();  // version
    head.varint();  // pid
    facts.runtime = head.text();
    head.varint();  // flags
    record = head.byte();
  }
  if (record == 'X') facts.refusal = head.text();

  // END is 'E' and five varints, and nothing follows: walk back over five ends of varints. The
  // byte before the first of them is the 'E', and no other byte can be.
  int ends = 0;
  std::size_t at = last_bytes.size();
  while (at > 0) {
    --at;
    if (static_cast<unsigned char>(last_bytes[at]) < 0x80 && ++ends == 6) break;
  }
  if (ends == 6 && last_bytes[at] == 'E') {
    Cursor tail(last_bytes.substr(at + 1));
    facts.nodes = tail.varint().value_or(0);
    facts.edges = tail.varint().value_or(0);
    facts.walk_seconds = static_cast<double>(tail.varint().value_or(0)) / 1e9;
    facts.unreadable = tail.varint().value_or(0);
    facts.flags = tail.varint().value_or(0);
    facts.ended = true;
  }
  return facts;
}

HeapCapture::HeapCapture(const RunFolder& folder, lowtide_slot& slot, std::uint32_t id)
    : slot_(slot), id_(id), socket_path_(folder.socket_path(id)) {}

HeapCapture::~HeapCapture() {
  give_back_slot();
  ::unlink(socket_path_.c_str());
}

Result<std::unique_ptr<HeapCapture>> HeapCapture::ask(const RunFolder& folder, lowtide_slot& slot,
                                                      const lowtide_ask& question, std::string text,
                                                      Sink sink, double now, bool raw) {
  const std::uint32_t id = std::atomic_ref(folder.table().next_request).fetch_add(1);
  std::unique_ptr<HeapCapture> capture(new HeapCapture(folder, slot, id));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (capture->socket_path_.size() >= sizeof address.sun_path) {
    return Error{Code::Invalid, fmt::format("the path {} is too long for a socket; set TMPDIR to a "
                                            "shorter folder",
                                            capture->socket_path_)};
  }
  capture->socket_path_.copy(address.sun_path, sizeof address.sun_path - 1);
  capture->listener_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const mode_t before = ::umask(0177);  // the socket is 0600
  const int bound = ::bind(capture->listener_.number(), reinterpret_cast<const sockaddr*>(&address),
                           sizeof address);
  ::umask(before);
  if (bound != 0 || ::listen(capture->listener_.number(), 1) != 0) {
    return io_error("make the socket", capture->socket_path_, errno);
  }
  lowtide_ask sent = question;
  sent.magic = LOWTIDE_HEAP_MAGIC;
  sent.text_bytes = static_cast<std::uint32_t>(text.size());
  capture->question_.assign(reinterpret_cast<const char*>(&sent), sizeof sent);
  capture->question_ += text;
  capture->sink_ = std::move(sink);
  if (!raw) capture->squeezer_ = std::make_unique<recording::HeapSqueezer>();
  capture->asked_at_ = capture->moved_at_ = now;

  std::uint32_t nobody = 0;
  if (!std::atomic_ref(slot.request).compare_exchange_strong(nobody, id)) {
    capture->id_ = 0;
    return Error{Code::Limit, fmt::format("process {} is already giving its heap to somebody else; "
                                          "try again in a moment",
                                          slot.pid)};
  }
  return capture;
}

void HeapCapture::give_back_slot() {
  std::uint32_t mine = id_;
  if (mine == 0 || std::atomic_ref(slot_.request).load() != mine) return;
  std::atomic_ref(slot_.answer).store(LOWTIDE_ANSWER_NONE);
  std::atomic_ref(slot_.request).compare_exchange_strong(mine, 0);
}

void HeapCapture::cancel(std::string why) {
  if (state_ == State::Done || state_ == State::Failed) return;
  failure_ = std::move(why);
  // The copy ends itself at its next write; killed, it gives its memory back at once.
  if (state_ == State::Streaming && slot_.copy_pid > 0) ::kill(slot_.copy_pid, SIGKILL);
  state_ = State::Failed;
  give_back_slot();
  connection_.reset();
  listener_.reset();
}

void HeapCapture::accept_connection(double now) {
  Fd made(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!made) return;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(made.number(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
      (peer.uid != ::getuid() && ::getuid() != 0)) {
    return;
  }
  connection_ = std::move(made);
  state_ = State::Streaming;
  moved_at_ = now;
}

void HeapCapture::take(std::string_view bytes) {
  stream_bytes_ += static_cast<std::int64_t>(bytes.size());
  if (first_.size() < kFirstBytes) first_ += bytes.substr(0, kFirstBytes - first_.size());
  last_ += bytes.substr(bytes.size() - std::min(bytes.size(), kLastBytes));
  if (last_.size() > kLastBytes) last_.erase(0, last_.size() - kLastBytes);
  store(squeezer_ ? squeezer_->add(bytes) : bytes);
}

void HeapCapture::store(std::string_view piece) {
  if (piece.empty()) return;
  stored_bytes_ += static_cast<std::int64_t>(piece.size());
  sink_(piece);
}

void HeapCapture::finish() {
  facts_ = stream_facts(first_, last_);
  lock_wait_ = static_cast<double>(slot_.lock_wait_ns) / 1e9;
  pause_ = static_cast<double>(slot_.pause_ns) / 1e9;
  if (!facts_.refusal.empty()) return cancel(facts_.refusal);
  if (!facts_.ended) {
    return cancel(stream_bytes_ == 0 ? "the process ended before it gave its heap"
                                     : "the copy of the process ended before its heap was read");
  }
  if (squeezer_) store(squeezer_->end());
  give_back_slot();
  connection_.reset();
  listener_.reset();
  state_ = State::Done;
}

HeapCapture::State HeapCapture::step(double now, double answer_limit) {
  if (state_ == State::Waiting) accept_connection(now);
  if (state_ == State::Streaming) {
    while (!question_.empty()) {
      const ssize_t put =
          ::send(connection_.number(), question_.data(), question_.size(), MSG_NOSIGNAL);
      if (put <= 0) break;
      question_.erase(0, static_cast<std::size_t>(put));
    }
    static thread_local std::vector<char> block(kBlock);
    for (std::size_t i = 0; i < kBlocksAStep; ++i) {
      const ssize_t got = ::recv(connection_.number(), block.data(), block.size(), 0);
      if (got > 0) {
        moved_at_ = now;
        take(std::string_view(block.data(), static_cast<std::size_t>(got)));
        continue;
      }
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) break;
      finish();
      break;
    }
  }
  if ((state_ == State::Waiting || state_ == State::Streaming) && now - moved_at_ > answer_limit) {
    cancel(state_ == State::Waiting
               ? fmt::format("the program did not answer within {:.0f} s: it made no call that the "
                             "probe sees",
                             answer_limit)
               : fmt::format("no heap within {:.0f} s: native code kept the interpreter's lock",
                             answer_limit));
  }
  return state_;
}

}  // namespace lowtide::cli
