#include <string>
#include <vector>

void use(int x);

void all(const std::vector<int> &items) {
    for (size_t i = 0; i <= items.size(); i++)
        use(items[i]); // expect: index-up-to-size
}

void at_size(const std::vector<int> &items) {
    use(items[items.size()]); // expect: index-up-to-size
}

void while_loop(const std::string &text) {
    size_t i = 0;
    while (i <= text.length() && text[i] != 'x') // expect: index-up-to-size
        i++;
}

void well(const std::vector<int> &items, const std::vector<int> &others) {
    for (size_t i = 0; i < items.size(); i++)
        use(items[i]); // ok
    for (size_t i = 0; i <= others.size(); i++)
        use(i < items.size() ? 1 : 0); // ok
    use(items[items.size() - 1]); // ok
}
