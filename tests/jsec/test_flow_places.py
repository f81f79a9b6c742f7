"""What flow proves, line by line: `// expect: kind` marks where, all other lines are silent."""

from __future__ import annotations

import re

import pytest
from test_flow_engine import lowered

from jarvis_ls.jsec.flow.interpret import Analysis
from jarvis_ls.jsec.flow.lookup import Files

MARK = re.compile(r"//\s*expect:\s*([\w-]+)")

SMART_OWNERS = """
#include <memory>
#include <cstdlib>
void seen(int n);

void twice() {
    std::unique_ptr<int> own(new int(5));
    int *raw = own.get();
    seen(*raw);
    delete raw; // expect: double-free
}

void given_up() {
    std::unique_ptr<int> own(new int(5));
    int *raw = own.release();
    seen(*raw);
    delete raw;
}

void lost() {
    std::unique_ptr<int> own(new int(5)); // expect: leak
    int *raw = own.release();
    seen(*raw);
}

void too_late() {
    std::unique_ptr<int> own(new int(5));
    int *raw = own.get();
    own.reset();
    seen(*raw); // expect: use-after-free
}

void another() {
    std::unique_ptr<int> own(new int(5));
    own.reset(new int(6));
    int *raw = own.get();
    seen(*raw);
}

void two_owners() {
    int *raw = new int(4);
    std::shared_ptr<int> one(raw);
    std::shared_ptr<int> other(raw); // expect: double-free
}

void shared() {
    std::shared_ptr<int> one(new int(4));
    std::shared_ptr<int> other(one);
    one.reset();
    seen(*other);
}

void many() {
    std::unique_ptr<char> own(new char[4]); // expect: mismatched-free
    std::unique_ptr<char[]> right(new char[4]);
    std::unique_ptr<char, void (*)(void *)> freed((char *)malloc(4), free);
}

void kept(std::unique_ptr<int> &out) {
    std::unique_ptr<int> own(new int(5));
    int *raw = own.get();
    out = std::move(own);
    seen(*raw);
}
"""

UNSEEN_READER = """
#include <stdlib.h>
void show(const char *text);
void show_number(int number);

int keeps(void) {
    char *text = (char *)malloc(8); // expect: leak
    if (text == NULL) return 1;
    text[0] = 'a'; text[1] = 0;
    show(text);
    return 0;
}

int gives(void) {
    char *text = (char *)malloc(8);
    if (text == NULL) return 1;
    text[0] = 'a'; text[1] = 0;
    show(text);
    free(text);
    return 0;
}

void unset(void) {
    int number;
    show_number(number); // expect: uninitialized
}

void set(void) {
    int number = 3;
    show_number(number);
}

void may_be_a_macro(void) {
    int number;
    GET_NUMBER(number);
    show_number(number);
}
"""

UNSEEN_WRITER = """
void fill(int &number);
void show(int number);

void filled() {
    int number;
    fill(number);
    show(number);
}
"""

GIVEN_BY_ONE_TOO_LONG = """
struct list { int end; int *numbers; };

static int next_of(struct list *list, int count, const void **found) {
    *found = 0;
    if (list->end) return 1;
    for (int i = 0; i < count; i++) {
        int *q = list->numbers;
        for (int j = 0; j < count; j++) {
            if (q[j] > 4 && q[i] != q[j] + count) q[j] += q[i]; else if (q[j] & 1) q[i] ^= 3;
            for (int m = 0; m < count; m++) {
                if (q[m] > q[j]) q[m] -= count;
                if (q[m + 1] > q[i]) q[m] += count;
                if (q[m + 2] < q[i]) q[m]--;
                else if (q[m + 3] == q[i + 3]) { q[m] /= 3; q[m] += 4; }
                if (q[m] > q[j]) q[m] -= count;
                if (q[m + 1] > q[i]) q[m] += count;
                if (q[m + 2] < q[i]) q[m]--;
                else if (q[m + 3] == q[i + 3]) { q[m] /= 3; q[m] += 4; }
                if (q[m + 5] > q[j]) q[m] -= count;
                if (q[m + 6] > q[i]) q[m] += count;
                if (q[m + 7] < q[i]) q[m]--;
            }
        }
    }
    *found = list;
    return 0;
}

int given(struct list *list, const char **name) {
    const void *found;
    int code = next_of(list, list->end, &found);
    *name = (const char *)found;
    return code;
}

void look(const char *text);
char missing(struct list *list) {
    const char *name;
    look("nothing");
    return name[0]; // expect: uninitialized
}
"""

