#include <arpa/inet.h>
#include <netdb.h>
#include <string.h>

unsigned old(const char *name) {
    struct hostent *host = gethostbyname(name); // expect: legacy-inet-function
    return host ? 0 : inet_addr(name); // expect: legacy-inet-function
}

int modern(const char *name, struct in_addr *out) {
    struct addrinfo *found;
    if (getaddrinfo(name, 0, 0, &found) != 0) // ok
        return -1;
    freeaddrinfo(found);
    return inet_pton(AF_INET, name, out); // ok
}
