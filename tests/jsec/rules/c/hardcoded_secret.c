#include <stdlib.h>

#define DB_PASSWORD "s3cret!" // expect: hardcoded-secret
#define PASSWORD_FILE "/etc/app/password" // ok
#define PASSWORD_PROMPT "Password: " // ok
#define MAX_PASSWORD 32 // ok
#define SHOWN_PASSWORD "*password*" // ok
#define ROOT_PASSWORD "*pa55word" // expect: hardcoded-secret

static const char *api_key = "9f8a7b6c5d4e3f2a"; // expect: hardcoded-secret
static const char *user_name = "admin"; // ok
const char *url = "postgres://app:hunter2@db/shop"; // expect: hardcoded-secret
const char *plain_url = "https://example.org/path"; // ok
const unsigned char aes_key[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}; // expect: hardcoded-secret
const int primary_key[8] = {1, 2, 3, 4, 5, 6, 7, 8}; // ok

struct login { const char *user; const char *password; };

struct login fixed = {.user = "app", .password = "hunter2"}; // expect: hardcoded-secret

void fill(struct login *login) {
    login->password = "hunter2"; // expect: hardcoded-secret
    login->user = "app"; // ok
}

void from_outside(struct login *login) {
    login->password = getenv("APP_PASSWORD"); // ok
    const char *password = ""; // ok
    const char *password_format = "%s:%s"; // ok
    login->user = password && password_format ? "a" : "b"; // ok
}
