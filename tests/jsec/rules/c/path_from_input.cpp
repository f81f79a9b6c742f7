#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void below_a_folder() {
    std::string path = "/var/lib/app/";
    char *name = std::getenv("NAME");
    if (name != nullptr) path += name;
    std::ifstream in(path.c_str()); // expect: path-from-input
    if (in.is_open()) in.close();
}

void anywhere() {
    std::string path;
    std::cin >> path;
    std::ofstream out;
    out.open(path); // expect: path-from-input
    if (out.is_open()) out.close();
}

void fixed() {
    std::string path = "/var/lib/app/";
    path += "names.txt";
    std::ifstream in(path.c_str()); // ok
    if (in.is_open()) in.close();
}
