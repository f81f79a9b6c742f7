#include <linux/slab.h>

struct part {
    u32 length;
    u8 data[4];
};

int late(size_t n) {
    struct part *p = kmalloc(sizeof(*p), GFP_KERNEL);
    if (!p)
        return -ENOMEM;
    kfree(p);
    p->length = n;  // expect: use-after-free
    return 0;
}

int lost(int n) {
    struct part *p = kzalloc(sizeof(*p), GFP_KERNEL);  // expect: leak
    if (!p)
        return -ENOMEM;
    if (n)
        return -EINVAL;
    kfree(p);
    return 0;
}

int kept(int n) {
    int ret = -EINVAL;
    struct part *p = kzalloc(sizeof(*p), GFP_KERNEL);
    if (!p)
        return -ENOMEM;
    if (n)
        goto out;
    ret = p->length;
out:
    kfree(p);
    return ret;
}

u8 beyond(void) {
    struct part *p = kcalloc(2, sizeof(*p), GFP_KERNEL);
    u8 x;
    if (!p)
        return 0;
    x = p[2].data[0];  // expect: buffer-read-over
    kfree(p);
    return x;
}

void given(struct part *p) {
    u32 table[8];
    u32 i;
    for (i = 0; i < ARRAY_SIZE(table); i++)
        table[i] = p->length;
    show(table);
}

int checked(struct part *p, int n) {
    int table[8] = {0};
    BUG_ON(n < 0 || n >= 8);
    return table[n];
}
