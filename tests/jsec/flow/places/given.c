
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
