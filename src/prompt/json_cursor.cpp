#include "prompt/json_cursor.hpp"

#include "prompt/byte_search.hpp"
#include "prompt/string_scan.hpp"
#include "prompt/text_escapes.hpp"

namespace prefix_router::prompt {
namespace {

constexpr bool is_space(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

constexpr bool ends_scalar(char c) {
    return is_space(c) || c == ',' || c == ':' || c == '"' || is_bracket(c);
}

JsonKind scalar_kind(std::string_view text) {
    if (text == "true") return JsonKind::True;
    if (text == "false") return JsonKind::False;
    if (text == "null") return JsonKind::Null;
    return JsonKind::Scalar;
}

}  // namespace

bool JsonValue::is_empty() const {
    if (!is_array() && !is_object()) return false;
    const char* p = begin + 1;
    while (p != end() && is_space(*p)) ++p;
    return p + 1 == end();
}

Word::Word(const JsonValue& value) {
    if (value.is_string()) text_ = value.plain ? value.text() : decode_text(value.text(), decoded_);
}

JsonCursor::JsonCursor(std::string_view text, StringTape& tape)
    : p_(text.data()), end_(text.data() + text.size()), search_end_(end_), recording_(&tape) {}

JsonCursor::JsonCursor(const JsonValue& value, const StringTape& tape) {
    const std::ptrdiff_t quote = value.is_string() ? 1 : 0;
    if (value.kind == JsonKind::None) return;
    p_ = value.begin - quote;
    end_ = value.end() + quote;
    search_end_ = tape.text_end();
    replay_ = StringTape::Replay(tape, p_);
}

void JsonCursor::skip_space() {
    while (p_ != end_ && is_space(*p_)) ++p_;
}

bool JsonCursor::fail() {
    failed_ = true;
    p_ = end_;
    return false;
}

JsonKind JsonCursor::peek() {
    skip_space();
    if (p_ == end_) return JsonKind::None;
    switch (*p_) {
        case '"':
            return JsonKind::String;
        case '{':
            return JsonKind::Object;
        case '[':
            return JsonKind::Array;
        case ',':
        case ':':
        case '}':
        case ']':
            return JsonKind::None;
        default:
            return JsonKind::Scalar;
    }
}

bool JsonCursor::enter_object() {
    if (peek() != JsonKind::Object) return false;
    ++p_;
    return true;
}

bool JsonCursor::enter_array() {
    if (peek() != JsonKind::Array) return false;
    ++p_;
    return true;
}

bool JsonCursor::next_field() {
    skip_space();
    if (p_ != end_ && *p_ == ',') {
        ++p_;
        skip_space();
    }
    if (p_ == end_) return fail();
    if (*p_ == '}') {
        ++p_;
        return false;
    }
    return read_key();
}

bool JsonCursor::read_key() {
    if (*p_ != '"') return fail();
    const char* const begin = p_ + 1;
    if (const char* const quote = short_string_end(begin, search_end_); quote != nullptr) {
        key_ = {begin, static_cast<std::size_t>(quote - begin)};
        p_ = quote + 1;
    } else {
        long_key_ = take_long_string(begin);
        key_ = long_key_.text();
        if (key_.find('\\') != std::string_view::npos && key_.size() <= decoded_key_.size())
            key_ = decode_text(key_, decoded_key_);
    }
    skip_space();
    if (failed_ || p_ == end_ || *p_ != ':') return fail();
    ++p_;
    return true;
}

JsonValue JsonCursor::written_key() const {
    if (key_.data() == decoded_key_.data() || key_.data() == long_key_.begin) return long_key_;
    return JsonValue::between(key_.data(), key_.data() + key_.size(), JsonKind::String, true);
}

bool JsonCursor::next_element() {
    skip_space();
    if (p_ != end_ && *p_ == ',') {
        ++p_;
        skip_space();
    }
    if (p_ == end_) return fail();
    if (*p_ == ']') {
        ++p_;
        return false;
    }
    return true;
}

JsonValue JsonCursor::take() {
    switch (peek()) {
        case JsonKind::String:
            return take_string();
        case JsonKind::Object:
        case JsonKind::Array:
            return take_container();
        case JsonKind::Scalar:
            return take_scalar();
        default:
            fail();
            return {};
    }
}

JsonValue JsonCursor::take_string() {
    const char* const begin = p_ + 1;
    const char* const quote = short_string_end(begin, search_end_);
    if (quote == nullptr) return take_long_string(begin);
    p_ = quote + 1;
    return JsonValue::between(begin, quote, JsonKind::String, true);
}

JsonValue JsonCursor::take_long_string(const char* begin) {
    const StringTape::Entry* known = replay_.find(begin);
    const StringEnd string =
        known != nullptr ? StringEnd{known->end, known->plain} : scan_string(begin, search_end_);
    if (string.quote >= end_) {
        fail();
        return {};
    }
    if (recording_ != nullptr) recording_->record(begin, string.quote, string.plain);
    p_ = string.quote + 1;
    return JsonValue::between(begin, string.quote, JsonKind::String, string.plain);
}

JsonValue JsonCursor::take_container() {
    const char* const begin = p_;
    const JsonKind kind = *p_ == '{' ? JsonKind::Object : JsonKind::Array;
    std::size_t depth = 0;
    for (;;) {
        // Mostly what matters comes next, or behind a separator and a blank.
        while (p_ != end_ && (*p_ == ',' || *p_ == ':' || *p_ == ' ')) ++p_;
        if (p_ == end_) break;
        if (*p_ == '"') {
            take_string();
            continue;
        }
        if (!is_bracket(*p_)) {
            p_ = find_structural(p_, end_);
            continue;
        }
        depth = is_opening(*p_++) ? depth + 1 : depth - 1;
        if (depth == 0) return JsonValue::between(begin, p_, kind, true);
    }
    fail();
    return {};
}

JsonValue JsonCursor::take_scalar() {
    const char* const begin = p_;
    while (p_ != end_ && !ends_scalar(*p_)) ++p_;
    JsonValue value = JsonValue::between(begin, p_, JsonKind::Scalar, true);
    value.kind = scalar_kind(value.text());
    return value;
}

}  // namespace prefix_router::prompt
