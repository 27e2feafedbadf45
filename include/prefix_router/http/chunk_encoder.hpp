#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace prefix_router::http {

/// The size line of one chunk: "1a2b\r\n". The sender writes view(), the piece, kChunkEnd in one
/// gathering write; never for an empty piece, which would end the body.
class ChunkSizeLine {
  public:
    /// `size` >= 1.
    explicit ChunkSizeLine(std::uint64_t size);
    std::string_view view() const { return {text_.data() + begin_, text_.size() - begin_}; }

  private:
    static constexpr std::size_t kSize = 18;  // 16 hex digits and CRLF

    std::array<char, kSize> text_;  // right-aligned
    std::size_t begin_;
};

inline constexpr std::string_view kChunkEnd = "\r\n";
/// Ends a chunked body. Sent only when the backend's body ended as it should.
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace prefix_router::http
