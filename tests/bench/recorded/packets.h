#ifndef PACKETS_H
#define PACKETS_H

#include <stddef.h>
#include <stdint.h>

#define RING_SIZE 32

/* Bytes that wait, the oldest first. */
struct ring {
    uint8_t data[RING_SIZE];
    uint32_t head;
    uint32_t count;
};

/* How often each byte was seen. */
struct histogram {
    uint32_t counts[256];
    uint32_t total;
};

uint32_t crc32_update(uint32_t crc, const uint8_t *data, size_t len);
uint32_t adler32(const uint8_t *data, size_t len);
uint16_t checksum(const uint8_t *data, size_t len);
int hex_digit(int letter);
size_t hex_encode(const uint8_t *data, size_t len, uint8_t *out, size_t room);
long hex_decode(const uint8_t *text, size_t len, uint8_t *out, size_t room);
size_t base64_encode(const uint8_t *data, size_t len, uint8_t *out, size_t room);
size_t varint_put(uint64_t value, uint8_t *out, size_t room);
size_t varint_get(const uint8_t *data, size_t len, uint64_t *value);
size_t rle_pack(const uint8_t *data, size_t len, uint8_t *out, size_t room);
size_t rle_unpack(const uint8_t *data, size_t len, uint8_t *out, size_t room);
long utf8_count(const uint8_t *text, size_t len);
long find_bytes(const uint8_t *hay, size_t hay_len, const uint8_t *needle, size_t needle_len);
void reverse_bytes(uint8_t *data, size_t len);
void sort_numbers(int32_t *numbers, size_t count);
int parse_number(const char *text, long *value);
int compare_versions(const char *one, const char *other);
void ring_init(struct ring *ring);
int ring_push(struct ring *ring, uint8_t byte);
int ring_pop(struct ring *ring, uint8_t *byte);
void histogram_add(struct histogram *seen, const uint8_t *data, size_t len);
int histogram_mode(const struct histogram *seen);

#endif
