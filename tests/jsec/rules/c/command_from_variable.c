#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RUN system
#define SHELL "/bin/sh"
#define ARGUMENT data

void input(void) {
    char buffer[100] = "ls ";
    char *data = buffer;
    size_t used = strlen(data);
    if (fgets(data + used, (int)(100 - used), stdin) == NULL) return;
    if (system(data) != 0) { // expect: command-from-variable
        puts("failed");
    }
}

void fixed(void) {
    char buffer[100] = "ls ";
    char *data = buffer;
    strcat(data, "*.*");
    if (system(data) != 0) { // ok
        puts("failed");
    }
    RUN("/bin/date"); // ok
}

void unknown(const char *command, const char *name) {
    char line[200];
    FILE *pipe;
    RUN(command); // expect: command-from-variable
    snprintf(line, sizeof(line), "ls %s", name);
    pipe = popen(line, "r"); // expect: command-from-variable
    if (pipe) pclose(pipe);
    pipe = popen("/bin/ls", "r"); // ok
    if (pipe) pclose(pipe);
}

void shell_argument(int fd) {
    char buffer[100] = "";
    char *data = buffer;
    if (recv(fd, data, 99, 0) < 0) return;
    execl(SHELL, SHELL, "-c", ARGUMENT, NULL); // expect: command-from-variable
}

void shell_list(int fd) {
    char buffer[100] = "";
    char *data = buffer;
    char *list[] = {SHELL, "-c", data, NULL};
    if (recv(fd, data, 99, 0) < 0) return;
    execv(SHELL, list); // expect: command-from-variable
}

void program(char *path, char *name) {
    execl("/bin/ls", "ls", name, (char *)NULL); // ok
    execl(path, path, (char *)NULL); // expect: command-from-variable
}

void registry(HKEY key) {
    char data[100] = "";
    DWORD size = 99;
    if (RegQueryValueExA(key, "Command", NULL, NULL, (LPBYTE)data, &size) != 0) return;
    WinExec(data, SW_SHOW); // expect: command-from-variable
    WinExec("notepad.exe", SW_SHOW); // ok
}
