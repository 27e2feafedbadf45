#include "prompt/order_free_hash.hpp"

#include <array>

#include "prefix_router/base/hash.hpp"

#include "prompt/text_escapes.hpp"
#include "prompt/text_hash.hpp"

namespace prefix_router::prompt {
namespace {

constexpr std::size_t kMaxDepth = 8;

bool is_ignored(std::string_view key) {
    return key == "cache_control" || key == "id" || key == "uuid";
}

std::uint64_t hash_leaf(const JsonValue& value) {
    if (value.is_string()) return hash_string(value);
    return mix(hash_bytes(value.text(), 0), 1);  // the number 1 is not the string "1"
}

/// Walks without recursion: what lies deeper than kMaxDepth counts as it is written.
class Walk {
  public:
    Walk(const JsonValue& value, const StringTape& tape) : cursor_(value, tape) {}

    std::uint64_t sum() {
        value(0);
        while (depth_ != 0 && !cursor_.failed()) step();
        return sum_;
    }

  private:
    struct Level {
        bool is_object;
        std::uint64_t key;
    };

    void step() {
        const Level level = levels_[depth_ - 1];
        if (!(level.is_object ? cursor_.next_field() : cursor_.next_element())) {
            --depth_;
        } else if (!level.is_object) {
            value(level.key);
        } else if (is_ignored(cursor_.key())) {
            cursor_.skip();
        } else {
            value(hash_bytes(cursor_.key(), level.key));
        }
    }

    void value(std::uint64_t key) {
        const bool may_enter = depth_ < kMaxDepth;
        if (may_enter && cursor_.enter_object()) {
            levels_[depth_++] = {true, key};
        } else if (may_enter && cursor_.enter_array()) {
            levels_[depth_++] = {false, key};
        } else {
            sum_ += mix(key, hash_leaf(cursor_.take()));
        }
    }

    JsonCursor cursor_;
    std::array<Level, kMaxDepth> levels_{};
    std::size_t depth_ = 0;
    std::uint64_t sum_ = 0;
};

}  // namespace

std::uint64_t hash_text(std::string_view text) {
    if (text.size() < TextHash::kBlock) return hash_bytes(text, 0);
    TextHash hash;
    hash.start(0);
    hash.add(text);
    return hash.digest();
}

std::uint64_t hash_string(const JsonValue& string) {
    if (string.plain) return hash_text(string.text());
    TextHash hash;
    hash.start(0);
    const auto add = [&hash](std::string_view piece) { hash.add(piece); };
    EscapeReader<EscapeStyle::Canonical> reader;
    reader.feed(string.text(), add);
    reader.finish(add);
    return hash.digest();
}

std::uint64_t order_free_hash(const JsonValue& value, const StringTape& tape) {
    if (value.is_string()) return mix(0, hash_string(value));  // what the walk would give, sooner
    return Walk(value, tape).sum();
}

}  // namespace prefix_router::prompt
