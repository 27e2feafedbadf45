#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "prompt/string_tape.hpp"

namespace prefix_router::prompt {

enum class JsonKind : std::uint8_t { None, String, Scalar, True, False, Null, Object, Array };

/// One JSON value as it stands in the body. Strings are kept escaped and without their quotes.
///
/// Only `kind` is reset when a value is forgotten, since dozens of them are for each request: what
/// else a value of kind None holds means nothing. Sixteen bytes, so that it is passed in registers:
/// through memory it costs a stall where it is read back in other pieces than it was written.
struct JsonValue {
    const char* begin = nullptr;
    std::uint32_t size = 0;
    JsonKind kind = JsonKind::None;
    bool plain = true;  ///< a string without \uXXXX and \/: its raw bytes are its canonical form

    static JsonValue between(const char* begin, const char* end, JsonKind kind, bool plain) {
        return {begin, static_cast<std::uint32_t>(end - begin), kind, plain};
    }
    const char* end() const { return begin + size; }
    std::string_view text() const {
        if (kind == JsonKind::None) return {};
        return {begin, size};
    }
    void forget() { kind = JsonKind::None; }
    bool is_string() const { return kind == JsonKind::String; }
    bool is_object() const { return kind == JsonKind::Object; }
    bool is_array() const { return kind == JsonKind::Array; }
    /// [] or {}.
    bool is_empty() const;
    /// Present and not null.
    explicit operator bool() const { return kind != JsonKind::None && kind != JsonKind::Null; }
};

/// A short string that names something (a role, a type), however it is spelled; "" when `value` is
/// no string. One that does not fit is cut.
class Word {
  public:
    explicit Word(const JsonValue& value);
    std::string_view text() const { return text_; }

  private:
    std::array<char, 32> decoded_;
    std::string_view text_;
};

/// Walks JSON text forward, once. Lenient: it finds its way through any bytes in linear time,
/// without recursion, and fails (failed(), at the end) where no structure can be made out. What is
/// accepted beyond JSON (missing commas, bad literals, mismatched brackets inside a skipped value)
/// only costs a useless key.
///
///     if (cursor.enter_object())
///         while (cursor.next_field())
///             if (cursor.key() == "role") role = cursor.take(); else cursor.skip();
///
/// Every field or element must be consumed: by take(), skip() or entering it and walking to its
/// end.
class JsonCursor {
  public:
    static constexpr std::size_t kMaxText = 0xffffffffU;  ///< JsonValue::size holds 32 bits

    /// Reads the whole of `text`, kMaxText at most, and records its long strings on `tape`.
    JsonCursor(std::string_view text, StringTape& tape);
    /// Walks a value that was taken before, with the tape's help.
    JsonCursor(const JsonValue& value, const StringTape& tape);

    bool failed() const { return failed_; }

    JsonKind peek();
    bool enter_object();  ///< false, and nothing consumed, unless an object comes next
    bool enter_array();
    bool next_field();
    bool next_element();
    /// Valid until the next next_field(). Decoded, unless it has escapes and more than 128 bytes:
    /// no name that is looked for is so long.
    std::string_view key() const { return key_; }
    JsonValue written_key() const;  ///< as it stands in the text

    JsonValue take();
    void skip() { take(); }

    const char* position() const { return p_; }
    /// Goes back to a position of before, also after a failure.
    void rewind(const char* position) {
        p_ = position;
        failed_ = false;
    }

  private:
    void skip_space();
    bool fail();
    bool read_key();
    JsonValue take_string();
    JsonValue take_long_string(const char* begin);
    JsonValue take_container();
    JsonValue take_scalar();

    const char* p_ = nullptr;
    const char* end_ = nullptr;
    /// As far as strings may be searched: the end of the body also inside of a value. A string of a
    /// value that was taken ends in it, and vectors need room behind.
    const char* search_end_ = nullptr;
    StringTape* recording_ = nullptr;
    StringTape::Replay replay_;
    std::string_view key_;
    JsonValue long_key_;  ///< the last one that took a search
    bool failed_ = false;
    std::array<char, 128> decoded_key_;
};

}  // namespace prefix_router::prompt
