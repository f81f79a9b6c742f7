"""A flaw that only two files together show."""

from __future__ import annotations

PAST = "write-past-buffer"


SINK = """\
#include <string.h>
#include "sink.h"
void put(const char *data) {
    char room[10];
    strcpy(room, data);
}
"""


HEADER = "void put(const char *data);\n"


LONG = """\
#include <string.h>
#include "sink.h"
void start(void) {
    char text[100];
    memset(text, 'A', 99);
    text[99] = 0;
    put(text);
}
"""


SHORT = '#include "sink.h"\nvoid start(void) {\n    put("short");\n}\n'
