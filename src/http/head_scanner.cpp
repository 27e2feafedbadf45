#include "prefix_router/http/head_scanner.hpp"

namespace prefix_router::http {
Result<std::size_t> HeadScanner::find_end(std::string_view bytes) {
    for (;;) {
        const std::size_t line_feed = bytes.find('\n', scanned_);
        if (line_feed == std::string_view::npos) {
            scanned_ = bytes.size();
            const Verdict verdict = judge_wait(bytes.size());
            return verdict == Verdict::Continue ? Result<std::size_t>(std::size_t{0})
                                                : Result<std::size_t>(error_of(verdict));
        }
        const Verdict verdict = take_line(bytes, line_feed);
        if (verdict == Verdict::End) {
            return line_feed + 1;
        }
        if (verdict != Verdict::Continue) {
            return error_of(verdict);
        }
    }
}

HeadScanner::Verdict HeadScanner::take_line(std::string_view bytes, std::size_t line_feed) {
    const std::size_t size = line_feed - line_;  // carriage return included
    const char first = bytes[line_];
    if (size == 0 || bytes[line_feed - 1] != '\r') {
        return Verdict::BareLineFeed;
    }
    if (line_feed + 1 > limits_.bytes) {
        return lines_ == 0 ? Verdict::LineTooLong : Verdict::HeadTooLarge;
    }
    line_ = scanned_ = line_feed + 1;
    if (size == 1) {
        if (lines_ > 0) {
            return Verdict::End;
        }
        start_ = line_;  // RFC 9112 section 2.2: empty lines before the start line are skipped
        return Verdict::Continue;
    }
    if (lines_ == 0 && size - 1 > limits_.line_bytes) {
        return Verdict::LineTooLong;
    }
    if (lines_ > 0 && (first == ' ' || first == '\t') && folding_ == Folding::Refused) {
        return Verdict::Folded;
    }
    return ++lines_ > limits_.fields + 1 ? Verdict::HeadTooLarge : Verdict::Continue;
}

HeadScanner::Verdict HeadScanner::judge_wait(std::size_t received) const {
    if (lines_ == 0 && received - start_ > limits_.line_bytes + 1) {
        return Verdict::LineTooLong;
    }
    return received >= limits_.bytes ? Verdict::HeadTooLarge : Verdict::Continue;
}

Error HeadScanner::error_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::LineTooLong:
            return Error(ErrorKind::TargetTooLong, "the request line exceeds the limit");
        case Verdict::HeadTooLarge:
            return Error(ErrorKind::HeaderTooLarge,
                         "the header exceeds the limit of bytes or fields");
        case Verdict::Folded:
            return Error(ErrorKind::BadRequest, "a header line is folded");
        case Verdict::BareLineFeed:
        case Verdict::Continue:
        case Verdict::End:
            break;
    }
    return Error(ErrorKind::BadRequest, "a header line does not end in CRLF");
}

void HeadScanner::reset() {
    start_ = 0;
    line_ = 0;
    scanned_ = 0;
    lines_ = 0;
}

}  // namespace prefix_router::http
