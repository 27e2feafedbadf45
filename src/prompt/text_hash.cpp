#include "prompt/text_hash.hpp"

#include <algorithm>
#include <cstring>

#include "prefix_router/base/hash.hpp"

namespace prefix_router::prompt {

void TextHash::add(std::string_view bytes) {
    if (bytes.empty()) return;
    if (fill_ != 0) {
        const std::size_t count = std::min(kBlock - fill_, bytes.size());
        std::memcpy(buffer_.data() + fill_, bytes.data(), count);
        fill_ += count;
        bytes.remove_prefix(count);
        if (fill_ < kBlock) return;
        hash_ = hash_bytes({buffer_.data(), kBlock}, hash_);
        fill_ = 0;
    }
    for (; bytes.size() >= kBlock; bytes.remove_prefix(kBlock))
        hash_ = hash_bytes(bytes.substr(0, kBlock), hash_);
    std::memcpy(buffer_.data(), bytes.data(), bytes.size());
    fill_ = bytes.size();
}

std::uint64_t TextHash::digest() const {
    return hash_bytes({buffer_.data(), fill_}, hash_);
}

}  // namespace prefix_router::prompt
