// SPDX-License-Identifier: Apache-2.0
// Lines of C's stdio, which reaches the kernel inside libc and passes no hook of write. Each hook
// calls the real function first and then looks at the arguments; a line is noted when it is
// printed, not when the buffer is flushed. std::cout in step with stdio comes through fwrite and
// putc.
//
// printf and its kin are formatted a second time into a buffer on the stack, cut at its end. Not
// looked at: formats with %n, whose effect would happen twice, wide characters, and the macros
// that write into the buffer themselves (putc_unlocked).

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "probe/export.h"
#include "probe/next.h"
#include "probe/stream.h"

using namespace lowtide::probe;

#undef putc
#undef putchar

namespace {

Stream streams[2];

Stream* watched(FILE* file) {
  if ((file != stdout && file != stderr) || !lines_wanted()) return nullptr;
  return &streams[file == stderr ? 1 : 0];
}

void see(FILE* file, const char* text, size_t count) {
  auto* stream = watched(file);
  if (stream == nullptr) return;
  const int saved_errno = errno;
  stream->see(text, count);
  errno = saved_errno;
}

void see(FILE* file, int byte) {
  const char text = static_cast<char>(byte);
  see(file, &text, 1);
}

bool counts_bytes(const char* format) {
  while ((format = strchr(format, '%')) != nullptr) {
    format += 1 + strspn(format + 1, "0123456789.*$-+ #'hlLjzt");
    if (*format == 'n') return true;
    if (*format != 0) ++format;
  }
  return false;
}

void see_formatted(FILE* file, const char* format, va_list arguments) {
  if (watched(file) == nullptr || counts_bytes(format)) return;
  const int saved_errno = errno;
  char text[512];
  const int length = vsnprintf(text, sizeof text, format, arguments);
  if (length > 0) {
    const auto whole = static_cast<size_t>(length);
    if (whole >= sizeof text) {  // What was cut off may have ended the line, as nearly all do.
      text[sizeof text - 2] = '\n';
      text[sizeof text - 1] = 0;
    }
    see(file, text, whole < sizeof text ? whole : sizeof text - 1);
  }
  errno = saved_errno;
}

}  // namespace

LOWTIDE_EXPORT int puts(const char* text) {
  const int result = next().puts(text);
  if (result >= 0) {
    see(stdout, text, strlen(text));
    see(stdout, '\n');
  }
  return result;
}

LOWTIDE_EXPORT int fputs(const char* text, FILE* file) {
  const int result = next().fputs(text, file);
  if (result >= 0 && watched(file) != nullptr) see(file, text, strlen(text));
  return result;
}

LOWTIDE_EXPORT size_t fwrite(const void* data, size_t size, size_t count, FILE* file) {
  const size_t written = next().fwrite(data, size, count, file);
  if (written > 0) see(file, static_cast<const char*>(data), size * written);
  return written;
}

LOWTIDE_EXPORT int fputc(int byte, FILE* file) {
  const int result = next().fputc(byte, file);
  if (result >= 0) see(file, result);
  return result;
}

LOWTIDE_EXPORT int putc(int byte, FILE* file) {
  const int result = next().putc(byte, file);
  if (result >= 0) see(file, result);
  return result;
}

LOWTIDE_EXPORT int putchar(int byte) {
  const int result = next().putchar(byte);
  if (result >= 0) see(stdout, result);
  return result;
}

namespace {

// print(arguments) is the real function; a second pass over the arguments is ours.
template <typename Print>
int print_and_see(FILE* file, const char* format, va_list arguments, Print print) {
  va_list again;
  va_copy(again, arguments);
  const int result = print(arguments);
  if (result > 0) see_formatted(file, format, again);
  va_end(again);
  return result;
}

}  // namespace

LOWTIDE_EXPORT int vfprintf(FILE* file, const char* format, va_list arguments) {
  return print_and_see(file, format, arguments,
                       [=](va_list list) { return next().vfprintf(file, format, list); });
}

LOWTIDE_EXPORT int __vfprintf_chk(FILE* file, int flag, const char* format, va_list arguments) {
  return print_and_see(file, format, arguments, [=](va_list list) {
    return next().__vfprintf_chk(file, flag, format, list);
  });
}

LOWTIDE_EXPORT int vprintf(const char* format, va_list arguments) {
  return vfprintf(stdout, format, arguments);
}

LOWTIDE_EXPORT int __vprintf_chk(int flag, const char* format, va_list arguments) {
  return __vfprintf_chk(stdout, flag, format, arguments);
}

LOWTIDE_EXPORT int printf(const char* format, ...) {
  va_list list;
  va_start(list, format);
  const int result = vfprintf(stdout, format, list);
  va_end(list);
  return result;
}

LOWTIDE_EXPORT int fprintf(FILE* file, const char* format, ...) {
  va_list list;
  va_start(list, format);
  const int result = vfprintf(file, format, list);
  va_end(list);
  return result;
}

LOWTIDE_EXPORT int __printf_chk(int flag, const char* format, ...) {
  va_list list;
  va_start(list, format);
  const int result = __vfprintf_chk(stdout, flag, format, list);
  va_end(list);
  return result;
}

LOWTIDE_EXPORT int __fprintf_chk(FILE* file, int flag, const char* format, ...) {
  va_list list;
  va_start(list, format);
  const int result = __vfprintf_chk(file, flag, format, list);
  va_end(list);
  return result;
}
