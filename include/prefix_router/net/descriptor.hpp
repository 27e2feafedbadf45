#pragma once

#include <utility>

#include "prefix_router/base/error.hpp"

namespace prefix_router::net {

/// A file descriptor that is closed when its owner goes; empty or owned by exactly one. Not
/// thread-safe.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();

    bool is_open() const { return number_ >= 0; }
    int number() const { return number_; }
    /// The caller closes it.
    int release() { return std::exchange(number_, -1); }
    /// Another descriptor of the same socket. Error: Io.
    Result<Descriptor> duplicate() const;

  private:
    int number_ = -1;
};

}  // namespace prefix_router::net
