#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "prefix_router/proxy/access_log.hpp"

namespace prefix_router::proxy {
namespace {

constexpr std::size_t kLongestText = 256;

/// Bytes that need neither quotes nor escapes in either format.
constexpr std::array<bool, 256> kPlainBytes = [] {
    std::array<bool, 256> plain{};
    for (std::size_t byte = 0x21; byte < 0x7f; ++byte) {
        plain[byte] = byte != '"' && byte != '\\' && byte != '=';
    }
    return plain;
}();

/// Writes the fields of one line as JSON members or as name=value pairs.
class LineWriter {
  public:
    LineWriter(LogFormat format, std::string& out)
        : is_json_(format == LogFormat::Json), out_(out) {}
    ~LineWriter() {
        if (is_json_) {
            put('}');
        }
        put('\n');
        flush();
    }
    LineWriter(const LineWriter&) = delete;
    LineWriter& operator=(const LineWriter&) = delete;

    /// Bounded and escaped: no client can forge a line or fill the disk with one.
    template <std::size_t kSize>
    void text(const char (&name)[kSize], std::string_view value) {
        const auto shown = value.substr(0, kLongestText);
        if (std::ranges::all_of(shown, is_plain_byte)) {
            word(name, shown);
            return;
        }
        begin(name);
        put('"');
        flush();
        out_ += escape_for_log(shown);
        put('"');
    }

    /// Bounded, of bytes that are plain.
    template <std::size_t kSize>
    void word(const char (&name)[kSize], std::string_view value) {
        const bool needs_quotes = is_json_ || value.empty();
        begin(name);
        if (needs_quotes) {
            put('"');
        }
        put(value.substr(0, kLongestText));
        if (needs_quotes) {
            put('"');
        }
    }

    template <std::size_t kSize>
    void number(const char (&name)[kSize], std::int64_t value) {
        begin(name);
        put(value);
    }

    /// Milliseconds with three places.
    template <std::size_t kSize>
    void milliseconds(const char (&name)[kSize], Duration value) {
        const auto micros = value.count() / 1000;
        begin(name);
        put(micros / 1000);
        const auto rest = static_cast<int>(micros % 1000);
        put('.');
        put(static_cast<char>('0' + rest / 100));
        put(static_cast<char>('0' + rest / 10 % 10));
        put(static_cast<char>('0' + rest % 10));
    }

  private:
    // What one field takes at most, its name and marks included, and what is gathered on the stack
    // before it goes to the log's text.
    static constexpr std::size_t kLongestField = kLongestText + 64;
    static constexpr std::size_t kGathered = 1024;

    static bool is_plain_byte(char c) { return kPlainBytes[static_cast<unsigned char>(c)]; }

    template <std::size_t kSize>
    void begin(const char (&name)[kSize]) {
        static_assert(kSize < 32, "kLongestField counts on short names");
        if (size_ > kGathered - kLongestField) {
            flush();
        }
        if (is_json_) {
            put(std::exchange(separator_, ',') == ',' ? ',' : '{');
            put('"');
            put(std::string_view(name, kSize - 1));
            put('"');
            put(':');
        } else {
            if (std::exchange(separator_, ',') == ',') {
                put(' ');
            }
            put(std::string_view(name, kSize - 1));
            put('=');
        }
    }

    void put(char c) { gathered_[size_++] = c; }
    void put(std::string_view text) { size_ += text.copy(&gathered_[size_], text.size()); }
    void put(std::int64_t number) {
        const auto end = std::to_chars(&gathered_[size_], gathered_.data() + kGathered, number).ptr;
        size_ = static_cast<std::size_t>(end - gathered_.data());
    }
    void flush() {
        out_.append(gathered_.data(), size_);
        size_ = 0;
    }

    bool is_json_;
    char separator_ = 0;
    std::string& out_;
    std::size_t size_ = 0;
    std::array<char, kGathered> gathered_;
};

}  // namespace

void append_access_line(LogFormat format, std::string_view time, const RequestRecord& record,
                        std::string& out) {
    LineWriter line(format, out);
    line.word("time", time);
    line.text("request_id", record.request_id);
    line.word("peer", record.peer);
    line.word("method", record.method);
    line.text("path", record.path);
    if (!record.api_key.empty()) {
        line.text("api_key", record.api_key);
    }
    line.number("status", record.status);
    line.milliseconds("duration_ms", record.duration);
    if (record.expected_first_token) {
        line.milliseconds("expected_first_token_ms", *record.expected_first_token);
    }
    if (record.first_token) {
        line.milliseconds("first_token_ms", *record.first_token);
    }
    if (record.held.value_or(Duration::zero()) > Duration::zero()) {
        line.milliseconds("held_ms", *record.held);
    }
    if (!record.backend.empty()) {
        line.text("backend", record.backend);
    }
    if (record.reason) {
        line.word("reason", routing::to_string(*record.reason));
        line.number("prompt_tokens", record.prompt_tokens);
        line.number("expected_cached_tokens", record.expected_cached);
    }
    if (record.reported_cached) {
        line.number("reported_cached_tokens", *record.reported_cached);
    }
    line.number("attempts", record.attempts);
    line.number("bytes_in", static_cast<std::int64_t>(record.bytes_in));
    line.number("bytes_out", static_cast<std::int64_t>(record.bytes_out));
    if (record.error) {
        line.word("error", to_string(*record.error));
    }
}

}  // namespace prefix_router::proxy
