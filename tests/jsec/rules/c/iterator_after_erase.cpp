#include <map>
#include <string>
#include <vector>

struct Task {
    int id;
};

static std::map<std::string, Task *> tasks;

Task *removed(const std::string &key) {
    auto it = tasks.find(key);
    if (it == tasks.end())
        return nullptr;
    tasks.erase(it);
    return it->second; // expect: iterator-after-erase
}

Task *copied_before(const std::string &key) {
    auto it = tasks.find(key);
    if (it == tasks.end())
        return nullptr;
    Task *task = it->second;
    tasks.erase(it);
    return task; // ok
}

int continued(std::vector<int> &values) {
    auto it = values.begin();
    it = values.erase(it);
    return *it; // ok
}

int assigned_again(std::vector<int> &values) {
    auto it = values.begin();
    values.erase(it);
    it = values.begin();
    return *it; // ok
}

int by_key(const std::string &key) {
    tasks.erase(key);
    return key.size() > 1; // ok
}
