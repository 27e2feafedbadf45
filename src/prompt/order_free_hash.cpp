#include "prompt/order_free_hash.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "prompt/text_escapes.hpp"
#include "prompt/text_hash.hpp"

namespace prefix_router::prompt {
namespace {

constexpr std::size_t kMaxDepth = 8;

bool is_ignored(std::string_view key) {
    return key == "cache_control" || key == "id" || key == "uuid";
}

/// The first bytes of a text that comes in pieces, and how long it is.
class Sample {
  public:
    void add(std::string_view bytes) {
        if (bytes.empty()) return;
        const std::size_t count = std::min(bytes.size(), first_.size() - kept());
        std::memcpy(first_.data() + kept(), bytes.data(), count);
        size_ += bytes.size();
    }
    std::uint64_t digest() const {
        const std::uint64_t hash = hash_bytes({first_.data(), kept()}, 0);
        return size_ <= first_.size() ? hash : mix(hash, size_);
    }

  private:
    std::size_t kept() const { return std::min(size_, first_.size()); }

    std::array<char, 128> first_;
    std::size_t size_ = 0;
};

/// A text that comes in pieces; where they are cut does not matter.
class LeafHash {
  public:
    explicit LeafHash(const KeyedHash& keyed) : text_(&keyed) { text_.start(0); }
    void add(std::string_view bytes) {
        text_.add(bytes);
        sample_.add(bytes);
    }
    StandIn digest() const { return {text_.digest(), sample_.digest()}; }

  private:
    TextHash text_;
    Sample sample_;
};

StandIn leaf(const JsonValue& value, const KeyedHash& keyed) {
    if (value.is_string()) return stand_in(value, keyed);
    LeafHash hash(keyed);
    hash.add(value.text());
    return hash.digest().mixed(1);  // the number 1 is not the string "1"
}

/// Walks without recursion: what lies deeper than kMaxDepth counts as it is written.
class Walk {
  public:
    Walk(const JsonValue& value, const StringTape& tape, const KeyedHash& keyed)
        : cursor_(value, tape), keyed_(keyed) {}

    StandIn sum() {
        value({});
        while (depth_ != 0 && !cursor_.failed()) step();
        return sum_;
    }

  private:
    struct Level {
        bool is_object;
        std::uint64_t elements;
        StandIn place;
    };

    void step() {
        Level& level = levels_[depth_ - 1];
        if (!(level.is_object ? cursor_.next_field() : cursor_.next_element())) {
            --depth_;
        } else if (!level.is_object) {
            value(level.place.mixed(++level.elements));
        } else if (is_ignored(cursor_.key())) {
            cursor_.skip();
        } else {
            const std::string_view key = cursor_.key();
            value({mix(level.place.keyed, keyed_(key)), hash_bytes(key, level.place.plain)});
        }
    }

    void value(const StandIn& place) {
        const bool may_enter = depth_ < kMaxDepth;
        if (may_enter && cursor_.enter_object()) {
            levels_[depth_++] = {true, 0, place};
        } else if (may_enter && cursor_.enter_array()) {
            levels_[depth_++] = {false, 0, place};
        } else {
            const StandIn found = leaf(cursor_.take(), keyed_);
            sum_ += {mix(place.keyed, found.keyed), mix(place.plain, found.plain)};
        }
    }

    JsonCursor cursor_;
    const KeyedHash& keyed_;
    std::array<Level, kMaxDepth> levels_{};
    std::size_t depth_ = 0;
    StandIn sum_;
};

template <class Hash>
void add_string(const JsonValue& string, Hash& hash) {
    const auto add = [&hash](std::string_view piece) { hash.add(piece); };
    if (string.plain) return add(string.text());
    EscapeReader<EscapeStyle::Canonical> reader;
    reader.feed(string.text(), add);
    reader.finish(add);
}

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
    add_string(string, hash);
    return hash.digest();
}

StandIn stand_in(const JsonValue& string, const KeyedHash& keyed) {
    LeafHash hash(keyed);
    add_string(string, hash);
    return hash.digest();
}

StandIn order_free_hash(const JsonValue& value, const StringTape& tape, const KeyedHash& keyed) {
    return Walk(value, tape, keyed).sum();
}

}  // namespace prefix_router::prompt
