#include <curl/curl.h>
#include <openssl/ssl.h>

void client(CURL *curl, SSL_CTX *context) {
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L); // expect: tls-verification-disabled
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0); // expect: tls-verification-disabled
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L); // ok
    curl_easy_setopt(curl, CURLOPT_VERBOSE, 0L); // ok
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL); // expect: tls-verification-disabled
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL); // ok
}
