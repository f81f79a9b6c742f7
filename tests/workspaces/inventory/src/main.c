#include "inventory.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int usage(const char *program)
{
    fprintf(stderr,
            "usage: %s STOCK list\n"
            "       %s STOCK add NAME QUANTITY\n"
            "       %s STOCK remove NAME\n"
            "       %s STOCK import FILE\n"
            "       %s STOCK report [ADDRESS]\n",
            program, program, program, program, program);
    return 2;
}

static int parse_quantity(const char *text, int *quantity)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < 0 || value > INT_MAX)
        return -1;
    *quantity = (int)value;
    return 0;
}

static int add(struct store *store, int count, char **arguments)
{
    int quantity;

    if (count < 2 || parse_quantity(arguments[1], &quantity) != 0)
        return -1;
    return store_add(store, arguments[0], quantity, 0, "");
}

static int sign_in(void)
{
    char password[64];
    char token[32];
    char *line_end;
    const char *user = getenv("USER");

    printf("password: ");
    fflush(stdout);
    if (fgets(password, sizeof password, stdin) == NULL)
        return -1;
    line_end = strchr(password, '\n');
    if (line_end != NULL)
        *line_end = '\0';
    return session_open(user ? user : "guest", password, token, sizeof token);
}

static int command(struct store *store, int count, char **arguments)
{
    if (strcmp(arguments[0], "list") == 0)
        return report_print(store, stdout);
    if (strcmp(arguments[0], "add") == 0)
        return add(store, count - 1, arguments + 1);
    if (strcmp(arguments[0], "remove") == 0 && count == 2)
        return store_remove(store, arguments[1]);
    if (strcmp(arguments[0], "import") == 0 && count == 2)
        return import_list(store, arguments[1]) < 0 ? -1 : 0;
    if (strcmp(arguments[0], "report") == 0)
        return count == 2 ? report_mail(store, arguments[1]) : report_archive(store, ".");
    if (strcmp(arguments[0], "desks") == 0)
        return desk_start(store) == 0 && desk_wait(store) >= 0 ? 0 : -1;
    return -1;
}

int main(int argc, char **argv)
{
    char path[PATH_LENGTH];
    struct store *store;
    int status;

    if (argc < 3)
        return usage(argv[0]);
    strcpy(path, argv[1]);
    if (sign_in() != 0)
        return 1;
    store = store_open(path);
    if (store == NULL)
        return 1;
    status = command(store, argc - 2, argv + 2);
    if (status == 0 && store->changed)
        status = store_save(store, path);
    store_close(store);
    return status == 0 ? 0 : 1;
}