PARTLY_ELSEWHERE = """
int given_there(int *number) {
#include "rest.h"
}

int not_given(int *number) {
    return *number == 4 ? 1 : 2; // expect: uninitialized
}

int asked(void) {
    int one;
    return given_there(&one) == 2 && one == 3;
}

int asked_in_vain(void) {
    int one;
    return not_given(&one) == 2 && one == 3;
}
"""

SECRETS = """
#include <string.h>
int sent(void *db) {
    char word[20] = "";
    strcpy(word, "open sesame");
    return mysql_real_connect(db, "", "me", word, "", 0, 0, 0); // expect: hard-coded-secret
}

int block(void *schedule) {
    unsigned char key[16] = {0};
    memcpy(key, "0123456789abcdef", 16);
    return AES_set_encrypt_key(key, 128, schedule); // expect: hard-coded-secret
}

int made(void *schedule) {
    unsigned char key[16] = {0};
    if (RAND_bytes(key, 16) != 1) return 1;
    return AES_set_encrypt_key(key, 128, schedule);
}
"""

STORED = """
#include <stdio.h>
int plain(void **who) {
    char word[100] = "";
    FILE *file = fopen("words", "r");
    if (file == NULL) return 1;
    if (fgets(word, 100, file) == NULL) word[0] = 0;
    fclose(file);
    return LogonUserA("me", "here", word, 3, 0, who); // expect: plain-secret
}

int opened(void **who, int key) {
    char word[100] = "";
    unsigned long size = 100;
    FILE *file = fopen("words", "r");
    if (file == NULL) return 1;
    if (fgets(word, 100, file) == NULL) word[0] = 0;
    fclose(file);
    do {
        if (!CryptAcquireContextW(&key, 0, 0, 1, 0)) break;
        if (!CryptDecrypt(key, 0, 1, 0, (unsigned char *)word, &size)) break;
    } while (0);
    return LogonUserA("me", "here", word, 3, 0, who);
}

void mask(char *word, int size) {
    for (int i = 0; i < size; i++) word[i] ^= 0x5a;
}

int unmasked(void **who) {
    char word[100] = "";
    FILE *file = fopen("words", "r");
    if (file == NULL) return 1;
    if (fgets(word, 100, file) == NULL) word[0] = 0;
    fclose(file);
    mask(word, 100);
    return LogonUserA("me", "here", word, 3, 0, who);
}

int turned(void **who) {
    char word[100] = "";
    FILE *file = fopen("words", "r");
    if (file == NULL) return 1;
    if (fgets(word, 100, file) == NULL) word[0] = 0;
    fclose(file);
    for (int i = 0; i < 99; i++) word[i] = (char)(word[i] + 13);
    return LogonUserA("me", "here", word, 3, 0, who);
}

int given_away(void **who) {
    char word[100] = "";
    FILE *file = fopen("words", "r");
    if (file == NULL) return 1;
    if (fgets(word, 100, file) == NULL) word[0] = 0;
    fclose(file);
    reveal(word);
    return LogonUserA("me", "here", word, 3, 0, who);
}

int cut(void **who) {
    char word[100] = "";
    FILE *file = fopen("words", "r");
    if (file == NULL) return 1;
    if (fgets(word, 100, file) == NULL) word[0] = 0;
    fclose(file);
    word[strcspn(word, "\n")] = 0;
    return LogonUserA("me", "here", word, 3, 0, who); // expect: plain-secret
}
"""

RANGES = """
#include <algorithm>
void past() {
    int source[100] = {0};
    int room[50];
    std::copy(source, source + 100, room); // expect: buffer-write-stack
}

void inside() {
    int source[100] = {0};
    int room[100];
    std::copy(source, source + 100, room);
    std::copy_n(source, 100, room);
    std::fill_n(room, 100, 7);
}

void filled() {
    int room[50];
    std::fill_n(room, 51, 7); // expect: buffer-write-stack
}
"""

SPAWNED = """
#include <stdlib.h>
void given(void) {
    char *args[] = {"sh", "-c", getenv("ADD"), NULL};
    _spawnv(0, "sh", args); // expect: command-injection
}

void fixed(void) {
    char *args[] = {"sh", "-c", "ls", NULL};
    _spawnv(0, "C:/bin/sh", args);
}
"""

