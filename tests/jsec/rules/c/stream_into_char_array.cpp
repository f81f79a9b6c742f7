#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>

void words(std::ifstream &file) {
    char word[20];
    std::string text;
    int n;
    std::cin >> word; // expect: stream-into-char-array
    std::cin >> n >> word; // expect: stream-into-char-array
    file >> word; // expect: stream-into-char-array
    std::cin >> std::setw(sizeof(word)) >> word; // ok
    std::cin >> text; // ok
    std::cin >> n; // ok
    std::cin.width(10);
    std::cin >> word; // ok
    n = n >> word[0]; // ok
}
