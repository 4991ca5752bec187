// SPDX-License-Identifier: Apache-2.0
// Calls in which programs wait. Forwarded as they are; a request is looked for before and after, so
// that a program which only ever waits is heard too. errno is the real call's: attend keeps it.

#include "probe/attend.h"
#include "probe/export.h"
#include "probe/next.h"

using namespace lowtide::probe;

namespace {

template <typename Call>
__attribute__((always_inline)) inline auto waiting(Call call) {
  attend();
  const auto result = call(next());
  attend();
  return result;
}

}  // namespace

LOWTIDE_EXPORT ssize_t read(int file, void* buffer, size_t count) {
  return waiting([=](const Next& to) { return to.read(file, buffer, count); });
}

LOWTIDE_EXPORT ssize_t recv(int file, void* buffer, size_t count, int flags) {
  return waiting([=](const Next& to) { return to.recv(file, buffer, count, flags); });
}

LOWTIDE_EXPORT int poll(pollfd* files, nfds_t count, int timeout) {
  return waiting([=](const Next& to) { return to.poll(files, count, timeout); });
}

LOWTIDE_EXPORT int select(int count, fd_set* read, fd_set* write, fd_set* other, timeval* timeout) {
  return waiting([=](const Next& to) { return to.select(count, read, write, other, timeout); });
}

LOWTIDE_EXPORT int epoll_wait(int file, epoll_event* events, int count, int timeout) {
  return waiting([=](const Next& to) { return to.epoll_wait(file, events, count, timeout); });
}

LOWTIDE_EXPORT int nanosleep(const timespec* time, timespec* rest) {
  return waiting([=](const Next& to) { return to.nanosleep(time, rest); });
}

LOWTIDE_EXPORT int clock_nanosleep(clockid_t clock, int flags, const timespec* time,
                                   timespec* rest) {
  return waiting([=](const Next& to) { return to.clock_nanosleep(clock, flags, time, rest); });
}
