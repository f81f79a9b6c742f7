#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

struct node {
    struct node *next;
    char *name;
    int value;
};

void linked(int peer) {
    struct node node;
    recv(peer, &node, sizeof node, 0);
    node.next->value = node.value; // expect: pointer-from-input
}

void printed(FILE *file) {
    struct node node;
    if (fread((char *)&node, sizeof node, 1, file) != 1)
        return;
    puts(node.name);
    putchar(node.name[0]); // expect: pointer-from-input
    putchar(*node.name); // ok
}

void told_through(int fd) {
    struct node node;
    if (read(fd, (void *)&node, sizeof(node)) != sizeof(node))
        return;
    *node.name = 'x'; // expect: pointer-from-input
}

void numbers_only(int peer) {
    struct node node;
    recv(peer, &node, sizeof node, 0);
    printf("%d\n", node.value); // ok
}

void with_a_pointer_of_its_own(int peer, struct node *list) {
    struct node node;
    recv(peer, &node, sizeof node, 0);
    node.next = list;
    node.next->value = node.value; // ok
}

void into_its_buffer(int peer, struct node *node) {
    recv(peer, node->name, 10, 0);
    node->next->value = 1; // ok
}

void before_it_is_filled(int peer, struct node node) {
    node.next->value = 1; // ok
    recv(peer, &node, sizeof node, 0);
}
