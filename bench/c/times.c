/*
 * times RUNS COMMAND [::: COMMAND]...
 * Runs the commands in turn, RUNS times each. Prints a line of nanoseconds for each of them, and then a line with the CPU
 * times of each, with those of the processes that the command has waited for. It is written in C, so that its own cost to
 * start a process is small.
 *
 * Words before a command's program:
 *   NAME=VALUE  an environment variable
 *   -fresh=F    remove F before each run (for a file that the command creates exclusively)
 *   -stamp=F    measure until the time that `stamp F` writes, instead of the end of the command
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

#define MAX_COMMANDS 64
#define STAMP_WAIT_NS 10000000000LL
/* After a command with a stamp, this pause lets its worker become idle again. */
#define IDLE_PAUSE_NS 20000000L

struct command {
  char **words;
  const char *stamp;
  const char *fresh;
  long long *ns;
  long long *cpu_ns;
};

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void pause_ns(long ns) {
  struct timespec t = {0, ns};
  nanosleep(&t, NULL);
}

static void fail(const char *what, const char *which) {
  fprintf(stderr, "times: %s: %s\n", what, which);
  exit(1);
}

static void read_prefix(struct command *c) {
  for (; *c->words != NULL; c->words++) {
    char *word = *c->words;
    if (strncmp(word, "-stamp=", 7) == 0) c->stamp = word + 7;
    else if (strncmp(word, "-fresh=", 7) == 0) c->fresh = word + 7;
    else if (word[0] == '/' || strchr(word, '=') == NULL) return;
    else putenv(word);
  }
  fail("no program", "");
}

static long long read_stamp(const char *file, long long start) {
  char text[64];
  while (now() - start < STAMP_WAIT_NS) {
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    if (n > 0 && text[n - 1] == '\n') return atoll(text);
    pause_ns(200000);
  }
  fail("the stamp never came", file);
  return 0;
}

static long long cpu_time(struct rusage *usage) {
  struct timeval *user = &usage->ru_utime, *system = &usage->ru_stime;
  return (user->tv_sec + system->tv_sec) * 1000000000LL + (user->tv_usec + system->tv_usec) * 1000LL;
}

static long long run(struct command *c, long long *cpu_ns, posix_spawn_file_actions_t *silent) {
  char **words = c->words;
  pid_t pid;
  int status;
  struct rusage usage;
  read_prefix(c);
  if (c->fresh != NULL) unlink(c->fresh);
  if (c->stamp != NULL) unlink(c->stamp);
  long long start = now();
  if (posix_spawnp(&pid, c->words[0], silent, NULL, c->words, environ) != 0) fail("cannot start", c->words[0]);
  while (wait4(pid, &status, 0, &usage) < 0)
    if (errno != EINTR) fail("wait4", strerror(errno));
  long long end = now();
  *cpu_ns = cpu_time(&usage);
  if (status != 0) fail("not exit code 0", c->words[0]);
  if (c->stamp != NULL) {
    end = read_stamp(c->stamp, start);
    pause_ns(IDLE_PAUSE_NS);
  }
  c->words = words;
  return end - start;
}

static void print_line(long long *ns, int runs) {
  for (int r = 0; r < runs; r++) printf("%lld%c", ns[r], r == runs - 1 ? '\n' : ' ');
}

int main(int argc, char **argv) {
  struct command commands[MAX_COMMANDS] = {{0}};
  int count = 0, runs = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 2; i < argc; i++) {
    int first = i == 2 || argv[i - 1] == NULL;
    if (first && count < MAX_COMMANDS) commands[count++].words = &argv[i];
    if (strcmp(argv[i], ":::") == 0) argv[i] = NULL;
  }
  if (runs < 1 || count < 1) fail("usage", "times RUNS COMMAND [::: COMMAND]...");
  posix_spawn_file_actions_t silent;
  posix_spawn_file_actions_init(&silent);
  for (int fd = 0; fd < 3; fd++) posix_spawn_file_actions_addopen(&silent, fd, "/dev/null", fd == 0 ? O_RDONLY : O_WRONLY, 0);
  for (int c = 0; c < count; c++) {
    commands[c].ns = calloc(runs, sizeof(long long));
    commands[c].cpu_ns = calloc(runs, sizeof(long long));
  }
  for (int r = 0; r < runs; r++)
    for (int c = 0; c < count; c++) commands[c].ns[r] = run(&commands[c], &commands[c].cpu_ns[r], &silent);
  for (int c = 0; c < count; c++) print_line(commands[c].ns, runs);
  for (int c = 0; c < count; c++) print_line(commands[c].cpu_ns, runs);
  return 0;
}
