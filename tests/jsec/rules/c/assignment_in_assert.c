#include <assert.h>

int next(void);

void states(int state, int count) {
    assert(state = 1); // expect: assignment-in-assert
    assert(count++ < 3); // expect: assignment-in-assert
    assert((state = next()) > 0); // expect: assignment-in-assert
    assert(state == 1); // ok
    assert(count + 1 < 3 && "count"); // ok
    assert(next() >= 0); // ok
}

#define ASSERT(expr) do { if (!(expr)) abort(); } while (0)
#define Q_ASSERT(expr) assert(expr)

int checks_of_its_own(int state) {
    ASSERT((state = next()) > 0); // ok
    Q_ASSERT((state = next()) > 0); // expect: assignment-in-assert
    if (!assert((state = next()) > 0)) // ok
        return 1;
    return state;
}
