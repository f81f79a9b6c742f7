#include <sstream>
#include <string>
#include <string_view>

void open_file(const char *path);
std::string name();

void join(const std::string &folder) {
    const char *path = (folder + "/config").c_str(); // expect: view-of-temporary
    open_file(path);
}

void stream(std::ostringstream &out) {
    const char *text = out.str().c_str(); // expect: view-of-temporary
    open_file(text);
}

void view(const std::string &folder) {
    std::string_view path = folder + "/config"; // expect: view-of-temporary
    open_file(path.data());
}

const char *returned() {
    std::string text = "x";
    return text.c_str(); // expect: view-of-temporary
}

std::string_view returned_view() {
    std::string text = "x";
    return text; // expect: view-of-temporary
}

void same_statement(const std::string &folder) {
    open_file((folder + "/config").c_str()); // ok
}

void kept(const std::string &folder) {
    std::string path = folder + "/config";
    const char *text = path.c_str(); // ok
    open_file(text);
}

void copied(std::ostringstream &out) {
    std::string text = out.str().c_str(); // ok
    open_file(text.c_str());
}

const char *of_argument(const std::string &text) {
    return text.c_str(); // ok
}

const char *kept_static() {
    static std::string text = "x";
    return text.c_str(); // ok
}

int sum(int a, int b) {
    int total = a + b; // ok
    return total;
}

void by_function() {
    const char *text = name().c_str(); // missed: view-of-temporary (name may return a reference)
    open_file(text);
}