SOCKETS = """
#include <sys/socket.h>
#include <unistd.h>
void kept(void) {
    int line = socket(2, 1, 0); // expect: resource-leak
    if (line == -1) return;
    if (send(line, "a", 1, 0) != 1) return;
    close(line);
}

void closed(void) {
    int line = socket(2, 1, 0);
    if (line == -1) return;
    if (send(line, "a", 1, 0) != 1) { close(line); return; }
    close(line);
}
"""

OWNERS = """
#include <string.h>
class Shared {
public:
    Shared(const char *s) { name = new char[strlen(s) + 1]; strcpy(name, s); }
    ~Shared() { delete [] name; } // expect: double-free
    char *name;
};
class Own {
public:
    Own(const char *s) { name = new char[strlen(s) + 1]; strcpy(name, s); }
    Own(const Own &o) { name = new char[strlen(o.name) + 1]; strcpy(name, o.name); }
    Own &operator=(const Own &o) {
        if (&o != this) {
            delete [] name;
            name = new char[strlen(o.name) + 1];
            strcpy(name, o.name);
        }
        return *this;
    }
    ~Own() { delete [] name; }
    char *name;
};
class Hasty {
public:
    Hasty(const char *s) { name = new char[strlen(s) + 1]; strcpy(name, s); }
    Hasty &operator=(const Hasty &o) {
        delete [] name;
        name = new char[strlen(o.name) + 1]; // expect: use-after-free
        strcpy(name, o.name);
        return *this;
    }
    ~Hasty() { delete [] name; }
    char *name;
};
void shared() { Shared one("x"); Shared two(one); }
void owned() { Own one("x"); Own two(one); Own three = two; three = one; one = one; }
void handed() { Own *one = new Own("x"); std::unique_ptr<Own> own(one); }
void hasty() { Hasty one("x"); one = one; }
"""

OVERLOADS = """
int first(int number) { return number; }
int first(const char *text) { return text[0]; } // expect: null-dereference
int both() {
    const char *text = 0;
    return first(3) + first(text);
}
"""

EXCEPTIONS = """
#include <stdexcept>
void lost(int n) {
    int *many = new int[10](); // expect: leak
    if (many[n & 1] == n) { throw std::runtime_error("x"); }
    delete [] many;
}
void kept(int n) {
    int *many = new int[10]();
    if (n == 3) { delete [] many; throw 1; }
    delete [] many;
}
class Hold {
public:
    Hold() { p = new int(3); }
    ~Hold() { delete p; }
    int *p;
};
void held(int n) { Hold h; if (n == 3) throw 1; }
void caught(int n) {
    char *text = 0;
    try {
        text = new char[64]; // expect: leak
        if (n == 7) throw 5;
        delete [] text;
    } catch (int) { n = 3; }
}
void caught_ok(int n) {
    char *text = 0;
    try { text = new char[64]; if (n == 7) throw 5; } catch (int) { n = 3; }
    delete [] text;
}
static void thrower(int n) { if (n > 3) throw n; }
void outer(int n) {
    char *text = new char[64]; // expect: leak
    try { thrower(n); delete [] text; } catch (...) { n = 1; }
}
void outer_ok(int n) {
    char *text = new char[64];
    try { thrower(n); } catch (...) { n = 1; }
    delete [] text;
}
void through(int n) {
    char *text = new char[64]; // expect: leak
    thrower(n);
    delete [] text;
}
void through_ok(int n) { Hold h; thrower(n); }
int unset(int n) {
    int code;
    try { if (n) throw 1; code = 5; } catch (int) { n = 0; }
    return code + n; // expect: uninitialized
}
int set(int n) {
    int code;
    try { if (n) throw 1; code = 5; } catch (int) { code = 0; }
    return code + n;
}
"""

LAMBDAS = """
static int five = 5;
void run(void (*what)());
void set_null() {
    int *p = &five;
    auto set = [&p](int *q) { p = q; };
    set(0);
    *p = 1; // expect: null-dereference
}
void set_good() {
    int *p = 0;
    auto set = [&p](int *q) { p = q; };
    set(&five);
    *p = 1;
}
void handed_on() {
    int *p = 0;
    run([&] { p = &five; });
    *p = 1;
}
void at_once(int n) {
    char *text = new char[4]; // expect: leak
    int code = [&](int m) { if (m > 3) return 1; delete [] text; return 0; }(n);
    n = code;
}
void released(int n) {
    char *text = new char[4];
    auto give = [text](int m) { if (m) n = m; delete [] text; return 0; };
    n = give(n);
}
int from_value() {
    auto same = [](auto m) { return m; };
    return 100 / same(0); // expect: divide-by-zero
}
"""

