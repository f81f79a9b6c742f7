#include <list>
#include <map>
#include <vector>

void grow(std::vector<int> &v) {
    for (int x : v)
        if (x > 3)
            v.push_back(x); // expect: container-changed-while-iterated
}

void shrink(std::map<int, int> &m) {
    for (const auto &entry : m) {
        if (entry.second == 0)
            m.erase(entry.first); // expect: container-changed-while-iterated
    }
}

void iterator(std::vector<int> &v) {
    for (auto it = v.begin(); it != v.end(); ++it) {
        if (*it == 0)
            v.erase(it); // expect: container-changed-while-iterated
    }
}

void iterator_grows(std::vector<int> &v) {
    for (std::vector<int>::iterator it = v.begin(); it != v.end(); it++)
        v.push_back(*it); // expect: container-changed-while-iterated
}

void well(std::vector<int> &v) {
    for (auto it = v.begin(); it != v.end();) {
        if (*it == 0)
            it = v.erase(it); // ok
        else
            ++it;
    }
}

void first_only(std::vector<int> &v) {
    for (auto it = v.begin(); it != v.end(); ++it) {
        if (*it == 0) {
            v.erase(it); // ok
            break;
        }
    }
}

void other_container(const std::vector<int> &v, std::vector<int> &w) {
    for (int x : v)
        w.push_back(x); // ok
}

void node_based(std::list<int> &l) {
    for (int x : l)
        if (x == 1)
            l.push_back(2); // ok
}

void by_index(std::vector<int> &v) {
    for (size_t i = 0; i < v.size(); i++)
        if (v[i] == 0)
            v.erase(v.begin() + i); // ok
}
