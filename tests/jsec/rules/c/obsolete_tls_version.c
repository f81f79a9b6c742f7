#include <curl/curl.h>
#include <openssl/ssl.h>

void versions(CURL *curl) {
    SSL_CTX *a = SSL_CTX_new(SSLv3_method()); // expect: obsolete-tls-version
    SSL_CTX *b = SSL_CTX_new(TLSv1_client_method()); // expect: obsolete-tls-version
    SSL_CTX *c = SSL_CTX_new(TLS_method()); // ok
    SSL_CTX_set_min_proto_version(a, TLS1_VERSION); // expect: obsolete-tls-version
    SSL_CTX_set_min_proto_version(b, TLS1_2_VERSION); // ok
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, CURL_SSLVERSION_SSLv3); // expect: obsolete-tls-version
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2); // ok
    SSL_CTX_set_cipher_list(c, "RC4:HIGH"); // expect: obsolete-tls-version
    SSL_CTX_set_cipher_list(c, "HIGH:!aNULL:!RC4"); // ok
}

void chosen(SSL_CTX *context, int versions) {
    SSL_CTX_clear_options(context, SSL_OP_NO_SSLv3 | SSL_OP_NO_TLSv1); // expect: obsolete-tls-version
    SSL_CTX_clear_options(context, SSL_OP_NO_TLSv1_1); // expect: obsolete-tls-version
    if (!(versions & 1))
        SSL_CTX_set_options(context, SSL_OP_NO_SSLv3);
    if (!(versions & 2))
        SSL_CTX_set_options(context, SSL_OP_NO_TLSv1);
}
