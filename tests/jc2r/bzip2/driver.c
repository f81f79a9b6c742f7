/* Drives libbz2 through its whole interface, as a program: data on standard input and output, every
   code that is returned on standard error. The seeds' cases of the library, by their numbers. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bzlib.h"

#define MOST (8u << 20)

static char *input;
static unsigned length;
static int countdown = -1;

static void *allocate(void *opaque, int count, int size)
{
    if (countdown == 0)
        return NULL;
    if (countdown > 0)
        countdown--;
    ++*(int *)opaque;
    return malloc((size_t)count * size);
}

static void release(void *opaque, void *memory)
{
    if (memory != NULL)
        --*(int *)opaque;
    free(memory);
}

static void told(const char *what, int code, const bz_stream *stream)
{
    fprintf(stderr, "%s %d in %u+%u out %u+%u left %u %u\n", what, code, stream->total_in_hi32,
            stream->total_in_lo32, stream->total_out_hi32, stream->total_out_lo32,
            stream->avail_in, stream->avail_out);
}

/* 1.1: RUN, FLUSH after every `flush` pieces, FINISH; input and output in pieces. */
static int compress_stream(int level, int work, unsigned piece, unsigned room, unsigned flush)
{
    bz_stream stream;
    char *out = malloc(room);
    int held = 0, code, action = BZ_RUN;
    unsigned given = 0, pieces = 0;
    memset(&stream, 0, sizeof stream);
    stream.bzalloc = allocate;
    stream.bzfree = release;
    stream.opaque = &held;
    code = BZ2_bzCompressInit(&stream, level, 0, work);
    told("init", code, &stream);
    while (code >= 0 && code != BZ_STREAM_END) {
        if (stream.avail_in == 0 && action == BZ_RUN) {
            unsigned part = length - given < piece ? length - given : piece;
            stream.next_in = input + given;
            stream.avail_in = part;
            given += part;
            pieces++;
            if (part == 0)
                action = BZ_FINISH;
            else if (flush != 0 && pieces % flush == 0)
                action = BZ_FLUSH;
        }
        stream.next_out = out;
        stream.avail_out = room;
        code = BZ2_bzCompress(&stream, action);
        fwrite(out, 1, room - stream.avail_out, stdout);
        if (code < 0 || code == BZ_STREAM_END || pieces < 40)
            told("step", code, &stream);
        if (action == BZ_FLUSH && code == BZ_RUN_OK)
            action = BZ_RUN;
    }
    told("sequence", BZ2_bzCompress(&stream, BZ_RUN), &stream);
    code = BZ2_bzCompressEnd(&stream);
    fprintf(stderr, "end %d held %d again %d\n", code, held, BZ2_bzCompressEnd(&stream));
    free(out);
    return 0;
}

/* 1.2 and 8.2: decode in pieces; several streams one behind the other. */
static int decompress_stream(int small, unsigned piece, unsigned room)
{
    bz_stream stream;
    char *out = malloc(room);
    int held = 0, code, streams = 0;
    unsigned given = 0, stalled = 0;
    memset(&stream, 0, sizeof stream);
    do {
        stream.bzalloc = allocate;
        stream.bzfree = release;
        stream.opaque = &held;
        code = BZ2_bzDecompressInit(&stream, 0, small);
        told("init", code, &stream);
        while (code == BZ_OK && stalled < 2) {
            if (stream.avail_in == 0) {
                unsigned part = length - given < piece ? length - given : piece;
                stream.next_in = input + given;
                stream.avail_in = part;
                given += part;
                stalled = part == 0 ? stalled + 1 : 0;
            }
            stream.next_out = out;
            stream.avail_out = room;
            code = BZ2_bzDecompress(&stream);
            fwrite(out, 1, room - stream.avail_out, stdout);
            if (room != stream.avail_out)
                stalled = 0;
        }
        told("done", code, &stream);
        told("after", BZ2_bzDecompress(&stream), &stream);
        code = code == BZ_STREAM_END ? BZ2_bzDecompressEnd(&stream)
                                     : (BZ2_bzDecompressEnd(&stream), code);
        fprintf(stderr, "end %d held %d\n", code, held);
        given -= stream.avail_in;
        stream.avail_in = 0;
    } while (code == BZ_OK && ++streams < 5 && given < length && stalled < 2);
    free(out);
    return 0;
}

