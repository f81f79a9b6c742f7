
#include <sys/socket.h>
#include <unistd.h>
void kept(void) {
    int line = socket(2, 1, 0); // expect: resource-leak
    if (line == -1) return;
    if (send(line, "a", 1, 0) != 1) return;
    close(line);
}

void closed(void) {
    int line = socket(2, 1, 0);
    if (line == -1) return;
    if (send(line, "a", 1, 0) != 1) { close(line); return; }
    close(line);
}
