#include "probe.h"
#include <pwd.h>
#include <grp.h>
#include <netdb.h>
#include <arpa/inet.h>
#include <mntent.h>
#include <glob.h>
#include <dirent.h>
#include <unistd.h>
#include <errno.h>
#include <net/if.h>
#include <ifaddrs.h>
#include <fts.h>
#include <ftw.h>

static char room[4096];
static struct passwd record;
static int walked(const char *path, const struct stat *about, int kind, struct FTW *place) {
  PROBE(path);
  PROBE(place);
  return 1;
}
static int chosen(const struct dirent *entry) { return entry->d_name[0] == '.'; }

int main(void) {
  struct passwd *found = getpwuid(0);
  if (found) {
    PROBE(found);
    PROBE(getpwnam(found->pw_name));
    PROBE(getpwuid(0));
    PROBE(found->pw_name);
    PROBE(getpwuid(0)->pw_name);
    PROBE(found->pw_dir);
    setpwent();
    PROBE(getpwent());
  }
  struct passwd *result = 0;
  if (!getpwuid_r(0, &record, room, sizeof room, &result) && result) {
    PROBE(result);
    PROBE(&record);
    PROBE(result->pw_name);
    PROBE(room);
  }
  struct group *group = getgrgid(0);
  if (group) {
    PROBE(group);
    PROBE(getgrgid(0));
    PROBE(getgrnam("root"));
    PROBE(group->gr_mem);
    PROBE(group->gr_name);
  }
  struct in_addr address = {htonl(0x7f000001)};
  PROBE(inet_ntoa(address));
  PROBE(inet_ntoa(address));
  PROBE(inet_ntop(AF_INET, &address, room, sizeof room));
  PROBE(room);
  struct servent *service = getservbyname("http", "tcp");
  if (service) {
    PROBE(service);
    PROBE(getservbyport(service->s_port, "tcp"));
    PROBE(service->s_name);
  }
  struct protoent *protocol = getprotobyname("tcp");
  if (protocol) {
    PROBE(protocol);
    PROBE(getprotobynumber(6));
  }
  glob_t names;
  if (!glob("/", 0, 0, &names)) {
    PROBE(names.gl_pathv);
    PROBE(names.gl_pathv[0]);
  }
  DIR *folder = opendir("/");
  PROBE(folder);
  struct dirent *entry = readdir(folder);
  PROBE(entry);
  rewinddir(folder);
  PROBE(readdir(folder));
  struct dirent **list = 0;
  if (scandir("/", &list, chosen, alphasort) > 0) {
    PROBE(list);
    PROBE(list[0]);
  }
  nftw("/", walked, 4, FTW_PHYS);
  char *roots[] = {"/dev", 0};
  FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, 0);
  if (tree) {
    FTSENT *first = fts_read(tree);
    PROBE(first);
    PROBE(first->fts_path);
    PROBE(first->fts_accpath);
    PROBE(first->fts_parent);
    first->fts_pointer = roots;
    FTSENT *child = fts_children(tree, 0);
    if (child) {
      PROBE(child->fts_parent);
      PROBE(child->fts_parent->fts_pointer);
      PROBE(roots);
    }
  }
  FILE *mounts = setmntent("/proc/mounts", "r");
  if (mounts) {
    struct mntent *mount = getmntent(mounts);
    PROBE(mount);
    if (mount) {
      PROBE(mount->mnt_dir);
      PROBE(hasmntopt(mount, "rw"));
      PROBE(mount->mnt_opts);
    }
    PROBE(getmntent(mounts));
  }
  struct ifaddrs *interfaces;
  if (!getifaddrs(&interfaces) && interfaces) {
    PROBE(interfaces->ifa_name);
    PROBE(interfaces->ifa_next);
    PROBE(interfaces);
  }
  struct addrinfo *information, hints = {.ai_flags = AI_NUMERICHOST | AI_CANONNAME};
  if (!getaddrinfo("127.0.0.1", 0, &hints, &information)) {
    PROBE(information->ai_addr);
    PROBE(information->ai_canonname);
  }
  PROBE(ttyname(0));
  PROBE(getlogin());
  char *absolute = realpath("/", 0);
  PROBE(absolute);
  PROBE(realpath("/", room));
  PROBE(gai_strerror(EAI_NONAME));
  PROBE(gai_strerror(EAI_NONAME));
  PROBE(program_invocation_name);
  PROBE(program_invocation_short_name);
  return 0;
}