/* 3.1: whole buffers, also ones that are too short by a little. */
static int buffers(int level)
{
    unsigned room = length + length / 100 + 600, size = room, back, less;
    char *packed = malloc(room), *plain = malloc(room);
    int code = BZ2_bzBuffToBuffCompress(packed, &size, input, length, level, 0, 30);
    fprintf(stderr, "compress %d %u\n", code, size);
    if (code != BZ_OK)
        return 0;
    fwrite(packed, 1, size, stdout);
    for (int small = 0; small < 2; small++) {
        back = length + 1;
        code = BZ2_bzBuffToBuffDecompress(plain, &back, packed, size, small, 0);
        fprintf(stderr, "back %d %u %d\n", code, back, memcmp(plain, input, length) != 0);
        back = length > 5 ? length - 5 : 0;
        code = BZ2_bzBuffToBuffDecompress(plain, &back, packed, size, small, 0);
        fprintf(stderr, "short room %d %u\n", code, back);
        back = length + 1;
        code = BZ2_bzBuffToBuffDecompress(plain, &back, packed, size - 3, small, 0);
        fprintf(stderr, "short input %d %u\n", code, back);
    }
    for (less = 1; less < size; less += size / 3 + 1) {
        unsigned some = size - less;
        code = BZ2_bzBuffToBuffCompress(plain, &some, input, length, level, 0, 0);
        fprintf(stderr, "too small %d %u\n", code, some);
        if (length < size)
            break;
    }
    return 0;
}

/* 2: files, with what lies behind the end of the stream, and the interface like zlib's. */
static int files(int level, unsigned piece)
{
    int code, count;
    unsigned in_low, in_high, out_low, out_high, given;
    char part[4096];
    void *unused;
    FILE *file = fopen("out.bz2", "wb");
    BZFILE *one = BZ2_bzWriteOpen(&code, file, level, 0, 0);
    fprintf(stderr, "open %d\n", code);
    for (given = 0; given < length; given += piece)
        BZ2_bzWrite(&code, one, input + given,
                    (int)(length - given < piece ? length - given : piece));
    fprintf(stderr, "write %d\n", code);
    BZ2_bzWriteClose64(&code, one, 0, &in_low, &in_high, &out_low, &out_high);
    fprintf(stderr, "close %d %u %u %u %u\n", code, in_low, in_high, out_low, out_high);
    fputs("behind the end", file);
    fclose(file);

    file = fopen("abandoned.bz2", "wb");
    one = BZ2_bzWriteOpen(&code, file, level, 0, 30);
    BZ2_bzWrite(&code, one, input, (int)(length < 1000 ? length : 1000));
    BZ2_bzWriteClose(&code, one, 1, &in_low, &out_low);
    fprintf(stderr, "abandon %d %u %u\n", code, in_low, out_low);
    fclose(file);

    file = fopen("out.bz2", "rb");
    one = BZ2_bzReadOpen(&code, file, 0, 0, NULL, 0);
    do {
        count = BZ2_bzRead(&code, one, part, (int)(piece < sizeof part ? piece : sizeof part));
        if (code == BZ_OK || code == BZ_STREAM_END)
            fwrite(part, 1, (size_t)count, stdout);
    } while (code == BZ_OK);
    fprintf(stderr, "read %d\n", code);
    BZ2_bzReadGetUnused(&code, one, &unused, &count);
    fprintf(stderr, "unused %d %d %.*s\n", code, count, count, (char *)unused);
    BZ2_bzRead(&code, one, part, 10);
    fprintf(stderr, "read on %d\n", code);
    BZ2_bzReadClose(&code, one);
    fprintf(stderr, "close %d\n", code);
    fclose(file);

    one = BZ2_bzopen("like.bz2", "wb7");
    fprintf(stderr, "write %d\n", BZ2_bzwrite(one, input, (int)(length < 5000 ? length : 5000)));
    fprintf(stderr, "flush %d %s\n", BZ2_bzflush(one), BZ2_bzerror(one, &code));
    BZ2_bzclose(one);
    one = BZ2_bzopen("like.bz2", "rs");
    while ((count = BZ2_bzread(one, part, 777)) > 0)
        fprintf(stderr, "read %d\n", count);
    fprintf(stderr, "at the end %d %s\n", count, BZ2_bzerror(one, &code));
    BZ2_bzclose(one);
    fprintf(stderr, "missing %d\n", BZ2_bzopen("missing.bz2", "r") == NULL);
    return 0;
}

