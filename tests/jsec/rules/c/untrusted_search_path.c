#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void input(void) {
    char buffer[250] = "PATH=";
    char *data = buffer;
    size_t used = strlen(data);
    if (fgets(data + used, (int)(250 - used), stdin) == NULL) return;
    putenv(data); // expect: untrusted-search-path
}

void fixed(void) {
    char buffer[250] = "PATH=";
    char *data = buffer;
    strcat(data, "/bin");
    putenv(data); // ok
    setenv("PATH", "/usr/bin:/bin", 1); // ok
    putenv("LANG=en"); // ok
}

void relative(void) {
    setenv("PATH", ".:/usr/bin", 1); // expect: untrusted-search-path
    putenv("LD_LIBRARY_PATH=lib"); // expect: untrusted-search-path
    setenv("PATH", getenv("TOOLS"), 1); // expect: untrusted-search-path
    setenv("NAME", getenv("USER"), 1); // ok
}

void *libraries(const char *name) {
    void *a = dlopen("libm.so.6", RTLD_LAZY); // ok
    void *b = dlopen("./plugin.so", RTLD_LAZY); // expect: untrusted-search-path
    void *c = dlopen(getenv("PLUGIN"), RTLD_LAZY); // expect: untrusted-search-path
    void *d = dlopen(NULL, RTLD_LAZY); // ok
    LoadLibraryA("kernel32.dll"); // ok
    void *e = dlopen(name, RTLD_LAZY); // expect: untrusted-search-path
    return a ? b : c ? d : e;
}
