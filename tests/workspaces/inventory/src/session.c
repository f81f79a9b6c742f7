#include "inventory.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char admin_password[] = "warehouse-7";

static void make_token(char *token, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    size_t i;

    srand((unsigned)time(NULL));
    for (i = 0; i + 1 < length; i++)
        token[i] = digits[rand() % 16];
    token[i] = '\0';
}

int session_open(const char *user, const char *password, char *token, size_t length)
{
    char name[NAME_LENGTH];

    strncpy(name, user, sizeof(name));
    if (strcmp(name, "admin") == 0 && strcmp(password, admin_password) != 0)
        return -1;
    if (length < 17)
        return -1;
    make_token(token, 17);
    session_log(name, "signed in");
    return 0;
}

void session_log(const char *user, const char *message)
{
    const char *path = getenv("INVENTORY_LOG");
    char line[NOTE_LENGTH];
    FILE *file = fopen(path, "a");

    if (file == NULL)
        return;
    snprintf(line, sizeof line, "%ld %s %s\n", (long)time(NULL), user, message);
    fputs(line, file);
    fclose(file);
}
