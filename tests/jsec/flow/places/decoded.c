/* Numbers that are decoded from bytes of which nothing is known: most likely they came in. */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct { int left; } ByteReader;
int byte_reader_get_uint16_le(ByteReader *r, uint16_t *value);
int bit_reader_get_bits_uint8(ByteReader *r, uint8_t *value, unsigned bits);
struct set { uint32_t count; int table[20]; int last; };

int copied(const uint8_t *data, size_t size) {
    if (size < 4) return 0;
    uint16_t n = data[0] | (data[1] << 8);
    uint8_t out[64];
    memcpy(out, data + 2, n); // expect: buffer-write-stack
    return out[0];
}
int copied_tested(const uint8_t *data, size_t size) {
    if (size < 4) return 0;
    uint16_t n = data[0] | (data[1] << 8);
    uint8_t out[64];
    if (n > sizeof out || n > size - 2) return 0;
    memcpy(out, data + 2, n);
    return out[0];
}
int wrapped_sum(const uint8_t *d, size_t size) {
    uint32_t n = d[7] | (d[8] << 8) | (d[9] << 16) | ((uint32_t) d[10] << 24);
    if (size <= 17 + n) return 0; // expect: integer-overflow
    return d[11 + n];
}
int wide_sum(const uint8_t *d, size_t size) {
    uint32_t n = d[7] | (d[8] << 8) | (d[9] << 16) | ((uint32_t) d[10] << 24);
    if (size <= 17 + (size_t) n) return 0;
    return d[11 + (size_t) n];
}
char *without_head(const uint8_t *d, size_t size) {
    uint32_t n = d[3] | (d[2] << 8) | (d[1] << 16) | ((uint32_t) d[0] << 24);
    if (n > size || n == 8) return NULL;
    return malloc(n - 8); // expect: integer-underflow
}
char *with_head(const uint8_t *d, size_t size) {
    uint32_t n = d[3] | (d[2] << 8) | (d[1] << 16) | ((uint32_t) d[0] << 24);
    if (n > size || n <= 8) return NULL;
    return malloc(n - 8);
}
int up_to_difference(const uint8_t *d, size_t length) {
    uint32_t i;
    if (length < 4) return 0;
    for (i = 0; i <= length - 5; i++) // expect: integer-underflow
        if (d[i] == 0xE8) return d[i + 4];
    return 1;
}
int up_to_difference_tested(const uint8_t *d, size_t length) {
    uint32_t i;
    if (length < 5) return 0;
    for (i = 0; i <= length - 5; i++)
        if (d[i] == 0xE8) return d[i + 4];
    return 1;
}
int from_network(const uint32_t *message) {
    static int table[16];
    return table[ntohl(*message)]; // expect: buffer-read-over
}
int from_network_tested(const uint32_t *message) {
    static int table[16];
    uint32_t n = ntohl(*message);
    return n < 16 ? table[n] : 0;
}
int by_reader(ByteReader *r, const char *from) {
    uint16_t n; char t[64];
    if (!byte_reader_get_uint16_le(r, &n)) return 0;
    memcpy(t, from, n); // expect: buffer-write-stack
    return t[0];
}
int by_reader_tested(ByteReader *r, const char *from) {
    uint16_t n; char t[64];
    if (!byte_reader_get_uint16_le(r, &n) || n > sizeof t) return 0;
    memcpy(t, from, n);
    return t[0];
}
int by_name(const uint8_t *d, size_t size) {
    int n = READ_UINT16_LE(d);
    if (n + 2 + sizeof(struct set) > size) return 0;
    return n;
}
void of_three_bits(ByteReader *r) {
    int seven[7], eight[8]; uint8_t n;
    bit_reader_get_bits_uint8(r, &n, 3);
    eight[n] = 1;
    seven[n] = 1; // expect: buffer-write-stack
}
void into_member(struct set *s, ByteReader *r) {
    uint16_t n;
    if (!byte_reader_get_uint16_le(r, &n)) return;
    s->count = n;
    for (uint32_t i = 0; i < s->count; i++)
        s->table[i] = 1; // expect: buffer-write-heap
}
void into_member_tested(struct set *s, ByteReader *r) {
    uint16_t n;
    if (!byte_reader_get_uint16_le(r, &n)) return;
    s->count = n;
    if (s->count > 20) return;
    for (uint32_t i = 0; i < s->count; i++)
        s->table[i] = 1;
}
struct list { uint16_t count; struct { uint8_t row; uint16_t size; } entry[8]; };
void elements(struct list *l, ByteReader *r) {
    if (!byte_reader_get_uint16_le(r, &l->count)) return;
    for (int i = 0; i <= l->count; i++)
        l->entry[i].row = 1; // expect: buffer-write-heap
}
void elements_tested(struct list *l, ByteReader *r) {
    if (!byte_reader_get_uint16_le(r, &l->count) || l->count >= 8) return;
    for (int i = 0; i <= l->count; i++)
        l->entry[i].row = 1;
}
void into_elements(struct list *l, ByteReader *r) {
    if (!byte_reader_get_uint16_le(r, &l->count)) return;
    for (int i = 0; i < l->count; i++)
        byte_reader_get_uint16_le(r, &l->entry[i].size); // expect: buffer-write-heap
}
void put(struct set *s, int at) {
    if (at > 19) return;
    s->table[at] = 1; // expect: buffer-underwrite
}
void put_by_text(struct set *s, const char *text) { put(s, atoi(text)); }
void put_tested(struct set *s, unsigned at) {
    if (at > 19) return;
    s->table[at] = 1;
}
void put_tested_by_text(struct set *s, const char *text) { put_tested(s, atoi(text)); }
unsigned hash(const uint8_t *d) {
    static unsigned table[64];
    unsigned h = (d[0] << 16) | (d[1] << 8) | d[2];
    return table[(h * 2654435761u) >> 26] + table[h & 63] + table[h % 64];
}
struct head { uint16_t type; uint16_t length; uint8_t kind; uint8_t rest[3]; };
struct plain { uint16_t type; uint16_t length; };
struct node { struct node *next; uint16_t length; };
struct bits { uint8_t low : 4, high : 4; uint8_t rest[3]; };
int bytes_as_record(const uint8_t *data, size_t size) {
    char out[32];
    const struct head *head = (const struct head *) data;
    if (size < sizeof *head) return 0;
    memcpy(out, data + sizeof *head, head->length); // expect: buffer-write-stack
    return out[0];
}
int member_as_index(const uint8_t *data) {
    static int table[16];
    const struct head *head = (const struct head *) (data + 4);
    return table[head->kind]; // expect: buffer-read-over
}
int member_as_index_tested(const uint8_t *data) {
    static int table[16];
    const struct plain *head = (const struct plain *) (data + 4);
    return head->length < 16 ? table[head->length] : 0;
}
int with_pointer(const char *data) {
    static int table[16];
    const struct node *node = (const struct node *) data;
    return table[node->length];
}
int with_bits(const uint8_t *data) {
    static int table[16];
    const struct bits *head = (const struct bits *) data;
    return table[head->low];
}
int LLVMFuzzerTestOneInput(struct set whole) { return whole.table[whole.count & 15]; }
