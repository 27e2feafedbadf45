#include <algorithm>
#include <array>
#include <charconv>
#include <string>

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
        : is_json_(format == LogFormat::Json), out_(out) {
        if (is_json_) {
            out_ += '{';
        }
    }
    ~LineWriter() { out_ += is_json_ ? "}\n" : "\n"; }
    LineWriter(const LineWriter&) = delete;
    LineWriter& operator=(const LineWriter&) = delete;

    /// Bounded and escaped: no client can forge a line or fill the disk with one.
    void text(std::string_view name, std::string_view value) {
        begin(name);
        const auto shown = value.substr(0, kLongestText);
        const bool is_plain = std::ranges::all_of(shown, is_plain_byte);
        const bool needs_quotes = is_json_ || shown.empty() || !is_plain;
        if (needs_quotes) {
            out_ += '"';
        }
        if (is_plain) {
            out_ += shown;
        } else {
            out_ += escape_for_log(shown);
        }
        if (needs_quotes) {
            out_ += '"';
        }
    }

    void number(std::string_view name, std::int64_t value) {
        begin(name);
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
        out_.append(digits, end);
    }

    /// Milliseconds with three places.
    void milliseconds(std::string_view name, Duration value) {
        const auto micros = value.count() / 1000;
        number(name, micros / 1000);
        out_ += '.';
        const auto rest = static_cast<int>(micros % 1000);
        out_ += static_cast<char>('0' + rest / 100);
        out_ += static_cast<char>('0' + rest / 10 % 10);
        out_ += static_cast<char>('0' + rest % 10);
    }

  private:
    static bool is_plain_byte(char c) { return kPlainBytes[static_cast<unsigned char>(c)]; }

    void begin(std::string_view name) {
        if (!is_first_) {
            out_ += is_json_ ? ',' : ' ';
        }
        is_first_ = false;
        if (is_json_) {
            out_ += '"';
            out_ += name;
            out_ += "\":";
        } else {
            out_ += name;
            out_ += '=';
        }
    }

    bool is_json_;
    bool is_first_ = true;
    std::string& out_;
};

}  // namespace

void append_access_line(LogFormat format, std::string_view time, const RequestRecord& record,
                        std::string& out) {
    LineWriter line(format, out);
    line.text("time", time);
    line.text("request_id", record.request_id);
    line.text("peer", record.peer);
    line.text("method", record.method);
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
        line.text("reason", routing::to_string(*record.reason));
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
        line.text("error", to_string(*record.error));
    }
}

}  // namespace prefix_router::proxy
