// SPDX-License-Identifier: Apache-2.0
#include "recording/heap_codec.h"

#include <fmt/format.h>
#include <zstd.h>

#include "base/units.h"

namespace lowtide::recording {
namespace {

// Level 1 keeps up with a copy that walks a heap; the small window keeps the recorder small.
constexpr int kLevel = 1;
constexpr int kWindowLog = 18;
constexpr std::size_t kFlushBytes = std::size_t{1} << 20;  // of the plain stream

// What a file may ask of us: the window a decoder must hold, and the length of one heap.
constexpr int kMaxWindowLog = 23;
constexpr std::int64_t kMaxPlainBytes = std::int64_t{64} << 30;

struct FreeEncoder {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
struct FreeDecoder {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

}  // namespace

struct HeapSqueezer::State {
  std::unique_ptr<ZSTD_CCtx, FreeEncoder> context{ZSTD_createCCtx()};
  std::string ready;
  std::size_t unflushed = 0;

  void push(std::string_view plain, ZSTD_EndDirective directive) {
    ready.clear();
    ZSTD_inBuffer in{plain.data(), plain.size(), 0};
    for (;;) {
      const std::size_t before = ready.size();
      ready.resize(before + ZSTD_CStreamOutSize());
      ZSTD_outBuffer out{ready.data() + before, ready.size() - before, 0};
      const std::size_t left = ZSTD_compressStream2(context.get(), &out, &in, directive);
      ready.resize(before + out.pos);
      if (ZSTD_isError(left) != 0U) return;
      if (directive == ZSTD_e_continue ? in.pos == in.size : left == 0) return;
    }
  }
};

HeapSqueezer::HeapSqueezer() : state_(std::make_unique<State>()) {
  ZSTD_CCtx_setParameter(state_->context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(state_->context.get(), ZSTD_c_windowLog, kWindowLog);
  ZSTD_CCtx_setParameter(state_->context.get(), ZSTD_c_checksumFlag, 1);
}

HeapSqueezer::~HeapSqueezer() = default;

std::string_view HeapSqueezer::add(std::string_view plain) {
  state_->unflushed += plain.size();
  const bool flush = state_->unflushed >= kFlushBytes;
  if (flush) state_->unflushed = 0;
  state_->push(plain, flush ? ZSTD_e_flush : ZSTD_e_continue);
  return state_->ready;
}

std::string_view HeapSqueezer::end() {
  state_->push({}, ZSTD_e_end);
  state_->unflushed = 0;
  return state_->ready;
}

struct HeapUnsqueezer::State {
  std::unique_ptr<ZSTD_DCtx, FreeDecoder> context{ZSTD_createDCtx()};
  std::string plain = std::string(ZSTD_DStreamOutSize(), '\0');
};

HeapUnsqueezer::HeapUnsqueezer() : state_(std::make_unique<State>()) {
  ZSTD_DCtx_setParameter(state_->context.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
}

HeapUnsqueezer::~HeapUnsqueezer() = default;

Status HeapUnsqueezer::add(std::string_view squeezed, const Sink& sink) {
  ZSTD_inBuffer in{squeezed.data(), squeezed.size(), 0};
  while (!stopped_) {
    ZSTD_outBuffer out{state_->plain.data(), state_->plain.size(), 0};
    const std::size_t left = ZSTD_decompressStream(state_->context.get(), &out, &in);
    if (ZSTD_isError(left) != 0U) {
      return Error{Code::Corrupt, fmt::format("after {}: {}", to_text(Bytes{plain_bytes_}),
                                              ZSTD_getErrorName(left))};
    }
    complete_ = left == 0;
    plain_bytes_ += static_cast<std::int64_t>(out.pos);
    if (plain_bytes_ > kMaxPlainBytes) {
      return Error{Code::Limit,
                   fmt::format("it is longer than {}", to_text(Bytes{kMaxPlainBytes}))};
    }
    if (out.pos > 0 && !sink({state_->plain.data(), out.pos})) stopped_ = true;
    // A full buffer may have left more inside the decoder.
    if (in.pos == in.size && out.pos < out.size) break;
  }
  return Done{};
}

}  // namespace lowtide::recording
