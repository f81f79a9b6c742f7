struct uri;
struct session {
    int id;
};

void uri_free(struct uri *uri);
int session_open(struct session *session, struct uri *uri);
int session_login(struct session *session, struct uri *uri);
struct uri *uri_parse(const char *text);
void list_free(struct session *list);

static void session_free(struct session *session) {
    session->id = 0;
}

int login(struct session *session, struct uri *uri) {
    int ret = session_open(session, uri);
    uri_free(uri);
    if (ret < 0)
        return ret;
    return session_login(session, uri); // expect: used-after-destructor
}

int login_first(struct session *session, struct uri *uri) {
    int ret = session_open(session, uri);
    if (ret == 0)
        ret = session_login(session, uri); // ok
    uri_free(uri);
    return ret;
}

int freed_on_failure(struct session *session, struct uri *uri) {
    if (session_open(session, uri) < 0) {
        uri_free(uri);
        return -1;
    }
    return session_login(session, uri); // ok
}

int parsed_again(struct session *session, struct uri *uri) {
    uri_free(uri);
    uri = uri_parse("x:");
    return session_login(session, uri); // ok
}

int member(struct session *list) {
    list_free(list);
    return list->id; // expect: used-after-destructor
}

int only_cleared(struct session *session) {
    session_free(session);
    return session->id; // ok
}
