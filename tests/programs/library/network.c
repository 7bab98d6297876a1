#include "probe.h"
#include <aio.h>
#include <dirent.h>
#include <grp.h>
#include <mntent.h>
#include <mqueue.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <fcntl.h>
#include <unistd.h>
#include <arpa/inet.h>

static char room[8192];
static int value;
static volatile int done;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void initialise(void) { PROBE(initialise); }
static void before_fork(void) { PROBE(before_fork); }
static void on_signal(int number) { done = number; }
static void completed(union sigval given) {
  PROBE(given.sival_ptr);
  done = 1;
}
static void *thread(void *argument) { return argument; }

int main(void) {
  static struct passwd person;
  struct passwd *found = 0;
  if (!getpwnam_r("root", &person, room, sizeof room, &found) && found) {
    PROBE(found);
    PROBE(&person);
  }
  static struct group group;
  struct group *group_found = 0;
  if (!getgrgid_r(0, &group, room, sizeof room, &group_found) && group_found) {
    PROBE(group_found);
    PROBE(&group);
    PROBE(group.gr_name);
    PROBE(room);
  }
  if (!getgrnam_r("root", &group, room, sizeof room, &group_found) && group_found)
    PROBE(group_found);
  setgrent();
  PROBE(getgrent());
  PROBE(getgrent());
  struct hostent *host = gethostbyname("127.0.0.1");
  if (host) {
    PROBE(host);
    PROBE(host->h_name);
    PROBE(host->h_addr_list);
    PROBE(host->h_addr_list[0]);
    PROBE(gethostbyname("127.0.0.1"));
  }
  static struct hostent record;
  struct hostent *result = 0;
  int error;
  if (!gethostbyname_r("127.0.0.1", &record, room, sizeof room, &result, &error) && result) {
    PROBE(result);
    PROBE(&record);
    PROBE(result->h_addr_list);
  }
  static struct hostent by_address;
  struct in_addr local = {htonl(0x7f000001)};
  if (!gethostbyaddr_r(&local, sizeof local, AF_INET, &by_address, room, sizeof room, &result, &error) &&
      result) {
    PROBE(result);
    PROBE(&by_address);
  }
  static struct servent service;
  struct servent *service_found = 0;
  if (!getservbyname_r("http", "tcp", &service, room, sizeof room, &service_found) && service_found) {
    PROBE(service_found);
    PROBE(&service);
  }
  struct ether_addr *ether = ether_aton("01:02:03:04:05:06");
  PROBE(ether);
  PROBE(ether_aton("01:02:03:04:05:06"));
  PROBE(ether_ntoa(ether));
  PROBE(ether_ntoa(ether));
  PROBE(if_indextoname(1, room));
  struct if_nameindex *names = if_nameindex();
  if (names && names->if_name)
    PROBE(names->if_name);
  DIR *folder = opendir("/");
  static struct dirent entry;
  struct dirent *next = 0;
  readdir_r(folder, &entry, &next);
  PROBE(next);
  PROBE(&entry);
  FILE *mounts = setmntent("/proc/mounts", "r");
  static struct mntent mount;
  if (mounts) {
    PROBE(getmntent_r(mounts, &mount, room, sizeof room));
    PROBE(&mount);
    PROBE(mount.mnt_fsname);
    PROBE(room);
  }
  int poll = epoll_create1(0), counter = eventfd(1, 0);
  static struct epoll_event interest, ready;
  interest.events = EPOLLIN;
  interest.data.ptr = &value;
  epoll_ctl(poll, EPOLL_CTL_ADD, counter, &interest);
  PROBE(&value);
  if (epoll_pwait(poll, &ready, 1, 0, 0) == 1)
    PROBE(ready.data.ptr);

  static char buffer[8];
  static struct aiocb control;
  control.aio_fildes = open("/dev/zero", O_RDONLY);
  control.aio_buf = buffer;
  control.aio_nbytes = sizeof buffer;
  control.aio_sigevent.sigev_notify = SIGEV_THREAD;
  control.aio_sigevent.sigev_notify_function = completed;
  control.aio_sigevent.sigev_value.sival_ptr = &value;
  if (!aio_read(&control))
    for (int i = 0; i < 2000 && !done; i++)
      usleep(1000);

  int pair[2];
  socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
  void *sent = &value, *received = 0;
  struct iovec out = {&sent, sizeof sent}, in = {&received, sizeof received};
  struct mmsghdr message_out = {.msg_hdr = {.msg_iov = &out, .msg_iovlen = 1}};
  struct mmsghdr message_in = {.msg_hdr = {.msg_iov = &in, .msg_iovlen = 1}};
  sendmmsg(pair[0], &message_out, 1, 0);
  recvmmsg(pair[1], &message_in, 1, 0, 0);
  PROBE(received);
  int pipes[2];
  pipe(pipes);
  if (vmsplice(pipes[1], &out, 1, 0) == sizeof sent) {
    void *spliced = 0;
    read(pipes[0], &spliced, sizeof spliced);
    PROBE(spliced);
  }
  int queue = msgget(IPC_PRIVATE, 0600);
  if (queue >= 0) {
    struct { long type; void *pointer; } letter = {1, &value}, copy = {0, 0};
    if (!msgsnd(queue, &letter, sizeof letter.pointer, 0)) {
      msgrcv(queue, &copy, sizeof copy.pointer, 0, 0);
      PROBE(copy.pointer);
    }
    msgctl(queue, IPC_RMID, 0);
  }
  int segment = shmget(IPC_PRIVATE, 4096, 0600);
  if (segment >= 0) {
    void **first = shmat(segment, 0, 0), **second = shmat(segment, 0, 0);
    if (first != (void *)-1 && second != (void *)-1) {
      PROBE(first);
      first[1] = &value;
      PROBE(second[1]);
    }
    shmctl(segment, IPC_RMID, 0);
  }
  pthread_once(&once, initialise);
  PROBE(initialise);
  pthread_atfork(before_fork, 0, 0);
  PROBE(before_fork);
  if (!fork())
    _exit(0);
  PROBE(sigset(SIGUSR1, on_signal));
  PROBE(sigset(SIGUSR1, SIG_DFL));
  PROBE(on_signal);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &set, 0);
  pthread_sigqueue(pthread_self(), SIGRTMIN, (union sigval){.sival_ptr = &value});
  siginfo_t information;
  struct timespec soon = {1, 0};
  if (sigtimedwait(&set, &information, &soon) == SIGRTMIN)
    PROBE(information.si_value.sival_ptr);
  pthread_t id;
  void *joined = 0;
  pthread_create(&id, 0, thread, &value);
  struct timespec later = {2000000000, 0};
  pthread_timedjoin_np(id, &joined, &later);
  PROBE(joined);
  pthread_attr_t attributes;
  void *stack;
  size_t size;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &stack, &size);
  PROBE(stack);
  return 0;
}
