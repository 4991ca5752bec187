// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

int main() {
  std::puts("lowtide");
  return 0;
}
