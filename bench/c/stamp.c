/* stamp FILE: writes the time of its first instruction to FILE. This is the job of the latency benchmark. */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  int fd = argc > 1 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
  if (fd < 0) return 1;
  return dprintf(fd, "%lld\n", t.tv_sec * 1000000000LL + t.tv_nsec) < 0;
}