/* 1.2.1: what files hold, also damaged ones, with every count and code. */
static int reading(int small)
{
    int code, count, times = 0;
    char part[600];
    FILE *file = fmemopen(input, length, "rb");
    BZFILE *one = BZ2_bzReadOpen(&code, file, 0, small, NULL, 0);
    do {
        count = BZ2_bzRead(&code, one, part, (int)sizeof part);
        fprintf(stderr, "read %d %d %s\n", count, code, BZ2_bzerror(one, &code));
    } while (code == BZ_OK && ++times < 100);
    BZ2_bzReadClose(&code, one);
    fprintf(stderr, "close %d\n", code);
    fclose(file);
    return 0;
}

/* 8.1: the low half of what was read and written so far runs over at every byte once. */
static int counters(int small)
{
    bz_stream stream;
    char out[4096];
    for (unsigned before = 1; before < length + 2; before++) {
        memset(&stream, 0, sizeof stream);
        BZ2_bzDecompressInit(&stream, 0, small);
        stream.total_in_lo32 = stream.total_out_lo32 = 0u - before;
        stream.next_in = input;
        stream.avail_in = length;
        stream.next_out = out;
        stream.avail_out = sizeof out;
        told("unpacked", BZ2_bzDecompress(&stream), &stream);
        BZ2_bzDecompressEnd(&stream);
        memset(&stream, 0, sizeof stream);
        BZ2_bzCompressInit(&stream, 1, 0, 0);
        stream.total_in_lo32 = stream.total_out_lo32 = 0u - before;
        stream.next_in = input;
        stream.avail_in = length;
        stream.next_out = out;
        stream.avail_out = sizeof out;
        if (before % 32 == 1)
            told("packed", BZ2_bzCompress(&stream, BZ_FINISH), &stream);
        BZ2_bzCompressEnd(&stream);
    }
    return 0;
}

/* 5.2: what must be refused. */
static int errors(void)
{
    bz_stream stream;
    int code;
    unsigned size = 10;
    char some[10];
    for (int level = -1; level <= 11; level++)
        for (int work = -1; work <= 251; work += 63) {
            memset(&stream, 0, sizeof stream);
            code = BZ2_bzCompressInit(&stream, level, 0, work);
            fprintf(stderr, "%d %d: %d\n", level, work, code);
            if (code == BZ_OK)
                BZ2_bzCompressEnd(&stream);
        }
    for (int small = -1; small <= 2; small++)
        for (int verbosity = -1; verbosity <= 5; verbosity++) {
            memset(&stream, 0, sizeof stream);
            code = BZ2_bzDecompressInit(&stream, verbosity, small);
            fprintf(stderr, "%d %d: %d\n", small, verbosity, code);
            if (code == BZ_OK)
                BZ2_bzDecompressEnd(&stream);
        }
    memset(&stream, 0, sizeof stream);
    fprintf(stderr, "null %d %d %d %d %d %d\n", BZ2_bzCompressInit(NULL, 9, 0, 30),
            BZ2_bzCompress(NULL, BZ_RUN), BZ2_bzCompressEnd(NULL), BZ2_bzDecompressInit(NULL, 0, 0),
            BZ2_bzDecompress(NULL), BZ2_bzDecompressEnd(NULL));
    fprintf(stderr, "no state %d %d %d %d\n", BZ2_bzCompress(&stream, BZ_RUN),
            BZ2_bzCompressEnd(&stream), BZ2_bzDecompress(&stream), BZ2_bzDecompressEnd(&stream));
    fprintf(stderr, "buffers %d %d %d %d\n",
            BZ2_bzBuffToBuffCompress(NULL, &size, some, 10, 9, 0, 30),
            BZ2_bzBuffToBuffCompress(some, &size, some, 10, 0, 0, 30),
            BZ2_bzBuffToBuffDecompress(some, NULL, some, 10, 0, 0),
            BZ2_bzBuffToBuffDecompress(some, &size, some, 10, 2, 0));
    fprintf(stderr, "files %d %d\n", BZ2_bzReadOpen(&code, NULL, 0, 0, NULL, 0) == NULL, code);
    fprintf(stderr, "files %d %d\n", BZ2_bzWriteOpen(&code, stdout, 0, 0, 0) == NULL, code);
    BZ2_bzRead(&code, NULL, some, 1);
    fprintf(stderr, "read %d\n", code);
    BZ2_bzWrite(&code, NULL, some, 1);
    fprintf(stderr, "write %d\n", code);
    BZ2_bzCompressInit(&stream, 1, 0, 0);
    fprintf(stderr, "action %d", BZ2_bzCompress(&stream, 7));
    fprintf(stderr, " idle %d", BZ2_bzCompress(&stream, BZ_RUN));
    stream.next_out = some;
    stream.avail_out = 10;
    fprintf(stderr, " flush %d", BZ2_bzCompress(&stream, BZ_FLUSH));
    fprintf(stderr, " finish %d", BZ2_bzCompress(&stream, BZ_FINISH));
    fprintf(stderr, " run %d\n", BZ2_bzCompress(&stream, BZ_RUN));
    BZ2_bzCompressEnd(&stream);
    fprintf(stderr, "version %s\n", BZ2_bzlibVersion());
    return 0;
}

