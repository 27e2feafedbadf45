#pragma once

#include <cstddef>

namespace prefix_router::prefix {

/// A range of zeroed address space that takes physical memory page by page as it is written, and
/// gives it back on request. Arrays inside can grow in place, without copying and without
/// fragmenting the heap.
class Reservation {
  public:
    static constexpr std::size_t kPageBytes = 4096;

    /// Throws std::bad_alloc when the address space is refused.
    explicit Reservation(std::size_t bytes);
    ~Reservation();
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;

    std::byte* data() const { return data_; }
    /// Gives back whole pages; they read as zero afterwards.
    void discard(std::size_t offset, std::size_t bytes);

  private:
    std::byte* data_;
    std::size_t bytes_;
};

}  // namespace prefix_router::prefix
