#include "probe.h"
#include <time.h>
#include <sys/time.h>

static time_t when = 86400;
static struct tm parts, parsed;
static char text[64];

int main(void) {
  setenv("TZ", "UTC", 1);
  tzset();
  struct tm *local = localtime(&when);
  PROBE(local);
  PROBE(gmtime(&when));
  PROBE(local->tm_zone);
  PROBE(gmtime(&when)->tm_zone);
  PROBE(tzname[0]);
  PROBE(tzname[1]);
  PROBE(localtime_r(&when, &parts));
  PROBE(&parts);
  PROBE(parts.tm_zone);
  PROBE(gmtime_r(&when, &parts));
  PROBE(parts.tm_zone);
  PROBE(ctime(&when));
  PROBE(asctime(&parts));
  PROBE(ctime_r(&when, text));
  PROBE(asctime_r(&parts, text));
  PROBE(text);
  PROBE(strptime(text, "%a %b", &parsed));
  PROBE(text + 7);
  PROBE(mktime(&parts) ? parts.tm_zone : 0);
  parsed.tm_year = 70;
  PROBE(timegm(&parsed) ? parsed.tm_zone : 0);
  PROBE(strptime("UTC", "%Z", &parsed) ? parsed.tm_zone : 0);
  return 0;
}
