#include <cstdlib>
#include <cstring>
#include <cstdio>

struct node { char *name; struct node *next; };
void show(const char *text);
void log_line(const char *text);
void take(char *text);

void read_after() {
    char *text = (char *)malloc(16);
    if (text == NULL)
        return;
    free(text);
    text[0] = 'a'; // expect: use-after-free
}

void read_behind_an_empty_statement() {
    char *text = (char *)malloc(16);
    if (text == NULL)
        return;
    free(text);
    ;
    text[0] = 'a'; // expect: use-after-free
}

void passed_after() {
    char *text = strdup("x");
    if (!text)
        return;
    free(text);
    show(text); // expect: use-after-free
}

char *returned() {
    char *text = strdup("x");
    free(text);
    return text; // expect: use-after-free
}

void second_round(char *text, int n) {
    for (int i = 0; i < n; i++) {
        text[i] = 0; // expect: use-after-free
        free(text);
    }
}

void freed_in_branch(char *text, int bad) {
    if (bad) {
        free(text);
    }
    log_line(text); // expect: use-after-free
}

void member(struct node *n) {
    free(n->name);
    puts(n->name); // expect: use-after-free
}

void object(node *n) {
    delete n;
    n->next = nullptr; // expect: use-after-free
}

void list(struct node *n) {
    while (n) {
        free(n->name);
        free(n);
        n = n->next; // expect: use-after-free
    }
}

void list_in_header(struct node *head) {
    for (struct node *n = head; n != nullptr; n = n->next) // expect: use-after-free
        free(n);
}

void list_well(struct node *n) {
    while (n) {
        struct node *next = n->next;
        free(n->name); // ok
        free(n);
        n = next;
    }
}

void set_again(char *text) {
    free(text);
    text = strdup("y");
    if (text)
        text[0] = 'a'; // ok
}

void left(char *text, int bad) {
    if (bad) {
        free(text);
        return;
    }
    show(text); // ok
}

void same_question(char *text, int bad) {
    if (bad)
        free(text);
    log_line("between");
    if (!bad)
        show(text); // ok
}

void by_goto(char *text, int bad) {
    if (bad)
        goto out;
    show(text); // ok
out:
    free(text);
}

void compared(char *text, char *end) {
    free(text);
    if (text == end) // ok
        puts("same");
}

void size_only(struct node *n) {
    free(n);
    printf("%zu\n", sizeof(*n)); // ok
}

void lambda(char *text) {
    auto later = [text] { free(text); };
    show(text); // ok
    later();
}

void through_function(char *text) {
    take(text);
    show(text); // missed: use-after-free (take frees it, in another function)
}

#define FAILED goto failed

int left_by_macro(int n, char *text) {
    if (n) {
        free(text);
        FAILED;
    }
    show(text); // ok
    return 0;
failed:
    return 1;
}

int left_by_unknown_macro(int n, char *text) {
    if (n) {
        free(text);
        PARSER_ERROR;
    }
    show(text); // ok
    return 0;
}
