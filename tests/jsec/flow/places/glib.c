#include <glib.h>

void fill(void) {
    gchar b[8];
    memset(b, 0, 16);  // expect: buffer-write-stack
    puts(b);
}

void fill_within(void) {
    gchar b[16];
    memset(b, 0, 16);
    puts(b);
}

void steps(void) {
    gint b[8];
    gint i;
    for (i = 0; i <= 8; i++)
        b[i] = i;  // expect: buffer-write-stack
    printf("%d", b[0]);
}

void steps_within(void) {
    gint b[8];
    gint i;
    for (i = 0; i < 8; i++)
        b[i] = i;
    printf("%d", b[0]);
}

void late(void) {
    gchar *p = g_malloc(8);
    g_free(p);
    p[0] = 1;  // expect: use-after-free
}

void in_time(void) {
    gchar *p = g_malloc(8);
    p[0] = 1;
    g_free(p);
}

void twice(void) {
    gchar *p = g_strdup("x");
    g_free(p);
    g_free(p);  // expect: double-free
}

void cleared(void) {
    gchar *p = g_strdup("x");
    g_clear_pointer(&p, g_free);
    g_free(p);
}

void lost(gint k) {
    gchar *p = g_malloc(8);  // expect: leak
    if (k)
        return;
    g_free(p);
}

void kept(gint k) {
    g_autofree gchar *p = g_malloc(8);
    if (k)
        return;
    p[0] = 1;
}

void freed_by_itself(void) {
    g_autofree gchar *p = g_strdup("x");
    g_free(p);
}  // expect: double-free

gchar *stolen(void) {
    g_autofree gchar *p = g_strdup("x");
    return g_steal_pointer(&p);
}

void beyond(void) {
    guint8 b[8];
    guint n = 12;
    b[n] = 1;  // expect: buffer-write-stack
    show(b);
}

void inside(void) {
    guint8 b[8];
    guint n = 7;
    b[n] = 1;
    show(b);
}

void without_value(void) {
    gint x;
    printf("%d", x);  // expect: uninitialized
}

void with_value(void) {
    gint x = 1;
    printf("%d", x);
}

gint parts(gint a) {
    gint z = 0;
    return a / z;  // expect: divide-by-zero
}

gint parts_of_some(gint a) {
    gint z = 2;
    return a / z;
}

struct item {
    gint32 number;
    gchar name[12];
};

void many(void) {
    struct item *items = g_new(struct item, 4);
    items[4].number = 1;  // expect: buffer-write-heap
    g_free(items);
}

void enough(void) {
    struct item *items = g_new0(struct item, 4);
    items[3].number = 1;
    g_free(items);
}

void joined(const gchar *name) {
    gchar *text = g_strdup_printf("%s!", name);  // expect: leak
    if (name[0] == 'x')
        return;
    g_free(text);
}

void guarded(gint *n) {
    gint b[4];
    g_return_if_fail(n != NULL);
    b[0] = *n;
    printf("%d", b[0]);
}

gint *guarded_value(gint n) {
    gint *b;
    g_return_val_if_fail(n >= 0 && n < 4, NULL);
    b = g_new(gint, 4);
    b[n] = 1;
    return b;
}

void bounded(void) {
    gchar b[8];
    g_strlcpy(b, "0123456789", 16);  // expect: buffer-write-stack
    puts(b);
}

void bounded_by_its_size(const gchar *from) {
    gchar b[8];
    g_strlcpy(b, from, sizeof b);
    puts(b);
}

void counted(void) {
    gint b[6];
    gint i;
    for (i = 0; i < G_N_ELEMENTS(b); i++)
        b[i] = 0;
    printf("%d", b[5]);
}

void length(GString *text) {
    gsize n = text->len;
    gchar b[4];
    if (n < sizeof b)
        b[n] = 0;
    show(b);
}

#define ADVANCE(n)       \
    G_STMT_START {       \
        if (n > left)    \
            goto end;    \
        size = n;        \
    } G_STMT_END

void stepped(guint left) {
    guint size;
    ADVANCE(4);
    printf("%u", size);
end:
    return;
}

gint indexed(GArray *all) {
    gint *last = &g_array_index(all, gint, 3);
    return last[1];
}
