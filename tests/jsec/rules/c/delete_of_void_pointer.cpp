struct Session { ~Session(); };

void destroy(void *session) {
    delete session; // expect: delete-of-void-pointer
}

void cast(Session *s) {
    delete (void *)s; // expect: delete-of-void-pointer
}

void typed(void *session) {
    delete static_cast<Session *>(session); // ok
}

void pointer_to_void_pointer(void **sessions) {
    delete[] sessions; // ok
}