CASTS = """
#include <string>
class base { public: virtual ~base() {} };
class one : public base { public: int some; };
class two : public one { public: int more; };
class box { public: box() { other = 1; } int get() { return value; } int value; int other; };
void show(int number);
int other_class() {
    one o;
    base *b = &o;
    two *t = dynamic_cast<two *>(b);
    return t->more; // expect: null-dereference
}
int same_class() {
    two o;
    base *b = &o;
    o.more = 1;
    two *t = dynamic_cast<two *>(b);
    return t->more;
}
int tested(base *b) {
    two *t = dynamic_cast<two *>(b);
    return t ? t->more : 0;
}
unsigned long no_text() {
    std::string *s = nullptr;
    return s->size(); // expect: null-dereference
}
unsigned long text(std::string *s) { return s->size(); }
void member() {
    box b;
    show(b.get()); // expect: uninitialized
}
"""

ELEMENTS = """
#include <cstdlib>
#include <string>
#include <vector>
struct Pool {
    std::vector<int *> all;
    ~Pool() { for (int *one : all) delete one; }
    int *get() { int *one = new int(0); all.push_back(one); return one; }
};
int pooled() {
    Pool pool;
    int *one = pool.get();
    *one = 3;
    return *one;
}
int summed() {
    int all[3] = {1, 2, 3};
    int sum = 0;
    for (int one : all) sum += one;
    return sum;
}
void run(const std::vector<const char *> &fixed) {
    std::vector<const char *> all(fixed);
    all.push_back(getenv("ADD"));
    for (const char *one : all) system(one); // expect: command-injection
}
"""

STREAMS = """
#include <stdio.h>
int late(const char *name) {
    FILE *in = fopen(name, "r");
    if (!in) return -1;
    fclose(in);
    return fgetc(in); // expect: use-after-close
}
void twice(const char *name) {
    FILE *in = popen(name, "r");
    if (!in) return;
    pclose(in);
    pclose(in); // expect: double-close
}
void untested(void) {
    FILE *in = tmpfile();
    fclose(in); // expect: unchecked-allocation
}
"""


STATUS = """
#include <stdlib.h>
struct Status {
    Status() : state_(0) {}
    explicit Status(int code) : state_(code) {}
    static Status OK() { return Status(); }
    static Status Bad(int code) { return Status(code); }
    bool ok() const { return state_ == 0; }
    int state_;
};

Status make(int **out) {
    *out = (int *)malloc(4);
    if (*out == NULL) return Status::Bad(1);
    return Status::OK();
}

int tested() {
    int *block;
    Status status = make(&block);
    if (!status.ok()) return 1;
    *block = 1;
    free(block);
    return 0;
}

int kept() { // expect: leak
    int *block;
    Status status = make(&block);
    if (!status.ok()) return 1;
    *block = 1;
    return 0;
}
"""

NUMBERS = """
#include <math.h>
#include <stdlib.h>
void shown(double number);
void text_shown(unsigned long length);

void near_zero() {
    float number = (float)rand();
    if (fabs(number) > 0.000001) shown(100.0 / number);
}

void perhaps_zero() {
    float number = (float)rand();
    shown(100.0 / number); // expect: divide-by-zero
}

int two_digits(const char *text) {
    int number = 0;
    if (sscanf(text, "%2d", &number) != 1) return 0;
    return number * 1000;
}

int any_digits(void) {
    int number = 0;
    if (scanf("%d", &number) != 1) return 0;
    return number * 1000; // expect: integer-overflow
}

int few_digits(void) {
    int number = 0;
    if (scanf("%2d", &number) != 1) return 0;
    return number * 1000;
}

void untested() {
    char *home = getenv("HOME");
    text_shown(strlen(home)); // expect: unchecked-allocation
}

void tested() {
    char *home = getenv("HOME");
    if (home) text_shown(strlen(home));
}
"""

PASTED_NAMES = """
static int *pfirst;
static int *second;

int load(void *library) {
#define LOAD(symbol) *(void **)(&p ## symbol) = dlsym(library, #symbol)
    LOAD(first);
#undef LOAD
    return *pfirst;
}

int use(void) {
    return *second; // expect: null-dereference
}
"""

