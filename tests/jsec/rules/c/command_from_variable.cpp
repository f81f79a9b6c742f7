#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

void word() {
    std::string name;
    std::cin >> name;
    if (std::system(name.c_str()) != 0) { // expect: command-from-variable
        return;
    }
}

void line_put_behind() {
    std::string command = "ls ", more;
    if (!std::getline(std::cin, more)) return;
    command += more;
    if (std::system(command.c_str()) != 0) return; // expect: command-from-variable
}

void sum() {
    std::string name = std::getenv("NAME");
    if (std::system(("ls " + name).c_str()) != 0) return; // expect: command-from-variable
}

static std::string ask() {
    std::string line;
    if (!std::getline(std::cin, line)) return "";
    return line;
}

void from_another_function() {
    std::string line = ask();
    if (std::system(line.c_str()) != 0) return; // expect: command-from-variable
}

void put_together() {
    std::ostringstream command;
    std::string name;
    std::cin >> name;
    command << "id " << name;
    if (std::system(command.str().c_str()) != 0) return; // expect: command-from-variable
}

static void run(const std::string &command) {
    if (std::system(command.c_str()) != 0) return; // expect: command-from-variable
}

void handed_on() {
    std::ifstream file("/etc/names");
    std::string name;
    file >> name;
    run("/usr/bin/id " + name);
}

void literal() {
    if (std::system("/bin/ls /tmp") != 0) return; // ok
}
