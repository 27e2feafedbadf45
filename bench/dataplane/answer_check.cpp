#include "dataplane/answer_check.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace prefix_router::dataplane {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kLineEnd = "\r\n";

std::string lowered(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) {
        return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    });
    return lower;
}

/// The value of the field `name` (lower case, with its colon) of a lower-case head.
std::string_view field(std::string_view head, std::string_view name) {
    const auto at = head.find(name);
    if (at == std::string_view::npos) {
        return {};
    }
    const auto value = head.substr(at + name.size());
    const auto begin = value.find_first_not_of(' ');
    return value.substr(begin, value.find("\r\n") - begin);
}

bool parse(std::string_view text, std::uint64_t& value, int base) {
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    return error == std::errc() && stop == text.data() + text.size() && !text.empty();
}

}  // namespace

void AnswerCheck::begin(const Wish& wish, std::uint64_t body_hash) {
    wish_ = wish;
    expected_ = wish.streams ? first_event(body_hash) : json_answer(body_hash);
    got_.clear();
    line_.clear();
    events_ = 0;
    seen_ = 0;
    part_ = Part::Head;
    state_ = State::Open;
    closes_ = false;
}

void AnswerCheck::refuse(std::string complaint) {
    state_ = State::Wrong;
    complaint_ = std::move(complaint);
}

AnswerCheck::State AnswerCheck::feed(std::string_view bytes, std::uint64_t now,
                                     std::vector<std::uint64_t>& delays) {
    while (!bytes.empty() && state_ == State::Open) {
        switch (part_) {
            case Part::Head:
                take_head(bytes);
                break;
            case Part::ChunkSize:
            case Part::ChunkEnd:
            case Part::LastLine:
                take_line(bytes);
                break;
            case Part::Sized:
            case Part::Chunk:
                take_body(bytes, now, delays);
                break;
            case Part::Done:
                refuse("bytes behind the answer");
                break;
        }
        if (part_ == Part::Done && bytes.empty() && state_ == State::Open) {
            state_ = State::Complete;
        }
    }
    return state_;
}

void AnswerCheck::take_head(std::string_view& bytes) {
    const std::size_t before = line_.size();
    line_.append(bytes);
    const auto end = line_.find(kHeadEnd, before < kHeadEnd.size() ? 0 : before - kHeadEnd.size());
    if (end == std::string::npos) {
        bytes = {};
        return;
    }
    bytes.remove_prefix(end + kHeadEnd.size() - before);
    line_.resize(end + kLineEnd.size());
    const std::string head = lowered(line_);
    line_.clear();
    closes_ = field(head, "\r\nconnection:") == "close";
    if (!head.starts_with("http/1.1 200")) {
        refuse("not 200: " + head.substr(0, head.find('\r')));
    } else if (field(head, "\r\ntransfer-encoding:") == "chunked") {
        part_ = Part::ChunkSize;
    } else if (parse(field(head, "\r\ncontent-length:"), left_, 10) && left_ > 0) {
        part_ = Part::Sized;
    } else {
        refuse("an answer without framing");
    }
}

void AnswerCheck::take_line(std::string_view& bytes) {
    const std::size_t before = line_.size();
    const auto taken = std::min(bytes.size(), bytes.find('\n') + 1);
    line_.append(bytes.substr(0, taken == 0 ? bytes.size() : taken));
    bytes.remove_prefix(line_.size() - before);
    if (line_.ends_with(kLineEnd)) {
        line_.resize(line_.size() - kLineEnd.size());
        line_ended();
        line_.clear();
    }
}

void AnswerCheck::line_ended() {
    if (part_ == Part::ChunkSize) {
        if (!parse(lowered(line_), left_, 16)) {
            refuse("no chunk size: " + line_);
        }
        part_ = left_ == 0 ? Part::LastLine : Part::Chunk;
        return;
    }
    if (!line_.empty()) {
        refuse("a line that is not empty ends a chunk: " + line_);
    }
    if (part_ == Part::LastLine) {
        const bool is_whole =
            wish_.streams ? events_ == wish_.events + 1 : seen_ == expected_.size();
        if (!is_whole) {
            refuse("the body ended early");
        }
        part_ = Part::Done;
    } else {
        part_ = Part::ChunkSize;
    }
}

void AnswerCheck::take_body(std::string_view& bytes, std::uint64_t now,
                            std::vector<std::uint64_t>& delays) {
    const auto size = std::min<std::uint64_t>(left_, bytes.size());
    take_payload(bytes.substr(0, size), now, delays);
    bytes.remove_prefix(size);
    left_ -= size;
    if (left_ == 0) {
        part_ = part_ == Part::Chunk ? Part::ChunkEnd : Part::Done;
    }
}

void AnswerCheck::take_payload(std::string_view bytes, std::uint64_t now,
                               std::vector<std::uint64_t>& delays) {
    if (!wish_.streams) {
        if (expected_.compare(seen_, bytes.size(), bytes) != 0) {
            refuse("another body than the backend sent, or than the backend got");
        }
        seen_ += bytes.size();
        return;
    }
    while (!bytes.empty() && state_ == State::Open) {
        const auto size = std::min(expected_.size() - got_.size(), bytes.size());
        got_.append(bytes.substr(0, size));
        bytes.remove_prefix(size);
        if (got_.size() == expected_.size()) {
            check_event(now, delays);
        }
    }
}

void AnswerCheck::check_event(std::uint64_t now, std::vector<std::uint64_t>& delays) {
    const bool is_last = events_ >= wish_.events;
    if (!is_last) {
        delays.push_back(now - take_stamp(got_));
    }
    if (got_ != expected_) {
        refuse("another event than the backend sent: " + got_);
    }
    got_.clear();
    ++events_;
    if (events_ < wish_.events) {
        number_event(expected_, events_);
    } else {
        expected_ = is_last ? std::string(1, '\0') : std::string(kStreamEnd);
    }
}

}  // namespace prefix_router::dataplane