SCALED = """
#define KB *(1 << 10)
#define BLOCK (8 KB)
#define LEAST(n) ((unsigned)(n) > 8200u ? 0 : (n) + 16)

void enough(void) {
    char *p = malloc(LEAST(BLOCK));
    if (!p) return;
    memset(p, 0, 8208);
    free(p);
}

void too_little(void) {
    char *p = malloc(LEAST(BLOCK));
    if (!p) return;
    memset(p, 0, 8209); // expect: buffer-write-heap
    free(p);
}
"""

PARTS_OF_UNKNOWN = """
struct address;
void show(unsigned n);

void seen(void) {
    unsigned words[16 / sizeof(short)];
    memset(words, 0, sizeof(words));
    for (int i = 0; i <= 8; i++)
        show(words[i]); // expect: buffer-read-over
}

void unseen(void) {
    unsigned words[sizeof(struct address) / sizeof(short)];
    memset(words, 0, sizeof(words));
    for (int i = 0; i < (int) COUNT_OF(words); i++)
        show(words[i]);
}
"""

SUMS = """
void show(char *text);

void difference() {
    char text[60];
    for (int i = 0; i < 60; i++) {
        if (60 - i > 5) text[i + 5] = 1;
        show(text);
    }
}

void difference_too_large() {
    char text[60];
    for (int i = 0; i < 60; i++) {
        if (60 - i > 4) text[i + 5] = 1; // expect: buffer-write-stack
        show(text);
    }
}

void sum() {
    char text[60];
    for (unsigned i = 0; i < 60; i++) {
        if (i + 5 < 60) text[i + 5] = 1;
        show(text);
    }
}

void sum_too_large() {
    char text[60];
    for (unsigned i = 0; i < 60; i++) {
        if (i + 4 < 60) text[i + 5] = 1; // expect: buffer-write-stack
        show(text);
    }
}

static unsigned width(char c) { return c < 9 ? 1 : c < 70 ? 2 : 4; }

static int part(const char *text, unsigned size) {
    int sum = 0;
    if (size != 2 && size != 4) return 0;
    for (unsigned i = 1; i < size; i++) sum += text[i];
    return sum;
}

int rest() {
    char text[60];
    memset(text, 1, 60);
    for (unsigned i = 0; i < 60; i++) {
        unsigned size = width(text[i]);
        if (size == 1) continue;
        if (size > 60 - i) return 0;
        if (!part(text + i, size)) return 0;
    }
    return 1;
}
"""

SIGNED_ENUMS = """
typedef enum { UNSET = -1, GET, HEAD, PUT } method;
typedef enum { RED, GREEN, BLUE } color;
static const int names[5];

const int *name_of(method m) {
    return (unsigned)m < sizeof(names) / sizeof(*names) - 1 ? names + m : names + m + 5;
}

int first(method m) {
    return *name_of(m);
}

const int *color_of(color c) {
    return (unsigned)c < sizeof(names) / sizeof(*names) - 1 ? names + c : names + c + 5;
}

int second(color c) {
    return *color_of(c); // expect: buffer-read-over
}
"""

MEMBERS_BESIDE = """
struct hash { int kind, used, wide; unsigned char block[128]; };
struct entry { const char *name; int (*done)(struct hash *h); };
extern struct entry entries[32];

int filled(struct hash *h) {
    while (h->used < h->wide) h->block[h->used++] = 0x80;
    return entries[h->kind].done(h);
}

int chosen(struct hash *h) {
    h->kind = 0x80;
    return entries[h->kind].done(h); // expect: buffer-read-over
}
"""

ARRAYS_INSIDE = """
#include <stdio.h>
#include <stdlib.h>
enum { WIDE = 16 };
struct row { char name[WIDE]; int cells[WIDE / 2]; int used; };
struct open { int used; int cells[8]; };
union both { char bytes[4]; int number[2]; };
void show(int number);
void counted(struct row *r, const char *s) {
    int i;
    for (i = 0; i < WIDE; i++)
        r->cells[i] = s[i]; // expect: buffer-write-heap
}
void fits(struct row *r, const char *s) {
    int i;
    for (i = 0; i < WIDE / 2; i++) r->cells[i] = s[i];
    r->name[WIDE - 1] = 0;
}
void local(const char *s) {
    struct row r;
    r.name[WIDE] = s[0]; // expect: buffer-write-stack
}
int before(struct row *r) {
    int i = 3;
    i -= 4;
    return r->cells[i]; // expect: buffer-read-under
}
int chosen(struct row *r) {
    char line[20];
    int i;
    if (!fgets(line, sizeof line, stdin)) return 0;
    i = atoi(line);
    if (i < 0) return 0;
    return r->cells[i]; // expect: buffer-read-over
}
void made_longer(struct open *o, int *from) {
    int i;
    for (i = 0; i < 12; i++) o->cells[i] = from[i];
}
int seen_as_another(union both *b) { return b->bytes[6]; }
int any(struct row *r) { int last = r->used + 1; return r->cells[last]++; }
int guarded(struct row *r, int i) { return i >= 0 && i < WIDE / 2 ? r->cells[i] : 0; }
"""

