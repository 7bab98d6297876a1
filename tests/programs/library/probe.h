/* PROBE(p) shows a pointer: at run time its address, and to the analysis the same value.
   Where two probes showed one address, the answer must say that they may alias. One probe a line;
   storage is static, so that no address is used twice, and nothing is freed. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static void probe(int line, const volatile void *pointer) {
  fprintf(stderr, "%d %" PRIxPTR "\n", line, (uintptr_t)pointer);
}
#define PROBE(pointer) probe(__LINE__, (const volatile void *)(pointer))
