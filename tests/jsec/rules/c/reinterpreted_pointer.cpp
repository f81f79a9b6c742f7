#include <cstddef>
#include <cstdint>
#include <sys/socket.h>

struct Header { int length; };
void use(int length);

void packet(const char *data) {
    const Header *h = reinterpret_cast<const Header *>(data); // expect: reinterpreted-pointer
    use(h->length);
}

void number(float f) {
    use(reinterpret_cast<int &>(f)); // expect: reinterpreted-pointer
}

struct Base {};
struct Derived : Base { int x; };
int handle(void *argument, Base *base) {
    return reinterpret_cast<Header *>(argument)->length + reinterpret_cast<Derived *>(base)->x; // ok
}

void bytes(const Header *h, sockaddr_storage *address) {
    auto data = reinterpret_cast<const unsigned char *>(h); // ok
    auto value = reinterpret_cast<std::uintptr_t>(h); // ok
    auto any = reinterpret_cast<sockaddr *>(address); // ok
    (void)data; (void)value; (void)any;
}
