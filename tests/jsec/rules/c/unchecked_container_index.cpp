#include <string>
#include <vector>

int pick(const std::vector<int> &items, size_t index) {
    return items[index]; // expect: unchecked-container-index
}

void set(std::string &text, int at) {
    text[at] = 'x'; // expect: unchecked-container-index
}

int tested(const std::vector<int> &items, size_t index) {
    if (index >= items.size())
        return 0;
    return items[index]; // ok
}

int reduced(const std::vector<int> &items, size_t index) {
    index = index % items.size();
    return items[index]; // ok
}

int all(const std::vector<int> &items) {
    int sum = 0;
    for (size_t i = 0; i < items.size(); i++)
        sum += items[i]; // ok
    return sum;
}

int raw(const int *items, size_t index) {
    return items[index]; // ok
}
