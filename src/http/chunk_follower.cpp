#include "prefix_router/http/chunk_follower.hpp"

#include <algorithm>

#include "http/ascii.hpp"

namespace prefix_router::http {
namespace {

// Extensions and trailers that payload does not outweigh: without a bound, one byte of payload per
// kilobyte of extension would keep a thread busy for ever.
constexpr std::uint32_t kMaxOverhead = 16 * 1024;
constexpr int kMaxDigits = 16;
constexpr std::uint64_t kMaxChunk = std::uint64_t{1} << 60;

int hex_value(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = to_lower(c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

std::string_view ChunkFollower::next(std::string_view& bytes) {
    std::size_t at = 0;
    for (; at < bytes.size() && state_ != State::Done && state_ != State::Broken; ++at) {
        if (state_ == State::Data) {
            const std::string_view payload = bytes.substr(at, remaining_);
            bytes.remove_prefix(at + payload.size());
            remaining_ -= payload.size();
            state_ = remaining_ == 0 ? State::DataReturn : State::Data;
            return payload;
        }
        state_ = step(bytes[at]);
    }
    bytes.remove_prefix(at);
    return {};
}

ChunkFollower::State ChunkFollower::step(char c) {
    switch (state_) {
        case State::SizeStart:
            remaining_ = 0;
            digits_ = 0;
            return hex_value(c) < 0 ? State::Broken : step_size(c);
        case State::Size:
            return step_size(c);
        case State::ExtensionSpace:  // only before a semicolon
            return c == ';'                ? State::Extension
                   : c == ' ' || c == '\t' ? spend_overhead(State::ExtensionSpace)
                                           : State::Broken;
        case State::Extension:
            return c == '\r'               ? State::SizeLineFeed
                   : is_value_character(c) ? spend_overhead(State::Extension)
                                           : State::Broken;
        case State::SizeLineFeed:
            overhead_ -= static_cast<std::uint32_t>(std::min<std::uint64_t>(overhead_, remaining_));
            return c != '\n' ? State::Broken : remaining_ > 0 ? State::Data : State::TrailerStart;
        case State::DataReturn:
            return c == '\r' ? State::DataLineFeed : State::Broken;
        case State::DataLineFeed:
            return c == '\n' ? State::SizeStart : State::Broken;
        case State::TrailerStart:
        case State::TrailerName:
        case State::TrailerValue:
        case State::TrailerLineFeed:
            return step_trailer(c);
        case State::EndLineFeed:
            return c == '\n' ? State::Done : State::Broken;
        case State::Data:
        case State::Done:
        case State::Broken:
            break;
    }
    return State::Broken;
}

ChunkFollower::State ChunkFollower::step_size(char c) {
    const int value = hex_value(c);
    if (value >= 0) {
        remaining_ = remaining_ * 16 + static_cast<std::uint64_t>(value);
        return ++digits_ > kMaxDigits || remaining_ > kMaxChunk ? State::Broken : State::Size;
    }
    switch (c) {
        case '\r':
            return State::SizeLineFeed;
        case ';':
            return State::Extension;
        case ' ':
        case '\t':
            return State::ExtensionSpace;
        default:
            return State::Broken;
    }
}

ChunkFollower::State ChunkFollower::step_trailer(char c) {
    switch (state_) {
        case State::TrailerStart:
            return c == '\r'               ? State::EndLineFeed
                   : is_token_character(c) ? spend_overhead(State::TrailerName)
                                           : State::Broken;
        case State::TrailerName:
            return c == ':'                ? State::TrailerValue
                   : is_token_character(c) ? spend_overhead(State::TrailerName)
                                           : State::Broken;
        case State::TrailerValue:
            return c == '\r'               ? State::TrailerLineFeed
                   : is_value_character(c) ? spend_overhead(State::TrailerValue)
                                           : State::Broken;
        default:
            return c == '\n' ? State::TrailerStart : State::Broken;
    }
}

ChunkFollower::State ChunkFollower::spend_overhead(State next) {
    return ++overhead_ > kMaxOverhead ? State::Broken : next;
}

}  // namespace prefix_router::http
