#include "probe.h"
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <dlfcn.h>
#include <link.h>

static int value, other;
static volatile int seen;
static pthread_key_t key;

static void on_signal(int number) { seen = number; }
static void on_information(int number, siginfo_t *information, void *context) {
  PROBE(information->si_value.sival_ptr);
  seen = number;
}
static void on_timer(union sigval given) {
  PROBE(given.sival_ptr);
  seen = 77;
}
static void *thread(void *argument) {
  PROBE(argument);
  pthread_setspecific(key, argument);
  PROBE(pthread_getspecific(key));
  return &other;
}
static void *leaving(void *argument) {
  pthread_exit(argument);
  return 0;
}
static int c11_thread(void *argument) {
  PROBE(argument);
  return 0;
}
static void destroyed(void *argument) { PROBE(argument); }
static void cleaned(void *argument) { PROBE(argument); }
static void at_exit(int status, void *argument) { PROBE(argument); }
static int each(struct dl_phdr_info *information, size_t size, void *data) {
  PROBE(data);
  PROBE(information->dlpi_name);
  return 1;
}

int main(void) {
  PROBE(&value);
  PROBE(&other);
  on_exit(at_exit, &value);
  PROBE(signal(SIGUSR1, on_signal));
  PROBE(signal(SIGUSR1, SIG_DFL));
  PROBE(on_signal);
  struct sigaction before, action = {.sa_sigaction = on_information, .sa_flags = SA_SIGINFO};
  sigaction(SIGUSR2, &action, 0);
  sigaction(SIGUSR2, 0, &before);
  PROBE(before.sa_sigaction);
  PROBE(on_information);
  sigqueue(getpid(), SIGUSR2, (union sigval){.sival_ptr = &value});
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &set, 0);
  sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_ptr = &other});
  siginfo_t waited;
  sigwaitinfo(&set, &waited);
  PROBE(waited.si_value.sival_ptr);

  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_timer};
  event.sigev_value.sival_ptr = &other;
  struct itimerspec soon = {.it_value = {0, 1000000}};
  if (!timer_create(CLOCK_MONOTONIC, &event, &timer) && !timer_settime(timer, 0, &soon, 0))
    for (int i = 0; i < 2000 && seen != 77; i++)
      usleep(1000);

  static char stack[1 << 16];
  stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack}, current;
  sigaltstack(&alternative, 0);
  sigaltstack(0, &current);
  PROBE(current.ss_sp);
  PROBE(stack);

  pthread_key_create(&key, destroyed);
  pthread_t id;
  void *result;
  pthread_create(&id, 0, thread, &value);
  pthread_join(id, &result);
  PROBE(result);
  pthread_create(&id, 0, leaving, &value);
  pthread_join(id, &result);
  PROBE(result);
  thrd_t c11;
  thrd_create(&c11, c11_thread, &other);
  thrd_join(c11, 0);
  tss_t slot;
  tss_create(&slot, 0);
  tss_set(slot, &other);
  PROBE(tss_get(slot));
  pthread_cleanup_push(cleaned, &other);
  pthread_cleanup_pop(1);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, sizeof stack);
  void *at;
  size_t size;
  pthread_attr_getstack(&attributes, &at, &size);
  PROBE(at);

  int poll = epoll_create1(0), counter = eventfd(1, 0);
  static struct epoll_event interest, ready;
  interest.events = EPOLLIN;
  interest.data.ptr = &value;
  epoll_ctl(poll, EPOLL_CTL_ADD, counter, &interest);
  if (epoll_wait(poll, &ready, 1, 0) == 1)
    PROBE(ready.data.ptr);
  int second = epoll_create1(0);
  struct epoll_event given = {.events = EPOLLIN, .data.ptr = &other};
  epoll_ctl(second, EPOLL_CTL_ADD, counter, &given);
  if (epoll_wait(second, &ready, 1, 0) == 1)
    PROBE(ready.data.ptr);

  void *self = dlopen(0, RTLD_NOW);
  PROBE(self);
  PROBE(dlopen(0, RTLD_NOW));
  void *found = dlsym(self, "getpid");
  PROBE(found);
  PROBE(getpid);
  Dl_info about;
  if (dladdr(found, &about)) {
    PROBE(about.dli_saddr);
    PROBE(about.dli_fname);
  }
  dl_iterate_phdr(each, &other);
  sem_t *semaphore = sem_open("/kleene-probe", 0100, 0600, 1);
  if (semaphore != SEM_FAILED) {
    PROBE(semaphore);
    PROBE(sem_open("/kleene-probe", 0));
    sem_unlink("/kleene-probe");
  }
  return 0;
}
