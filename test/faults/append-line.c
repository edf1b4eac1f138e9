/* Sleeps for the milliseconds in its first argument, appends a line to the file named by its second, and exits with 0. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count != 3) return 2;
  usleep(atoi(arguments[1]) * 1000);
  int file = open(arguments[2], O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file < 0 || write(file, "x\n", 2) != 2) return 1;
  _exit(0);
}
