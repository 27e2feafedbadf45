#include "sim/line_reader.hpp"

namespace prefix_router::sim {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10;

}  // namespace

Result<LineReader> LineReader::open(const std::string& path) {
    auto source = open_byte_source(path);
    if (!source) return source.error();
    return LineReader(std::move(*source));
}

Result<std::optional<std::string_view>> LineReader::next() {
    std::size_t searched = begin_;
    for (;;) {
        const std::size_t end = buffer_.find('\n', searched);
        if (end != std::string::npos) {
            const std::string_view line(buffer_.data() + begin_, end - begin_);
            begin_ = end + 1;
            ++line_number_;
            return std::optional(line);
        }
        searched = buffer_.size() - begin_;  // fill() moves the rest to the front
        const Result<bool> filled = fill();
        if (!filled) return filled.error();
        if (*filled) continue;
        if (buffer_.empty()) return std::optional<std::string_view>();
        begin_ = buffer_.size();
        ++line_number_;
        return std::optional(std::string_view(buffer_));
    }
}

/// Drops what was handed out and appends a piece; false at the end of the file.
Result<bool> LineReader::fill() {
    buffer_.erase(0, begin_);
    begin_ = 0;
    const std::size_t had = buffer_.size();
    buffer_.resize(had + kPiece);
    const Result<std::size_t> count = source_->read(buffer_.data() + had, kPiece);
    if (!count) return count.error();
    buffer_.resize(had + *count);
    return *count > 0;
}

}  // namespace prefix_router::sim
