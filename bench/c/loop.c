/*
 * loop JOBS SLOTS             Runs `sh -c true` JOBS times, SLOTS at a time: the best rate with a shell per job.
 * loop JOBS SLOTS DIR ARG...  Runs `sh ARG...` instead, each in its own session, with its output in DIR/<n>.out. An ARG
 *                             that is RECORD becomes DIR/<n>.rec: the best rate with queuectl's frame.
 * Prints the nanoseconds from the first start to the last end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void check(int error, const char *what) {
  if (error == 0) return;
  fprintf(stderr, "loop: %s: %s\n", what, strerror(error));
  exit(1);
}

static void start(char **args, posix_spawn_file_actions_t *files, posix_spawnattr_t *session) {
  pid_t pid;
  check(posix_spawn(&pid, "/bin/sh", files, session, args, environ), "posix_spawn");
}

static void start_plain(posix_spawn_file_actions_t *files, posix_spawnattr_t *attributes) {
  char *args[] = {"sh", "-c", "true", NULL};
  start(args, files, attributes);
}

static void start_frame(int job, const char *dir, char **template, int count, posix_spawnattr_t *attributes) {
  char record[4096], output[4096];
  char *args[64] = {"sh"};
  snprintf(record, sizeof record, "%s/%d.rec", dir, job);
  snprintf(output, sizeof output, "%s/%d.out", dir, job);
  for (int i = 0; i < count && i < 60; i++)
    args[i + 1] = strcmp(template[i], "RECORD") == 0 ? record : template[i];
  /* The file is opened here and not by the child, as in queuectl. */
  int fd = open(output, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  check(fd < 0 ? errno : 0, output);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, fd, 1);
  posix_spawn_file_actions_adddup2(&files, fd, 2);
  start(args, &files, attributes);
  posix_spawn_file_actions_destroy(&files);
  close(fd);
}

static void await_one(void) {
  int status;
  while (waitpid(-1, &status, 0) < 0) check(errno == EINTR ? 0 : errno, "waitpid");
  check(status == 0 ? 0 : ECHILD, "a job did not exit with 0");
}

int main(int argc, char **argv) {
  int jobs = argc > 1 ? atoi(argv[1]) : 0, slots = argc > 2 ? atoi(argv[2]) : 0;
  if (jobs < 1 || slots < 1 || argc == 4) check(EINVAL, "loop JOBS SLOTS [DIR ARG...]");
  posix_spawnattr_t plain, session;
  posix_spawnattr_init(&plain);
  posix_spawnattr_init(&session);
  posix_spawnattr_setflags(&session, POSIX_SPAWN_SETSID);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  long long begin = now();
  int running = 0;
  for (int job = 0; job < jobs; job++) {
    if (running == slots) {
      await_one();
      running--;
    }
    if (argc > 3) start_frame(job, argv[3], &argv[4], argc - 4, &session);
    else start_plain(&files, &plain);
    running++;
  }
  while (running-- > 0) await_one();
  printf("%lld\n", now() - begin);
  return 0;
}
