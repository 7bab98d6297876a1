// System calls by their numbers: memory that the kernel reads, writes, keeps and gives.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

static int target, other, word;

static void through_a_pipe(void) {
  int ends[2];
  void *sent = &target, *got = NULL;
  PROBE(sent);
  if (syscall(SYS_pipe2, ends, 0)) return;
  syscall(SYS_write, ends[1], &sent, sizeof sent);
  read(ends[0], &got, sizeof got);
  PROBE(got);
  void *back = NULL;
  write(ends[1], &sent, sizeof sent);
  syscall(SYS_read, ends[0], &back, sizeof back);
  PROBE(back);
  struct iovec in = {&sent, sizeof sent}, out = {&got, sizeof got};
  got = NULL;
  syscall(SYS_writev, ends[1], &in, 1);
  syscall(SYS_readv, ends[0], &out, 1);
  PROBE(got);
}

static void kept_by_the_kernel(void) {
  int ends[2], set = (int)syscall(SYS_epoll_create1, 0);
  if (pipe(ends)) return;
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = &other}, found;
  PROBE(event.data.ptr);
  syscall(SYS_epoll_ctl, set, EPOLL_CTL_ADD, ends[0], &event);
  write(ends[1], "x", 1);
  epoll_wait(set, &found, 1, 0);
  PROBE(found.data.ptr);
  found.data.ptr = NULL;
  syscall(SYS_epoll_pwait, set, &found, 1, 0, NULL, 0);
  PROBE(found.data.ptr);
}

static void copied_by_the_kernel(void) {
  void *from = &target, *to = NULL;
  struct iovec own = {&to, sizeof to}, its = {&from, sizeof from};
  syscall(SYS_process_vm_readv, getpid(), &own, 1, &its, 1, 0);
  PROBE(from);
  PROBE(to);
}

static void memory(void) {
  char *made = (char *)syscall(SYS_mmap, NULL, 8192, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *(void **)made = &word;
  PROBE(made);
  char *moved = (char *)syscall(SYS_mremap, made, 8192, 8192, 0);
  PROBE(moved);
  PROBE(*(void **)moved);
  PROBE((void *)&word);
  char *text = (char *)malloc(64);
  syscall(SYS_getcwd, text, 64);
  PROBE(text);
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
  syscall(SYS_munmap, made, 8192);
}

int main(void) {
  through_a_pipe();
  kept_by_the_kernel();
  copied_by_the_kernel();
  memory();
  return 0;
}