/* 5.1.1: the allocation number `which` fails. */
static int memory(int which)
{
    countdown = which;
    compress_stream(1, 0, 1000, 1000, 0);
    countdown = which;
    return decompress_stream(which & 1, 1000, 1000);
}

struct job {
    int number;
    unsigned size;
    unsigned sum;
    int code;
};

static void *work(void *given)
{
    struct job *job = given;
    unsigned part = length / (unsigned)(job->number + 1), back = part;
    char *packed = malloc(part + part / 100 + 600), *plain = malloc(part + 1);
    job->size = part + part / 100 + 600;
    job->code = BZ2_bzBuffToBuffCompress(packed, &job->size, input, part, job->number % 9 + 1, 0, 0);
    for (unsigned i = 0; i < job->size; i++)
        job->sum = job->sum * 31 + (unsigned char)packed[i];
    if (job->code == BZ_OK)
        job->code = BZ2_bzBuffToBuffDecompress(plain, &back, packed, job->size, job->number & 1, 0);
    if (job->code == BZ_OK && (back != part || memcmp(plain, input, part) != 0))
        job->code = 99;
    free(packed);
    free(plain);
    return NULL;
}

/* 5.4: a stream in each of `count` threads. */
static int threads(int count)
{
    pthread_t ids[64];
    struct job jobs[64];
    memset(jobs, 0, sizeof jobs);
    for (int i = 0; i < count; i++) {
        jobs[i].number = i;
        pthread_create(&ids[i], NULL, work, &jobs[i]);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(ids[i], NULL);
        fprintf(stderr, "%d: %d %u %u\n", i, jobs[i].code, jobs[i].size, jobs[i].sum);
    }
    return 0;
}

int main(int argc, char **argv)
{
    int number[6] = {0};
    for (int i = 2; i < argc && i < 8; i++)
        number[i - 2] = atoi(argv[i]);
    input = malloc(MOST);
    length = (unsigned)fread(input, 1, MOST, stdin);
    if (argc < 2)
        return 2;
    if (strcmp(argv[1], "compress") == 0)
        return compress_stream(number[0], number[1], (unsigned)number[2], (unsigned)number[3],
                               (unsigned)number[4]);
    if (strcmp(argv[1], "decompress") == 0)
        return decompress_stream(number[0], (unsigned)number[1], (unsigned)number[2]);
    if (strcmp(argv[1], "buffers") == 0)
        return buffers(number[0]);
    if (strcmp(argv[1], "files") == 0)
        return files(number[0], (unsigned)number[1]);
    if (strcmp(argv[1], "reading") == 0)
        return reading(number[0]);
    if (strcmp(argv[1], "counters") == 0)
        return counters(number[0]);
    if (strcmp(argv[1], "errors") == 0)
        return errors();
    if (strcmp(argv[1], "memory") == 0)
        return memory(number[0]);
    if (strcmp(argv[1], "threads") == 0)
        return threads(number[0]);
    return 2;
}
