#include <cstring>
#include <string>

int commands(const char *command, const std::string &name, char *other) {
    if (command == "quit") // expect: string-compared-by-address
        return 1;
    if ("quit" != command) // expect: string-compared-by-address
        return 2;
    if (strcmp(command, "quit") == 0) // ok
        return 3;
    if (name == "quit") // ok
        return 4;
    if (command == other) // ok
        return 5;
    if (command == nullptr) // ok
        return 6;
    char first[4] = "a", second[4] = "a";
    return first == second; // expect: string-compared-by-address
}
