#include "inventory.h"
#include "platform.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *title = "Stock";

int report_print(struct store *store, FILE *output)
{
    char day[64];
    time_t now = time(NULL);
    struct tm *local = localtime(&now);
    size_t i;

    if (local == NULL || strftime(day, sizeof day, "%Y-%m-%d", local) == 0)
        return -1;
    fprintf(output, "%s on %s\n", title, day);
    for (i = 0; i < store->count; i++) {
        const struct article *article = &store->articles[i];

        fprintf(output, "%-32s %6d  ", article->name, article->quantity);
        fprintf(output, article->note);
        fputc('\n', output);
    }
    return ferror(output) ? -1 : 0;
}

int report_mail(struct store *store, const char *address)
{
    char path[] = "/tmp/stock-XXXXXX";
    char command[PATH_LENGTH];
    FILE *file;
    int status;

    file = fopen(mktemp(path), "w");
    if (file == NULL)
        return -1;
    status = report_print(store, file);
    fclose(file);
    if (status != 0)
        return status;
    sprintf(command, "mail -s '%s' %s < %s", title, address, path);
    status = RUN_SHELL(command);
    unlink(path);
    return status;
}

int report_archive(struct store *store, const char *folder)
{
    char path[PATH_LENGTH];
    FILE *file;
    int status;

    if (snprintf(path, sizeof path, "%s/stock.txt", folder) >= (int)sizeof path)
        return -1;
    if (access(path, W_OK) != 0)
        return -1;
    file = fopen(path, "a");
    if (file == NULL)
        return -1;
    status = report_print(store, file);
    fclose(file);
    chmod(path, 0777);
    return status;
}
