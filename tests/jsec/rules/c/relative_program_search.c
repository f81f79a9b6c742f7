#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND "ls -la"

void relative(void) {
    char buffer[100] = "";
    char *data = buffer;
    FILE *pipe;
    strcpy(data, COMMAND);
    pipe = popen(data, "r"); // expect: relative-program-search
    if (pipe) pclose(pipe);
    if (system("make all") != 0) // expect: relative-program-search
        puts("failed");
    execlp("ls", "ls", "-l", (char *)NULL); // expect: relative-program-search
}

void absolute(void) {
    char buffer[100] = "";
    char *data = buffer;
    FILE *pipe;
    strcpy(data, "/usr/bin/ls -la");
    pipe = popen(data, "r"); // ok
    if (pipe) pclose(pipe);
    if (system("/usr/bin/make all") != 0) // ok
        puts("failed");
    if (system("exit 3") != 0) // ok
        puts("failed");
    execl("ls", "ls", (char *)NULL); // ok
    if (system("C:\\Windows\\System32\\cmd.exe /c dir") != 0) // ok
        puts("failed");
}

void processes(STARTUPINFOA *start, PROCESS_INFORMATION *made) {
    CreateProcessA(NULL, "notepad.exe a.txt", NULL, NULL, 1, 0, NULL, NULL, start, made); // expect: relative-program-search
    CreateProcessA("C:\\Windows\\notepad.exe", "notepad.exe a.txt", NULL, NULL, 1, 0, NULL, NULL, start, made); // ok
    CreateProcessA("notepad.exe", "notepad.exe a.txt", NULL, NULL, 1, 0, NULL, NULL, start, made); // expect: relative-program-search
    char line[] = "notepad.exe a.txt";
    CreateProcessA(NULL, line, NULL, NULL, 1, 0, NULL, NULL, start, made); // expect: relative-program-search
    char whole[] = "C:\\Windows\\notepad.exe a.txt";
    CreateProcessA(NULL, whole, NULL, NULL, 1, 0, NULL, NULL, start, made); // ok
    char filled[64] = "notepad.exe a.txt";
    chosen_by_others(filled);
    CreateProcessA(NULL, filled, NULL, NULL, 1, 0, NULL, NULL, start, made); // ok
}
