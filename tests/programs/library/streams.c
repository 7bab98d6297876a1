#include "probe.h"
#include <fcntl.h>
#include <sys/uio.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wchar.h>

static int target, others[4];
static void action(void) {}
struct message { int kind; void *pointer; void (*callback)(void); };

int main(void) {
  FILE *file = tmpfile();
  PROBE(file);
  static char buffer[64], line[64];
  PROBE(fgets(buffer, 10, file));
  FILE *name = fopen("/dev/null", "r");
  PROBE(name);
  PROBE(freopen("/dev/zero", "r", name));
  PROBE(stdin);
  PROBE(freopen("/dev/null", "r", stdin));
  PROBE(stdin);
  PROBE(stderr);
  FILE *copy = stdout;
  PROBE(copy);
  PROBE(stdout);

  char *stream = 0;
  size_t size = 0;
  FILE *memory = open_memstream(&stream, &size);
  fputs("text", memory);
  fflush(memory);
  PROBE(memory);
  PROBE(stream);
  FILE *fixed = fmemopen(line, sizeof line, "w+");
  PROBE(fixed);
  fputs("a line\n", fixed);
  rewind(fixed);
  char *got = 0;
  size_t room = 0;
  getline(&got, &room, fixed);
  PROBE(got);
  rewind(fixed);
  char *again = got;
  getdelim(&again, &room, '\n', fixed);
  PROBE(again);
  char *made;
  asprintf(&made, "%d", 1);
  PROBE(made);
  PROBE(ctermid(0));
  PROBE(ctermid(buffer));
  PROBE(ctermid(0));
  PROBE(buffer);
  PROBE(getcwd(line, sizeof line));
  PROBE(line);
  PROBE(tmpnam(line));
  PROBE(cuserid(line));

  /* pointers that leave as bytes and come back */
  static struct message sent = {1, &target, action}, received;
  int ends[2];
  pipe(ends);
  write(ends[1], &sent, sizeof sent);
  read(ends[0], &received, sizeof received);
  PROBE(&target);
  PROBE(action);
  PROBE(received.pointer);
  PROBE(received.callback);
  received.callback();
  void *single = &others[1], *back = 0;
  write(ends[1], &single, sizeof single);
  read(ends[0], &back, sizeof back);
  PROBE(single);
  PROBE(back);
  struct iovec out = {&single, sizeof single};
  void *vector = 0;
  struct iovec in = {&vector, sizeof vector};
  writev(ends[1], &out, 1);
  readv(ends[0], &in, 1);
  PROBE(vector);
  int pair[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  void *over_socket = 0, *over_message = 0, *from = 0;
  send(pair[0], &single, sizeof single, 0);
  recv(pair[1], &over_socket, sizeof over_socket, 0);
  PROBE(over_socket);
  sendto(pair[0], &single, sizeof single, 0, 0, 0);
  recvfrom(pair[1], &from, sizeof from, 0, 0, 0);
  PROBE(from);
  struct iovec message_in = {&over_message, sizeof over_message};
  struct msghdr header_out = {.msg_iov = &out, .msg_iovlen = 1};
  struct msghdr header_in = {.msg_iov = &message_in, .msg_iovlen = 1};
  sendmsg(pair[0], &header_out, 0);
  recvmsg(pair[1], &header_in, 0);
  PROBE(over_message);
  void *from_file = 0, *positioned = 0;
  FILE *bytes = tmpfile();
  fwrite(&single, sizeof single, 1, bytes);
  rewind(bytes);
  fread(&from_file, sizeof from_file, 1, bytes);
  PROBE(from_file);
  pread(fileno(bytes), &positioned, sizeof positioned, 0);
  PROBE(positioned);
  char printed[40];
  void *scanned = 0;
  sprintf(printed, "%p", single);
  sscanf(printed, "%p", &scanned);
  PROBE(scanned);
  uintptr_t number = 0;
  sscanf(printed, "%" SCNxPTR, &number);
  PROBE((void *)number);
  PROBE((void *)(uintptr_t)strtoull(printed, 0, 16));
  static char place[64];
  setvbuf(bytes, place, _IOFBF, sizeof place);
  fflush(bytes);
  PROBE(bytes->_IO_buf_base);
  PROBE(place);
  fputs("x", stdout);
  PROBE(stdout->_IO_buf_base);
  char *printed_to = stdout->_IO_buf_base;
  PROBE(printed_to);
  fgetc(name);
  PROBE(name->_IO_buf_base);
  char *own = name->_IO_buf_base;
  PROBE(own);
  return 0;
}
