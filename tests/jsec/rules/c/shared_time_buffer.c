#include <pthread.h>
#include <string.h>
#include <time.h>

int year(void) {
    time_t now = time(NULL);
    struct tm *parts = localtime(&now); // expect: shared-time-buffer
    return parts->tm_year;
}

int year_safe(void) {
    time_t now = time(NULL);
    struct tm buffer;
    struct tm *parts = localtime_r(&now, &buffer); // ok
    return parts->tm_year;
}

const char *written(const time_t *when) {
    return ctime(when); // expect: shared-time-buffer
}

const char *problem(int code) {
    return strerror(code); // expect: shared-time-buffer
}
