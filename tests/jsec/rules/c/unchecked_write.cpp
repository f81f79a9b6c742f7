#include <cstdio>
#include <string>
#include <unistd.h>

void plain(int fd, const char *data) {
    ::write(fd, data, 4); // expect: unchecked-write
}

void library(int fd, const std::string &data, bytes &to) {
    format::write(to, data, 4); // ok
    format::write<char>(to, data, 4); // ok
    if (std::fwrite(data.data(), 1, data.size(), stdout) != data.size()) // ok
        throw fd;
}

struct packet {
    void write(unsigned number);
    void all() { write(4); } // ok
};
