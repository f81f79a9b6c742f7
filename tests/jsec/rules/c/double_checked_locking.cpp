#include <atomic>
#include <memory>
#include <mutex>

struct Client {
    int fd;
};

static Client *client = nullptr;
static std::atomic<Client *> atomic_client;
static std::mutex client_mutex;
static bool ready = false;

void close_client() {
    if (client == nullptr) // expect: double-checked-locking
        return;
    client_mutex.lock();
    delete client;
    client = nullptr;
    client_mutex.unlock();
}

void close_client_locked() {
    std::lock_guard<std::mutex> guard(client_mutex);
    if (client == nullptr) // ok
        return;
    delete client;
    client = nullptr;
}

void only_read() {
    if (client == nullptr) // ok
        return;
    std::lock_guard<std::mutex> guard(client_mutex);
    client->fd = 1;
}

void atomic_test() {
    if (atomic_client != nullptr) // ok
        return;
    std::lock_guard<std::mutex> guard(client_mutex);
    atomic_client = new Client();
}

void flag() {
    if (ready) // expect: double-checked-locking
        return;
    std::lock_guard<std::mutex> guard(client_mutex);
    ready = true;
}

void flag_tested_again() {
    if (ready) // ok
        return;
    std::lock_guard<std::mutex> guard(client_mutex);
    if (!ready)
        ready = true;
}

void local_variable(Client *given) {
    if (given == nullptr) // ok
        return;
    std::lock_guard<std::mutex> guard(client_mutex);
    given = nullptr;
}

template <typename T> struct Single {
    static std::shared_ptr<T> instance_;
    static std::mutex mutex_;

    static std::shared_ptr<T> get() {
        if (instance_ == nullptr) { // expect: double-checked-locking
            std::lock_guard<std::mutex> lock(mutex_);
            if (instance_ == nullptr)
                instance_ = std::make_shared<T>();
        }
        return instance_;
    }

    static std::shared_ptr<T> get_locked() {
        std::lock_guard<std::mutex> lock(mutex_);
        if (instance_ == nullptr) // ok
            instance_ = std::make_shared<T>();
        return instance_;
    }
};
