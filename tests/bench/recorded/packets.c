#include "packets.h"

/* ---- sums ---- */

static uint32_t crc32_byte(uint32_t crc, uint8_t byte)
{
    int bit;

    crc ^= byte;
    for (bit = 0; bit < 8; bit++) {
        if (crc & 1)
            crc = (crc >> 1) ^ 0xedb88320u;
        else
            crc >>= 1;
    }
    return crc;
}

uint32_t crc32_update(uint32_t crc, const uint8_t *data, size_t len)
{
    crc = ~crc;
    while (len--)
        crc = crc32_byte(crc, *data++);
    return ~crc;
}

uint32_t adler32(const uint8_t *data, size_t len)
{
    uint32_t low = 1, high = 0;
    size_t i;

    for (i = 0; i < len; i++) {
        low = (low + data[i]) % 65521;
        high = (high + low) % 65521;
    }
    return (high << 16) | low;
}

/* The checksum of the internet protocols: ones' complement of sixteen-bit words. */
uint16_t checksum(const uint8_t *data, size_t len)
{
    uint32_t sum = 0;
    const uint8_t *end = data + len;

    while (end - data > 1) {
        sum += (uint32_t)(data[0] << 8 | data[1]);
        data += 2;
    }
    if (data != end)
        sum += (uint32_t)*data << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

/* ---- text forms of bytes ---- */

int hex_digit(int letter)
{
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    if (letter >= 'a' && letter <= 'f')
        return letter - 'a' + 10;
    if (letter >= 'A' && letter <= 'F')
        return letter - 'A' + 10;
    return -1;
}

size_t hex_encode(const uint8_t *data, size_t len, uint8_t *out, size_t room)
{
    static const char digits[] = "0123456789abcdef";
    size_t i;

    if (room / 2 < len)
        return 0;
    for (i = 0; i < len; i++) {
        out[2 * i] = (uint8_t)digits[data[i] >> 4];
        out[2 * i + 1] = (uint8_t)digits[data[i] & 15];
    }
    return 2 * len;
}

long hex_decode(const uint8_t *text, size_t len, uint8_t *out, size_t room)
{
    size_t i;

    if (len % 2 != 0)
        return -1;
    if (len / 2 > room)
        return -2;
    for (i = 0; i < len / 2; i++) {
        int high = hex_digit(text[2 * i]);
        int low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return -3;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return (long)(len / 2);
}

static uint8_t base64_letter(unsigned value)
{
    value &= 63;
    if (value < 26)
        return (uint8_t)('A' + value);
    if (value < 52)
        return (uint8_t)('a' + (value - 26));
    if (value < 62)
        return (uint8_t)('0' + (value - 52));
    return value == 62 ? '+' : '/';
}

size_t base64_encode(const uint8_t *data, size_t len, uint8_t *out, size_t room)
{
    size_t done = 0;

    if ((len + 2) / 3 > room / 4)
        return 0;
    while (len >= 3) {
        unsigned group = (unsigned)data[0] << 16 | (unsigned)data[1] << 8 | data[2];
        out[done++] = base64_letter(group >> 18);
        out[done++] = base64_letter(group >> 12);
        out[done++] = base64_letter(group >> 6);
        out[done++] = base64_letter(group);
        data += 3;
        len -= 3;
    }
    if (len > 0) {
        unsigned group = (unsigned)data[0] << 16;
        if (len == 2)
            group |= (unsigned)data[1] << 8;
        out[done++] = base64_letter(group >> 18);
        out[done++] = base64_letter(group >> 12);
        out[done++] = len == 2 ? base64_letter(group >> 6) : '=';
        out[done++] = '=';
    }
    return done;
}

/* ---- numbers of any length ---- */

size_t varint_put(uint64_t value, uint8_t *out, size_t room)
{
    size_t done = 0;

    do {
        uint8_t byte = value & 127;
        value >>= 7;
        if (value != 0)
            byte |= 128;
        if (done == room)
            return 0;
        out[done++] = byte;
    } while (value != 0);
    return done;
}

size_t varint_get(const uint8_t *data, size_t len, uint64_t *value)
{
    uint64_t found = 0;
    size_t i;

    for (i = 0; i < len && i < 10; i++) {
        found |= (uint64_t)(data[i] & 127) << (7 * i);
        if ((data[i] & 128) == 0) {
            *value = found;
            return i + 1;
        }
    }
    return 0;
}

/* ---- runs of equal bytes: a count, then the byte ---- */

size_t rle_pack(const uint8_t *data, size_t len, uint8_t *out, size_t room)
{
    size_t at = 0, done = 0;

    while (at < len) {
        size_t run = 1;
        while (at + run < len && run < 255 && data[at + run] == data[at])
            run++;
        if (room - done < 2)
            return 0;
        out[done] = (uint8_t)run;
        out[done + 1] = data[at];
        done += 2;
        at += run;
    }
    return done;
}

size_t rle_unpack(const uint8_t *data, size_t len, uint8_t *out, size_t room)
{
    size_t at, done = 0;

    for (at = 0; at + 1 < len; at += 2) {
        uint8_t run = data[at];
        while (run-- > 0) {
            if (done >= room)
                return 0;
            out[done++] = data[at + 1];
        }
    }
    return done;
}

/* ---- text ---- */

/* How many characters there are; -1 - N where byte N cannot be. */
long utf8_count(const uint8_t *text, size_t len)
{
    size_t at = 0;
    long count = 0;

    while (at < len) {
        uint8_t first = text[at];
        size_t more, i;
        if (first < 0x80)
            more = 0;
        else if (first >= 0xc2 && first <= 0xdf)
            more = 1;
        else if (first >= 0xe0 && first <= 0xef)
            more = 2;
        else if (first >= 0xf0 && first <= 0xf4)
            more = 3;
        else
            return -1 - (long)at;
        for (i = 1; i <= more; i++) {
            if (at + i >= len || (text[at + i] & 0xc0) != 0x80)
                return -1 - (long)at;
        }
        at += more + 1;
        count++;
    }
    return count;
}

long find_bytes(const uint8_t *hay, size_t hay_len, const uint8_t *needle, size_t needle_len)
{
    size_t at, i;

    if (needle_len == 0)
        return 0;
    if (needle_len > hay_len)
        return -1;
    for (at = 0; at <= hay_len - needle_len; at++) {
        for (i = 0; i < needle_len; i++)
            if (hay[at + i] != needle[i])
                break;
        if (i == needle_len)
            return (long)at;
    }
    return -1;
}

void reverse_bytes(uint8_t *data, size_t len)
{
    size_t low = 0, high = len;

    while (low < high) {
        uint8_t byte = data[low];
        high--;
        data[low] = data[high];
        data[high] = byte;
        low++;
    }
}

static void sift_down(int32_t *numbers, size_t count, size_t at)
{
    for (;;) {
        size_t child;
        int32_t kept;
        if (at >= count / 2)
            return;
        child = 2 * at + 1;
        if (child + 1 < count && numbers[child + 1] > numbers[child])
            child++;
        if (numbers[at] >= numbers[child])
            return;
        kept = numbers[at];
        numbers[at] = numbers[child];
        numbers[child] = kept;
        at = child;
    }
}

void sort_numbers(int32_t *numbers, size_t count)
{
    size_t i;

    for (i = count / 2; i > 0; i--)
        sift_down(numbers, count, i - 1);
    for (i = count; i > 1; i--) {
        int32_t largest = numbers[0];
        numbers[0] = numbers[i - 1];
        numbers[i - 1] = largest;
        sift_down(numbers, i - 1, 0);
    }
}

/* Nine digits at most, with a sign; 0 when it is a number. */
int parse_number(const char *text, long *value)
{
    long found = 0;
    int sign = 1, digits = 0;

    if (*text == '-' || *text == '+')
        sign = *text++ == '-' ? -1 : 1;
    while (*text >= '0' && *text <= '9') {
        if (++digits > 9)
            return -2;
        found = found * 10 + (*text++ - '0');
    }
    if (digits == 0 || *text != '\0')
        return -1;
    *value = sign * found;
    return 0;
}

/* Below, equal to or above 0, as one version is older than, the same as or newer than the other. */
int compare_versions(const char *one, const char *other)
{
    while (*one != '\0' || *other != '\0') {
        unsigned a = 0, b = 0;
        while (*one >= '0' && *one <= '9')
            a = a * 10u + (unsigned)(*one++ - '0');
        while (*other >= '0' && *other <= '9')
            b = b * 10u + (unsigned)(*other++ - '0');
        if (a != b)
            return a < b ? -1 : 1;
        if (*one != '\0')
            one++;
        if (*other != '\0')
            other++;
    }
    return 0;
}

/* ---- the ring ---- */

void ring_init(struct ring *ring)
{
    ring->head = 0;
    ring->count = 0;
}

int ring_push(struct ring *ring, uint8_t byte)
{
    if (ring->count >= RING_SIZE)
        return -1;
    ring->data[(ring->head + ring->count) % RING_SIZE] = byte;
    ring->count++;
    return 0;
}

int ring_pop(struct ring *ring, uint8_t *byte)
{
    if (ring->count == 0)
        return -1;
    *byte = ring->data[ring->head % RING_SIZE];
    ring->head = (ring->head + 1) % RING_SIZE;
    ring->count--;
    return 0;
}

/* ---- the histogram ---- */

void histogram_add(struct histogram *seen, const uint8_t *data, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        seen->counts[data[i]]++;
        seen->total++;
    }
}

int histogram_mode(const struct histogram *seen)
{
    int byte, best = 0;

    if (seen->total == 0)
        return -1;
    for (byte = 1; byte < 256; byte++)
        if (seen->counts[byte] > seen->counts[best])
            best = byte;
    return best;
}
