/* A signal handler, by signal and by sigaction, that writes through a global pointer. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "alias.h"

static volatile sig_atomic_t count, other;
static volatile sig_atomic_t *where = &count;

static void simple(int number) { *where += number ? 1 : 0; }
static void informed(int number, siginfo_t *info, void *context) {
  (void)context;
  if (info && info->si_signo == number) *where += 10;
}

int main(void) {
  struct sigaction action;
  void (*before)(int) = signal(SIGUSR1, simple);
  if (before == SIG_ERR) return 1;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = informed;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR2, &action, NULL);
  raise(SIGUSR1);
  raise(SIGUSR2);
  before = signal(SIGUSR1, SIG_DFL);
  MAYALIAS((void *)before, (void *)simple);
  NOALIAS((void *)where, (void *)&other);
  printf("%d\n", (int)count);
  return count == 11 && before == simple ? 0 : 1;
}
