#include "dataplane/exchange_texts.hpp"

#include <algorithm>
#include <charconv>

#include "prefix_router/base/hash.hpp"

#include "micro/sample_bodies.hpp"

namespace prefix_router::dataplane {
namespace {

constexpr std::size_t kTurnBytes = 1500;
constexpr std::size_t kHashDigits = 16;
constexpr std::size_t kNumberDigits = 8;
constexpr std::size_t kStampDigits = 20;
constexpr std::string_view kEventFront = R"(data: {"id":")";
constexpr std::size_t kNumberAt = kEventFront.size() + kHashDigits + sizeof(R"(","n":")") - 1;
constexpr std::size_t kStampAt = kNumberAt + kNumberDigits + sizeof(R"(","t":")") - 1;

/// The last `digits` digits of a number, with leading zeros.
void write_digits(char* to, std::size_t digits, std::uint64_t value, unsigned base) {
    for (char* at = to + digits; at != to; value /= base) {
        *--at = "0123456789abcdef"[value % base];
    }
}

std::string digits_of(std::uint64_t hash) {
    std::string text(kHashDigits, '0');
    write_digits(text.data(), kHashDigits, hash, 16);
    return text;
}

unsigned number_after(std::string_view text, std::string_view name) {
    const auto at = text.find(name);
    unsigned value = 0;
    if (at != std::string_view::npos) {
        std::from_chars(text.data() + at + name.size(), text.data() + text.size(), value);
    }
    return value;
}

/// `text` filled up to `size`, with `end` at its end.
std::string filled(std::string text, std::size_t size, std::string_view end) {
    text.resize(std::max(text.size(), size - end.size()), 'x');
    return text.append(end);
}

}  // namespace

std::string request_body(std::uint64_t seed, std::size_t bytes, const Wish& wish,
                         std::string_view model) {
    std::string body = std::string(R"({"stream":)") + (wish.streams ? "true" : "false") +
                       R"(,"max_tokens":)" + std::to_string(wish.events) + R"(,"gap_us":)" +
                       std::to_string(wish.gap_us) + R"(,"model":")" + std::string(model) +
                       R"(","messages":[{"role":"system","content":")" +
                       bench::prose(1, bytes / 4) + R"("})";
    for (std::uint64_t turn = 2; body.size() + 400 < bytes; ++turn) {
        body += turn % 2 == 0 ? R"(,{"role":"user","content":")"
                              : R"(,{"role":"assistant","content":")";
        const auto size = std::min(kTurnBytes, bytes - body.size() - 300);
        body += bench::prose(mix(seed, turn), size) + R"("})";
    }
    return filled(body + R"(],"user":")", bytes, R"("})");
}

Wish read_wish(std::string_view body) {
    const std::string_view front = body.substr(0, 96);
    return {front.find(R"("stream":true)") != std::string_view::npos,
            number_after(front, R"("max_tokens":)"), number_after(front, R"("gap_us":)")};
}

std::string json_answer(std::uint64_t body_hash) {
    return filled(R"({"id":"chatcmpl-)" + digits_of(body_hash) +
                      R"(","object":"chat.completion","created":1700000000,"model":"bench",)"
                      R"("choices":[{"index":0,"message":{"role":"assistant","content":")",
                  kJsonBytes,
                  R"("},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":512,)"
                  R"("completion_tokens":180,"total_tokens":692}})");
}

std::string first_event(std::uint64_t body_hash) {
    return filled(std::string(kEventFront) + digits_of(body_hash) + R"(","n":")" +
                      std::string(kNumberDigits, '0') + R"(","t":")" +
                      std::string(kStampDigits, '0') +
                      R"(","choices":[{"index":0,"delta":{"content":" )",
                  kEventBytes, "\"}}]}\n\n");
}

void number_event(std::string& event, std::uint64_t index) {
    write_digits(event.data() + kNumberAt, kNumberDigits, index, 10);
}

void stamp_event(std::string& event, std::uint64_t nanoseconds) {
    write_digits(event.data() + kStampAt, kStampDigits, nanoseconds, 10);
}

std::uint64_t take_stamp(std::string& event) {
    std::uint64_t stamp = 0;
    if (event.size() == kEventBytes) {
        char* const at = event.data() + kStampAt;
        std::from_chars(at, at + kStampDigits, stamp);
        std::fill_n(at, kStampDigits, '0');
    }
    return stamp;
}

std::uint64_t hash_of(std::string_view body) {
    return hash_bytes(body, 0);
}

}  // namespace prefix_router::dataplane
