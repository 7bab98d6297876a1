#include "probe.h"
#include <getopt.h>
#include <unistd.h>
#include <locale.h>
#include <langinfo.h>
#include <libintl.h>
#include <wordexp.h>

extern char **environ;
static char own[] = "KLEENE_OWN=one";
static char *arguments[] = {"prog", "-ovalue", "-o", "apart", "--long=word", "-v", "rest", 0};
static struct option longs[] = {{"long", required_argument, 0, 'l'}, {0, 0, 0, 0}};
static char suboptions[] = "size=12,fast";
static char *tokens[] = {"size", "fast", 0};

int main(int argc, char **argv, char **envp) {
  PROBE(argv[0]);
  PROBE(environ);
  PROBE(envp);
  PROBE(environ[0]);
  PROBE(envp[0]);
  setenv("KLEENE_SET", "two", 1);
  PROBE(getenv("KLEENE_SET"));
  PROBE(secure_getenv("KLEENE_SET"));
  putenv(own);
  PROBE(own);
  PROBE(own + 11);
  PROBE(getenv("KLEENE_OWN"));
  for (char **e = environ; *e; e++) {
    if (!strncmp(*e, "KLEENE_OWN", 10))
      PROBE(*e);
    if (!strncmp(*e, "KLEENE_SET", 10))
      PROBE(*e + 11);
  }
  static char *fresh[2];
  fresh[0] = own;
  environ = fresh;
  PROBE(getenv("KLEENE_OWN"));
  PROBE(environ[0]);
  PROBE(fresh[0]);

  int found;
  while ((found = getopt_long(7, arguments, "o:v", longs, 0)) != -1)
    PROBE(optarg);
  PROBE(arguments[1]);
  PROBE(arguments[1] + 2);
  PROBE(arguments[3]);
  PROBE(arguments[4] + 7);
  PROBE(arguments[optind]);
  PROBE(arguments[6]);

  char *rest = suboptions, *value = 0;
  while (*rest) {
    getsubopt(&rest, tokens, &value);
    PROBE(value);
    PROBE(rest);
  }
  PROBE(suboptions + 5);
  PROBE(suboptions + 8);
  PROBE(suboptions + 12);

  char *name = setlocale(LC_ALL, "C");
  PROBE(name);
  PROBE(setlocale(LC_ALL, 0));
  PROBE(nl_langinfo(CODESET));
  PROBE(localeconv());
  PROBE(localeconv()->decimal_point);
  PROBE(nl_langinfo(RADIXCHAR));
  PROBE(gettext(own));
  PROBE(dgettext("domain", own));
  PROBE(ngettext(own, suboptions, 1));
  PROBE(ngettext(own, suboptions, 2));
  PROBE(textdomain("domain"));
  PROBE(textdomain(0));
  PROBE(bindtextdomain("domain", "/"));
  PROBE(bindtextdomain("domain", 0));

  wordexp_t words;
  if (!wordexp("a b", &words, 0)) {
    PROBE(words.we_wordv);
    PROBE(words.we_wordv[0]);
    PROBE(words.we_wordv[1]);
  }
  return 0;
}
