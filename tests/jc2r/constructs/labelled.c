/* Names that the linker knows by others: what programs of POSIX get where GNU ones get another. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern int twice(int) __asm__("doubled");
extern int doubled(int n);
int length_of(const char *) __asm__("strlen");
int counted(void) __asm__("number_of_calls");

static int calls;

int counted(void) {
  return ++calls;
}

int doubled(int n) {
  return 2 * n;
}

static void options(void) {
  char *words[] = {"tool", "-a", "text", "-b", NULL};
  int option;
  while ((option = getopt(4, words, "ab")) != -1)
    printf("option %c\n", option);
  printf("the rest begins with %s\n", words[optind]);
}

int main(void) {
  char said[64] = "nothing";
  int status = strerror_r(ENOENT, said, sizeof said);
  double number = 0;
  int found = sscanf("0x1.8p1 rest", "%a", (float *)&number);
  printf("%d %s\n", status, said);
  printf("%d %.1f\n", found, *(float *)&number);
  printf("%d %d %d %d\n", twice(21), length_of("four"), counted(), counted());
  options();
  return 0;
}
