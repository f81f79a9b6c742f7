
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
