// SPDX-License-Identifier: Apache-2.0
#pragma once

// Marks a hook: a C name the target calls instead of libc's. probe.map lists the same names.
#define LOWTIDE_EXPORT extern "C" __attribute__((visibility("default")))
