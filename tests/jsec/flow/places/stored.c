
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
    word[strcspn(word, "
")] = 0;
    return LogonUserA("me", "here", word, 3, 0, who); // expect: plain-secret
}