COUNTED = """
#include <stdio.h>
#include <stdlib.h>
void show(long n);
void put(char *to);
void down(void) { long a[100]; int i; for (i = 99; i >= 0; i--) a[i] = 1; show(a[3]); }
void below(void) {
    long a[100];
    int i;
    for (i = 99; i >= -1; i--)
        a[i] = 1; // expect: buffer-underwrite
}
void to_the_last(void) { long a[100]; int i; for (i = 0; i <= 99; i++) a[i] = 1; show(a[3]); }
void until(void) { long a[100]; long *p = a; do { *p++ = 1; } while (p != a + 100); show(a[3]); }
void tested_within(void) {
    long a[100];
    int i = 0;
    while (getchar() != EOF) {
        if (i > 0 && getchar() == 7) show(i);
        if (i >= 100) break;
        i++;
        a[i] = 1; // expect: buffer-write-stack
    }
}
void beyond(void) {
    int a[100], *p = a, *end = a + 100;
    while (p <= end)
        *p++ = 1; // expect: buffer-write-stack
}
void within(void) { int a[100], *p = a, *end = a + 100; while (p < end) *p++ = 1; show(a[3]); }
void few(void) {
    int a[10], *p = a, *end = a + 10;
    while (p <= end)
        *p++ = 1; // expect: buffer-write-stack
}
void ended(void) {
    char a[100], *p;
    for (p = a; p < a + sizeof a; p++) *p = 'x';
    *p = 0; // expect: buffer-write-stack
    put(a);
}
void ended_in_time(void) {
    char a[100], *p;
    for (p = a; p < a + sizeof a - 1; p++) *p = 'x';
    *p = 0;
    put(a);
}
static void sum(long *all) {
    for (int i = 0; i < 10; i++)
        show(all[i]); // expect: uninitialized
}
static void other_sum(long *all) { for (int i = 0; i < 10; i++) show(all[i]); }
void half(void) { long a[10]; for (int i = 0; i < 5; i++) a[i] = i; sum(a); }
void whole(void) { long a[10]; for (int i = 0; i < 10; i++) a[i] = i; other_sum(a); }
"""

