#include <exception>

void save();
void log(const char *text);

void forget() {
    try {
        save();
    } catch (...) { // expect: empty-catch
    }
    try {
        save();
    } catch (const std::exception &error) { // ok
        log(error.what());
    }
}
