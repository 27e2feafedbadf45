#pragma once

#include <cstdint>
#include <string_view>

namespace prefix_router::prompt {

/// Looks for <think> and </think> in text that comes in pieces.
class ThinkWatch {
  public:
    enum class Seen : std::uint8_t { Nothing, Opening, Closing };

    /// Takes text off the front: all, or up to the end of a tag. Fed no more once one was seen.
    Seen feed(std::string_view& text) {
        while (!text.empty()) {
            if (matched_ == 0) {
                const std::size_t at = text.find('<');
                if (at == std::string_view::npos) break;
                text.remove_prefix(at);
                is_closing_ = false;
            }
            const Seen seen = step(text.front());
            text.remove_prefix(1);
            if (seen != Seen::Nothing) return seen;
        }
        text = {};
        return Seen::Nothing;
    }

  private:
    Seen step(char c) {
        constexpr std::string_view kTag = "<think>";
        if (matched_ == 1 && c == '/' && !is_closing_) {
            is_closing_ = true;
        } else if (c == kTag[matched_]) {
            if (++matched_ == kTag.size()) return is_closing_ ? Seen::Closing : Seen::Opening;
        } else {
            matched_ = c == '<' ? 1 : 0;
            is_closing_ = false;
        }
        return Seen::Nothing;
    }

    std::uint8_t matched_ = 0;
    bool is_closing_ = false;
};

}  // namespace prefix_router::prompt
