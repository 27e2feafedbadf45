#include "prefix_router/http/response_head.hpp"

#include "http/ascii.hpp"
#include "http/response_head_writer.hpp"

namespace prefix_router::http {
namespace {

constexpr std::string_view kVersionPrefix = "HTTP/1.";

// A carriage return alone may begin an empty line before it.
bool may_begin_answer(std::string_view bytes) {
    return bytes == "\r" ||
           bytes.substr(0, kVersionPrefix.size()) == kVersionPrefix.substr(0, bytes.size());
}

// The head without its Content-Length lines; folded lines belong to the line before them.
std::string without_lengths(std::string_view head) {
    std::string kept;
    bool is_length = false;
    while (!head.empty()) {
        const std::string_view line = head.substr(0, head.find('\n') + 1);
        if (line.front() != ' ' && line.front() != '\t') {
            is_length = equals_ignoring_case(line.substr(0, line.find(':')), "content-length");
        }
        kept.append(is_length ? std::string_view() : line);
        head.remove_prefix(line.size());
    }
    return kept;
}

Result<void> write(std::string_view bytes, const Asker& asker, ResponseHead& head) {
    ResponseHeadWriter writer(head, asker, ResponseHeadWriter::Lengths::AsSent);
    Result<void> written = writer.write(bytes);
    if (written || !writer.has_both_framings()) {
        return written;
    }
    const std::string cleaned = without_lengths(bytes);
    ResponseHeadWriter second(head, asker, ResponseHeadWriter::Lengths::TakenOut);
    return second.write(cleaned);
}

}  // namespace

void ResponseHead::clear() {
    std::string text = std::move(text_);
    text.clear();
    *this = ResponseHead();
    text_ = std::move(text);
}

Result<std::size_t> ResponseHeadParser::parse(std::string_view bytes, const Asker& asker,
                                              ResponseHead& head) {
    Result<std::size_t> end = scanner_.find_end(bytes);
    const std::size_t start = scanner_.start();
    if (!end) {
        return Error(ErrorKind::BadResponse, end.error().message());
    }
    if (!may_begin_answer(bytes.substr(start))) {
        return Error(ErrorKind::BadResponse, "the answer is not HTTP/1.x");
    }
    if (*end == 0) {
        return end;
    }
    const Result<void> written = write(bytes.substr(start, *end - start), asker, head);
    if (!written) {
        return written.error();
    }
    return end;
}

}  // namespace prefix_router::http
