#include "prompt/text_hash.hpp"

#include <algorithm>
#include <cstring>

namespace prefix_router::prompt {

void TextHash::add(std::string_view bytes) {
    if (bytes.empty()) return;
    if (fill_ != 0) {
        const std::size_t count = std::min(kBlock - fill_, bytes.size());
        std::memcpy(buffer_.data() + fill_, bytes.data(), count);
        fill_ += count;
        bytes.remove_prefix(count);
        if (fill_ < kBlock) return;
        hash_ = chained({buffer_.data(), kBlock});
        fill_ = 0;
    }
    for (; bytes.size() >= kBlock; bytes.remove_prefix(kBlock))
        hash_ = chained(bytes.substr(0, kBlock));
    std::memcpy(buffer_.data(), bytes.data(), bytes.size());
    fill_ = bytes.size();
}

std::uint64_t TextHash::digest() const {
    return chained({buffer_.data(), fill_});
}

std::uint64_t TextHash::chained(std::string_view block) const {
    return keyed_ != nullptr ? mix(hash_, (*keyed_)(block)) : hash_bytes(block, hash_);
}

}  // namespace prefix_router::prompt
