#include <mutex>

class Queue {
  public:
    int put(int item) {
        lock_.lock();
        if (item < 0)
            return -1; // expect: missing-unlock
        lock_.unlock();
        return 0;
    }

    int put_guarded(int item) {
        std::lock_guard<std::mutex> hold(lock_);
        return item < 0 ? -1 : 0; // ok
    }

  private:
    std::mutex lock_;
};
