#include "inventory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct packed {
    char name[NAME_LENGTH];
    uint32_t quantity;
    uint32_t price;
};

/* A supplier's list: one "name quantity price" a line. */
int import_list(struct store *store, const char *path)
{
    char name[NAME_LENGTH];
    int quantity;
    long price;
    int count = 0;
    FILE *file = fopen(path, "r");

    if (file == NULL) {
        perror(path);
        return -1;
    }
    while (fscanf(file, "%s %d %ld", name, &quantity, &price) == 3) {
        if (store_add(store, name, quantity, price, "imported") != 0)
            break;
        count++;
    }
    fclose(file);
    return count;
}

/* The same as records, behind their number. */
int import_packed(struct store *store, FILE *input)
{
    uint32_t count;
    uint32_t i;
    struct packed *records;
    int status = 0;

    fread(&count, sizeof count, 1, input);
    records = malloc(count * sizeof(struct packed));
    if (records == NULL)
        return -1;
    if (fread(records, sizeof *records, count, input) != count) {
        free(records);
        status = -1;
        goto done;
    }
    for (i = 0; i < count; i++) {
        char name[NAME_LENGTH + 1];

        memcpy(name, records[i].name, NAME_LENGTH);
        name[NAME_LENGTH] = '\0';
        if (strlen(name) >= NAME_LENGTH)
            continue;
        store_add(store, name, (int)records[i].quantity, (long)records[i].price, "packed");
    }
done:
    free(records);
    return status;
}
