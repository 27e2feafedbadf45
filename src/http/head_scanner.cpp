#include "prefix_router/http/head_scanner.hpp"

namespace prefix_router::http {
namespace {

Error head_too_large() {
    return Error(ErrorKind::HeaderTooLarge, "the header exceeds the limit of bytes or fields");
}
Error line_too_long() {
    return Error(ErrorKind::TargetTooLong, "the request line exceeds the limit");
}

}  // namespace

Result<std::size_t> HeadScanner::find_end(std::string_view bytes) {
    for (;;) {
        const std::size_t line_feed = bytes.find('\n', scanned_);
        if (line_feed == std::string_view::npos) {
            scanned_ = bytes.size();
            return wait_for_more(bytes);
        }
        const Result<bool> is_last = take_line(bytes, line_feed);
        if (!is_last) {
            return is_last.error();
        }
        if (*is_last) {
            return line_feed + 1;
        }
    }
}

Result<bool> HeadScanner::take_line(std::string_view bytes, std::size_t line_feed) {
    const std::string_view line = bytes.substr(line_, line_feed - line_);
    if (!line.ends_with('\r')) {
        return Error(ErrorKind::BadRequest, "a header line does not end in CRLF");
    }
    if (line_feed + 1 > limits_.bytes) {
        return lines_ == 0 ? line_too_long() : head_too_large();
    }
    line_ = scanned_ = line_feed + 1;
    if (line.size() == 1) {
        if (lines_ > 0) {
            return true;
        }
        start_ = line_;  // RFC 9112 section 2.2: empty lines before the start line are skipped
        return false;
    }
    if (lines_ == 0 && line.size() - 1 > limits_.line_bytes) {
        return line_too_long();
    }
    if (lines_ > 0 && (line.front() == ' ' || line.front() == '\t') &&
        folding_ == Folding::Refused) {
        return Error(ErrorKind::BadRequest, "a header line is folded");
    }
    if (lines_ > limits_.fields) {
        return head_too_large();
    }
    ++lines_;
    return false;
}

Result<std::size_t> HeadScanner::wait_for_more(std::string_view bytes) const {
    if (lines_ == 0 && bytes.size() - start_ > limits_.line_bytes + 1) {
        return line_too_long();
    }
    if (bytes.size() >= limits_.bytes) {
        return head_too_large();
    }
    return std::size_t{0};
}

void HeadScanner::reset() {
    start_ = 0;
    line_ = 0;
    scanned_ = 0;
    lines_ = 0;
}

}  // namespace prefix_router::http
