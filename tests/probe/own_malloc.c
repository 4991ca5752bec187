/* SPDX-License-Identifier: Apache-2.0 */
/* A program that is its own allocator: ours must not come between. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static char memory[1 << 22];
static size_t used;
static size_t calls;

void* malloc(size_t size) {
  ++calls;
  char* block = memory + used;
  used += (size + 31) & ~(size_t)15;
  *(size_t*)(void*)block = size;
  return used < sizeof memory ? block + 16 : NULL;
}
void free(void* block) { (void)block; }
void* calloc(size_t count, size_t size) { return malloc(count * size); }
void* realloc(void* old, size_t size) {
  void* block = malloc(size);
  if (old != NULL && block != NULL) {
    const size_t before = *(size_t*)(void*)((char*)old - 16);
    memcpy(block, old, before < size ? before : size);
  }
  return block;
}

int main(void) {
  char* text = malloc(10);
  strcpy(text, "mine");
  text = realloc(text, 1000);
  char line[16];
  snprintf(line, sizeof line, "%s", text);
  printf("%s %d\n", line, (char*)text > memory && (char*)text < memory + sizeof memory);
  printf("%d\n", calls > 2);
  return 0;
}
