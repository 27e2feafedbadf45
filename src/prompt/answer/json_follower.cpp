#include "prompt/answer/json_follower.hpp"

#include <algorithm>
#include <cstring>

#include "prompt/string_scan.hpp"

namespace prefix_router::prompt {
namespace {

enum : std::uint8_t { kBeforeValue = 1, kEndsScalar = 2 };

constexpr auto kClasses = [] {
    std::array<std::uint8_t, 256> classes{};
    const auto add = [&classes](std::string_view characters, std::uint8_t character_class) {
        for (const char c : characters) classes[static_cast<unsigned char>(c)] |= character_class;
    };
    add(" \n\r\t,:", kBeforeValue);
    add(" \n\r\t,{}[]\"", kEndsScalar);
    return classes;
}();

constexpr bool is_of(std::uint8_t character_class, char c) {
    return (kClasses[static_cast<unsigned char>(c)] & character_class) != 0;
}

std::string_view between(const char* begin, const char* end) {
    return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

void JsonFollower::reset() {
    state_ = State::Value;
    node_ = Node::Root;
    skips_next_ = false;
    depth_ = 0;
    token_size_ = 0;
}

void JsonFollower::feed(std::string_view piece) {
    const char* p = piece.data();
    const char* const end = p + piece.size();
    while (p != end) {
        switch (state_) {
            case State::Value:
                p = value(p, end);
                break;
            case State::Key:
                p = key(p, end);
                break;
            case State::KeyString:
                p = key_string(p, end);
                break;
            case State::String:
                p = string(p, end);
                break;
            case State::Scalar:
                p = scalar(p, end);
                break;
            case State::Skip:
                p = skip(p, end);
                break;
        }
    }
}

const char* JsonFollower::value(const char* p, const char* end) {
    while (is_of(kBeforeValue, *p))
        if (++p == end) return p;
    switch (*p) {
        case '"':
            state_ = State::String;
            return p + 1;
        case '{':
        case '[':
            open(*p == '{');
            return p + 1;
        case '}':
        case ']':
            close();
            return p + 1;
        default:
            state_ = State::Scalar;
            token_size_ = 0;
            return p;
    }
}

void JsonFollower::open(bool is_object) {
    const bool is_captured = node_ == Node::ToolArguments;
    if (node_ == Node::Ignore || is_captured || depth_ == kMaxDepth) {
        if (is_captured) events_->json_piece(is_object ? "{" : "[");
        state_ = State::Skip;
        skip_depth_ = 1;
        skipping_string_ = false;
        return;
    }
    nodes_[depth_] = node_;
    is_object_[depth_] = is_object;
    ++depth_;
    if (is_object) events_->begin_object(node_);
    state_ = is_object ? State::Key : State::Value;
}

void JsonFollower::close() {
    if (depth_ == 0) return reset();
    --depth_;
    node_ = nodes_[depth_];
    value_done();
}

void JsonFollower::value_done() {
    state_ = in_object() ? State::Key : State::Value;
    node_ = depth_ == 0 ? Node::Root : nodes_[depth_ - 1];
}

const char* JsonFollower::key(const char* p, const char* end) {
    while (*p != '"') {
        if (*p == '}' || *p == ']') {
            close();
            return p + 1;
        }
        if (++p == end) return p;
    }
    state_ = State::KeyString;
    token_size_ = 0;
    token_is_cut_ = false;
    return p + 1;
}

const char* JsonFollower::string_end(const char* p, const char* end) {
    if (!skips_next_) {
        if (const char* const quote = short_string_end(p, end); quote != nullptr) return quote;
    }
    if (skips_next_ && p != end) {
        skips_next_ = false;
        ++p;
    }
    for (;;) {
        p = find_string_special(p, end);
        if (p == end || *p == '"') return p;
        if (end - p < 2) {
            skips_next_ = true;
            return end;
        }
        p += 2;
    }
}

void JsonFollower::keep(const char* begin, const char* end) {
    const std::size_t room = kMaxToken - token_size_;
    const auto size = static_cast<std::size_t>(end - begin);
    token_is_cut_ |= size > room;
    std::memcpy(token_.data() + token_size_, begin, std::min(size, room));
    token_size_ = static_cast<std::uint8_t>(token_size_ + std::min(size, room));
}

const char* JsonFollower::key_string(const char* p, const char* end) {
    const char* const quote = string_end(p, end);
    std::string_view name = between(p, quote);
    if (quote == end || token_size_ != 0) {
        keep(p, quote);
        if (quote == end) return end;
        name = {token_.data(), token_size_};
    }
    node_ = token_is_cut_ ? Node::Ignore : events_->child(nodes_[depth_ - 1], name);
    state_ = State::Value;
    return quote + 1;
}

const char* JsonFollower::string(const char* p, const char* end) {
    const char* const quote = string_end(p, end);
    if (node_ != Node::Ignore && quote != p) events_->string_piece(node_, between(p, quote));
    if (quote == end) return end;
    if (node_ != Node::Ignore) events_->string_end(node_);
    value_done();
    return quote + 1;
}

const char* JsonFollower::scalar(const char* p, const char* end) {
    const char* const begin = p;
    while (p != end && !is_of(kEndsScalar, *p)) ++p;
    if (node_ != Node::Ignore) keep(begin, p);
    if (p == end) return p;
    if (node_ != Node::Ignore) events_->scalar(node_, {token_.data(), token_size_});
    token_size_ = 0;
    value_done();
    return p;
}

const char* JsonFollower::skip(const char* p, const char* end) {
    const char* const begin = p;
    while (p != end && skip_depth_ != 0) {
        if (skipping_string_) {
            p = string_end(p, end);
            if (p == end) break;
            skipping_string_ = false;
            ++p;
            continue;
        }
        p = find_structural(p, end);
        if (p == end) break;
        if (*p == '"')
            skipping_string_ = true;
        else
            skip_depth_ += is_opening(*p) ? 1U : ~0U;
        ++p;
    }
    if (node_ == Node::ToolArguments) events_->json_piece(between(begin, p));
    if (skip_depth_ == 0) value_done();
    return p;
}

}  // namespace prefix_router::prompt
