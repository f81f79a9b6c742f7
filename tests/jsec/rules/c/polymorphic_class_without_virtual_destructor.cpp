class Channel {
public:
    virtual void send(int m) = 0;
    ~Channel(); // expect: polymorphic-class-without-virtual-destructor
};

class Implied { // expect: polymorphic-class-without-virtual-destructor
public:
    virtual void run();
};

struct Open { // expect: polymorphic-class-without-virtual-destructor
    virtual int value() const { return 1; }
};

class Good { // ok
public:
    virtual ~Good() = default;
    virtual void run();
};

class Protected { // ok
public:
    virtual void run();
protected:
    ~Protected() = default;
};

class Final final { // ok
public:
    virtual void run();
};

class Derived : public Good { // ok
public:
    void run() override;
    virtual void more();
};

class Plain { // ok
public:
    ~Plain();
    void run();
};
