#ifndef INVENTORY_H
#define INVENTORY_H

#include <pthread.h>
#include <stdio.h>

#define NAME_LENGTH 32
#define NOTE_LENGTH 128
#define PATH_LENGTH 256

struct article {
    char name[NAME_LENGTH];
    int quantity;
    long price;
    char *note;
};

struct store {
    struct article *articles;
    size_t count;
    size_t capacity;
    int changed;
    pthread_mutex_t lock;
    pthread_cond_t news;
};

/* store.c */
struct store *store_open(const char *path);
int store_save(struct store *store, const char *path);
struct article *store_find(struct store *store, const char *name);
int store_add(struct store *store, const char *name, int quantity, long price, const char *note);
int store_remove(struct store *store, const char *name);
void store_close(struct store *store);

/* import.c */
int import_list(struct store *store, const char *path);
int import_packed(struct store *store, FILE *input);

/* report.c */
int report_print(struct store *store, FILE *output);
int report_mail(struct store *store, const char *address);
int report_archive(struct store *store, const char *folder);

/* desk.c */
int desk_start(struct store *store);
int desk_wait(struct store *store);

/* session.c */
int session_open(const char *user, const char *password, char *token, size_t length);
void session_log(const char *user, const char *message);

#endif