INDEXED = """
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <vector>
extern void use(int n);
extern void fill(std::vector<int> &v);
extern int any();
struct pair { int x, y; };

int first_of_none() {
    std::vector<int> v;
    return v[0]; // expect: buffer-read-over
}
int first() { std::vector<int> v; v.push_back(3); return v[0]; }
void behind() {
    std::vector<int> v(10);
    for (int i = 0; i <= 10; i++)
        v[i] = 1; // expect: buffer-write-heap
}
void to_its_size() { std::vector<int> v(10); for (size_t i = 0; i < v.size(); i++) v[i] = 1; }
void not_resized() {
    std::vector<int> v;
    v.reserve(4);
    v[1] = 2; // expect: buffer-write-heap
}
void resized() { std::vector<int> v; v.resize(4); v[3] = 2; v.push_back(1); v[4] = 1; }
void shorter() {
    std::vector<int> v(3);
    v.pop_back();
    v[2] = 1; // expect: buffer-write-heap
}
void as_bytes() {
    std::vector<char> v(100);
    memset(v.data(), 0, v.size());
    memset(&v[0], 0, 101); // expect: buffer-write-heap
}

void filled_elsewhere() { std::vector<int> v; fill(v); use(v[3]); }
void many() { std::vector<int> v; for (int i = 0; i < 100; i++) v.push_back(i); use(v[99]); }
void some() {
    std::vector<int> v;
    int n = any();
    while (n--) v.push_back(n);
    if (v.size() > 5) use(v[5]);
}
void given() { std::vector<int> v, w(5); v = w; use(v[4]); }
void listed() { std::vector<int> v{1, 2, 3}, w = {1, 2}; use(v[2]); use(w[1]); }
void swapped() { std::vector<int> v, w(5); v.swap(w); use(v[4]); }
void put_in() { std::vector<int> v; v.insert(v.end(), 4, 7); use(v[3]); }
void walked() {
    std::vector<int> v;
    v.push_back(1);
    for (auto it = v.begin(); it != v.end(); ++it) use(*it);
    for (auto n : v) use(n);
}
void either(bool b) {
    std::vector<int> v;
    if (b) v.push_back(1);
    else { v.push_back(2); v.push_back(3); }
    use(v[0]);
}
void by_lambda() {
    std::vector<int> v;
    auto add = [&](int n) { v.push_back(n); };
    add(1);
    use(v[0]);
}
void inner() { std::vector<std::vector<int>> v(3, std::vector<int>(4)); v[2][3] = 1; use(v[2][3]); }
void records() { std::vector<pair> v; v.push_back({1, 2}); v[0].x = 3; use(v.back().y); }

void each_once() {
    std::vector<char *> v(2);
    v[0] = (char *) malloc(4);
    v[1] = (char *) malloc(4);
    free(v[0]);
    free(v[1]);
}
void one_twice() {
    std::vector<char *> v(2);
    v[0] = (char *) malloc(4);
    free(v[0]);
    free(v[0]); // expect: double-free
}
void by_key() {
    std::map<int, char *> m;
    m[0] = (char *) malloc(4);
    m[1] = (char *) malloc(4);
    free(m[0]);
    free(m[1]);
}
void in_a_loop() {
    std::vector<int *> v;
    for (int i = 0; i < 3; i++) v.push_back(new int(i));
    for (int i = 0; i < 3; i++) delete v[i];
}
void also_in_an_array() {
    char *v[3];
    for (int i = 0; i < 3; i++) v[i] = (char *) malloc(4);
    for (int i = 0; i < 3; i++) free(v[i]);
}
void the_last_twice() {
    char *v[3];
    for (int i = 0; i < 3; i++) v[i] = (char *) malloc(4);
    for (int i = 0; i < 3; i++) free(v[i]);
    free(v[2]); // expect: double-free
}
void the_last_not() {
    char *v[3];
    for (int i = 0; i < 3; i++)
        v[i] = (char *) malloc(4); // expect: leak
    for (int i = 0; i < 2; i++) free(v[i]);
}
"""

