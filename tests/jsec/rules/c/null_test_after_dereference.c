#include <stddef.h>

struct message { int length; char *text; struct message *next; };
void send_text(const char *text);
struct message *next_message(void);

int too_late(struct message *m) {
    int length = m->length; // expect: null-test-after-dereference
    if (m == NULL)
        return -1;
    return length;
}

void in_call(struct message *m) {
    send_text(m->text); // expect: null-test-after-dereference
    if (m)
        m->length = 0;
}

void tested_in_time_and_again(struct message *m) {
    if (m == NULL)
        return;
    m->length = 1;
    if (m != NULL) // expect: null-test-after-dereference
        m->length = 0;
}

int in_time(struct message *m) {
    if (m == NULL)
        return -1;
    return m->length; // ok
}

void new_value(struct message *m) {
    send_text(m->text); // ok
    m = next_message();
    if (m)
        m->length = 0;
}

void loop(struct message *m) {
    do {
        send_text(m->text); // ok
        m = m->next;
    } while (m);
}

int last(struct message *m) {
    while (m->next) // ok
        m = m->next;
    while (m && m->length)
        m = m->next;
    return 0;
}

int address_only(struct message *m) {
    struct message **next = &m->next; // ok
    if (m == NULL)
        return 0;
    return *next != NULL;
}

void late_for_an_allocation(void) {
    int *value = malloc(sizeof(*value));
    *value = 5; // expect: null-test-after-dereference, unchecked-allocation
    if (value != NULL)
        *value = 10; // ok
    free(value);
}

void in_time_for_an_allocation(void) {
    int *value = malloc(sizeof(*value));
    if (value == NULL)
        return;
    *value = 5; // ok
    if (value != NULL) // expect: null-test-after-dereference
        *value = 10;
    free(value);
}

void set_again(int more) {
    int *value = malloc(sizeof(*value));
    *value = 5; // expect: unchecked-allocation
    free(value);
    value = more ? malloc(sizeof(*value)) : NULL;
    if (value != NULL)
        *value = 10; // ok
    free(value);
}

void handled(struct connection *c, struct event *e) {
    c->peer->buffer = e->buffer; // expect: null-test-after-dereference
    e->handler(e);
    if (c->peer)
        c->peer->buffer = NULL;
}

void not_handled(struct connection *c, struct event *e) {
    c->peer->buffer = e->buffer; // expect: null-test-after-dereference
    handle(e);
    if (c->peer)
        c->peer->buffer = NULL;
}

void used_twice_before(int *value) {
    *value = 5; // expect: null-test-after-dereference
    value[1] = 6; // ok
    if (value != NULL)
        *value = 10;
}
