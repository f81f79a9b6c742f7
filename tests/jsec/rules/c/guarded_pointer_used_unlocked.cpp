#include <memory>
#include <mutex>

struct Listener {
    int state;
};

struct Service {
    std::shared_ptr<Listener> listener_;
    std::recursive_mutex mutex_;
    int count_;

    void start() {
        {
            std::unique_lock<std::recursive_mutex> lock(mutex_);
            if (listener_ == nullptr)
                listener_ = std::make_shared<Listener>();
        }
        listener_->state = 1; // expect: guarded-pointer-used-unlocked
    }

    void start_with_copy() {
        std::shared_ptr<Listener> listener;
        {
            std::unique_lock<std::recursive_mutex> lock(mutex_);
            if (listener_ == nullptr)
                listener_ = std::make_shared<Listener>();
            listener = listener_;
        }
        listener->state = 1; // ok
    }

    void start_locked() {
        std::unique_lock<std::recursive_mutex> lock(mutex_);
        if (listener_ == nullptr)
            listener_ = std::make_shared<Listener>();
        listener_->state = 1; // ok
    }

    void start_unlocked_early() {
        std::unique_lock<std::recursive_mutex> lock(mutex_);
        if (listener_ == nullptr)
            listener_ = std::make_shared<Listener>();
        lock.unlock();
        listener_->state = 1; // expect: guarded-pointer-used-unlocked
    }

    void locked_again() {
        {
            std::unique_lock<std::recursive_mutex> lock(mutex_);
            if (listener_ == nullptr)
                listener_ = std::make_shared<Listener>();
        }
        std::unique_lock<std::recursive_mutex> lock(mutex_);
        listener_->state = 1; // ok
    }
};
