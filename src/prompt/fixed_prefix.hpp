#pragma once

#include <cstdint>
#include <string_view>

#include "prompt/text_hash.hpp"

namespace prefix_router::prompt {

/// Hash of the first characters of a conversation's text, for strategy `prefix_aware`. Characters
/// are decoded code points; the text comes in canonical form, whole escapes at a time.
class FixedPrefix {
  public:
    void start(std::uint32_t characters) {
        left_ = characters;
        hash_.start(0);
    }
    void add(std::string_view canonical) {
        if (left_ != 0) add_some(canonical);
    }
    std::uint64_t digest() const { return hash_.digest(); }

  private:
    void add_some(std::string_view canonical);

    std::uint64_t left_ = 0;
    TextHash hash_;
};

}  // namespace prefix_router::prompt