READ_AS_MEANT = """
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
void show(float n);
typedef struct { int kind; } value;
typedef struct { float r, i; } complex_t;
const value *looked_up(const value *t, int k);
#define is_table(t) ((t)->kind == 5)
#define fast_get(t,k,slot,f) \\
  (!is_table(t)  \\
   ? (slot = NULL, 0)  /* not a table; 'slot' is NULL and result is 0 */  \\
   : (slot = f(t, k),  /* else, do raw access */  \\
      slot->kind != 0))  /* result not empty? */
int taken(value *t, int k) {
    const value *slot;
    if (fast_get(t, k, slot, looked_up)) return slot->kind;
    return 0;
}
#define ADD(res, a, b) do { CHECKED((a).r,+,(b).r) (res).r = (a).r + (b).r; } while (0)
void added(complex_t *x) { complex_t room[5]; ADD(room[3], x[0], x[1]); show(room[3].r); }

static const struct name { char text[10]; int number; } names[] = {
    {"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}, {"e", 5}, {"f", 6}, {"g", 7}, {"h", 8}, {"i", 9},
    {"j", 1}, {"k", 2}, {"l", 3}, {"m", 4}, {"n", 5}, {"o", 6}, {"p", 7}, {"q", 8}, {"r", 9},
};
int found(int n) {
    const struct name *one, *end = names + sizeof(names) / sizeof(names[0]);
    for (one = names; one < end; one++) if (one->number == n) return one->text[0];
    return 0;
}
int found_beyond(int n) {
    const struct name *one, *end = names + sizeof(names) / sizeof(names[0]);
    for (one = names; one <= end; one++)
        if (one->number == n) // expect: buffer-read-over
            return 1;
    return 0;
}

void copied(char *to) {
    const static char start[] = "ERROR ";
    const static int length = sizeof(start) - 1;
    memcpy(to, start, length);
}
void copied_too_much(char *to) {
    const static char start[] = "ERROR ";
    const static int length = sizeof(start) + 1;
    memcpy(to, start, length); // expect: buffer-read-over
}

#ifdef LARGE
#define ROOM 10
#endif
#ifndef LARGE
#define ROOM 9
#endif
int in_one_build(void) { int all[ROOM] = {0}; return all[9]; }

#if defined(CHECKED)
__attribute__((noreturn))
void fatal(const char *why);
#define my_assert(cond) {if (!(cond)) {fatal("failed: " #cond);}}
#else
#define my_assert(cond)
#endif
int asserted(int length) {
    static const short table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int k;
    my_assert(length >= 16 && length < 48);
    k = (length >> 2) - 4;
    my_assert(k >= 0);
    return table[k];
}

struct event;
struct ring { int head; };
int in_unseen_records(int n) {
    int one_page = 4096 / sizeof(struct event);
    int first_page = (4096 - sizeof(struct ring)) / sizeof(struct event);
    return n / one_page * one_page + first_page;
}

int exponent(float x) {
    union { float f; unsigned int i; } in;
    in.f = x;
    return (in.i >> 23) - 127;
}
int of_one(void) { return exponent(0.5f); }

struct list { char *items; size_t size, count; };
int append(struct list *l, void *item) {
    memcpy(l->items + l->count * l->size, item, l->size);
    l->count++;
    return 1;
}
void kept_as_bytes(struct list *l, const char *t) {
    char *s = strdup(t);
    if (!s) return;
    if (!append(l, &s)) { free(s); return; }
    l->count += 2;
}

struct guarded { pthread_mutex_t guard; pthread_rwlock_t lock; int ready; };
int make_ready(struct guarded *g);
int locked_for_reading(struct guarded *g) {
    if (!g->ready) {
        int failed = pthread_mutex_lock(&g->guard);
        if (failed) return failed;
        make_ready(g);
        failed = pthread_mutex_unlock(&g->guard);
        if (failed) return failed;
    }
    return pthread_rwlock_rdlock(&g->lock);
}
"""


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("arrays.c", ARRAYS_INSIDE), ("counted.c", COUNTED), ("indexed.cpp", INDEXED),
        ("meant.c", READ_AS_MEANT),
        ("unseen.c", UNSEEN_READER), ("unseen.cpp", UNSEEN_WRITER), ("secrets.c", SECRETS),
        ("stored.c", STORED), ("ranges.cpp", RANGES), ("spawned.c", SPAWNED),
        ("sockets.c", SOCKETS), ("owners.cpp", OWNERS), ("smart.cpp", SMART_OWNERS),
        ("overloads.cpp", OVERLOADS), ("given.c", GIVEN_BY_ONE_TOO_LONG),
        ("elsewhere.c", PARTLY_ELSEWHERE),
        ("exceptions.cpp", EXCEPTIONS), ("lambdas.cpp", LAMBDAS),
        ("casts.cpp", CASTS), ("elements.cpp", ELEMENTS),
        ("streams.c", STREAMS), ("status.cpp", STATUS), ("numbers.c", NUMBERS),
        ("pasted.c", PASTED_NAMES), ("scaled.c", SCALED), ("parts.c", PARTS_OF_UNKNOWN),
        ("sums.cpp", SUMS), ("members.c", MEMBERS_BESIDE),
        ("enums.c", SIGNED_ENUMS),
    ],
    ids=lambda value: value if len(value) < 30 else "",
)  # fmt: skip
def test_kinds(path: str, text: str) -> None:
    file = lowered(text, path)
    analysis = Analysis(Files([file]))
    found = {
        (text[: fault.span[0]].count("\n"), fault.kind)
        for function in file.functions.values()
        for fault in analysis.root(function)
        if fault.is_flaw
    }
    lines = text.split("\n")
    wanted = {(n, m[1]) for n, line in enumerate(lines) if (m := MARK.search(line)) is not None}
    assert found == wanted


def test_a_branch_that_otherwise_ends_the_program_is_no_choice() -> None:
    text = """
void show(int n);
static void sum(int *all) { for (int i = 0; i < 10; i++) show(all[i]); }
void f(void) {
    int *all = (int *) malloc(10 * sizeof(int));
    if (all == NULL) %s;
    for (int i = 0; i < 5; i++) all[i] = i;
    sum(all);
    free(all);
}
"""
    for leaves, doubtful in (("exit(1)", False), ("show(1)", True)):
        file = lowered(text % leaves)
        analysis = Analysis(Files([file]))
        found = {f.kind: f.doubtful for f in analysis.root(file.functions["f"])}
        assert found["uninitialized"] == doubtful
