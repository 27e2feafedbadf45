#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace prefix_router::prompt {

/// Joins small pieces before they reach a sink that pays per call. Flush it at the end.
template <class Sink>
class PieceBuffer {
  public:
    explicit PieceBuffer(Sink sink) : sink_(sink) {}

    void operator()(std::string_view piece) {
        if (piece.size() > buffer_.size() - size_) flush();
        if (piece.size() > kDirect) {
            flush();
            sink_(piece);
            return;
        }
        std::memcpy(buffer_.data() + size_, piece.data(), piece.size());
        size_ += piece.size();
    }

    void flush() {
        if (size_ != 0) sink_(std::string_view(buffer_.data(), size_));
        size_ = 0;
    }

  private:
    static constexpr std::size_t kDirect = 256;
    Sink sink_;
    std::size_t size_ = 0;
    std::array<char, 1024> buffer_;
};

}  // namespace prefix_router::prompt
