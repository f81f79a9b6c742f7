/* A table that a header of the system defines. */
#define SYSLOG_NAMES
#include <stdio.h>
#include <string.h>
#include <syslog.h>
static int level(const char *name) {
    for (CODE *one = prioritynames; one->c_name; one++) if (!strcmp(one->c_name, name)) return one->c_val;
    return -1;
}
int main(void) { printf("%d %d %d\n", level("err"), level("debug"), level("nothing")); return facilitynames[0].c_val != LOG_AUTH; }
