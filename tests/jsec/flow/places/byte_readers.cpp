/* The same over methods of a class. */
#include <cstdint>
#include <cstring>

class Reader {
  public:
    uint8_t byte() { return at_ < size_ ? data_[at_++] : 0; }
    uint16_t half() { uint16_t a = byte(); return static_cast<uint16_t>(a << 8 | byte()); }
    uint32_t word() { uint32_t a = half(); return a << 16 | half(); }
    size_t left() const { return size_ - at_; }
    const uint8_t *here() const { return data_ + at_; }
  private:
    const uint8_t *data_;
    size_t size_, at_;
};
class Frame {
  public:
    bool name(Reader &r);
    bool name_tested(Reader &r);
    void ids(Reader &r);
    void ids_tested(Reader &r);
  private:
    char name_[40];
    uint32_t ids_[8];
    uint16_t count_;
};
bool Frame::name(Reader &r) {
    uint16_t n = r.half();
    if (n > r.left()) return false;
    memcpy(name_, r.here(), n); // expect: buffer-write-heap
    return true;
}
bool Frame::name_tested(Reader &r) {
    uint16_t n = r.half();
    if (n > r.left() || n > sizeof(name_)) return false;
    memcpy(name_, r.here(), n);
    return true;
}
void Frame::ids(Reader &r) {
    ids_[r.byte()] = 1; // expect: buffer-write-heap
}
void Frame::ids_tested(Reader &r) {
    uint8_t i = r.byte();
    if (i < 8) ids_[i] = 1;
}
