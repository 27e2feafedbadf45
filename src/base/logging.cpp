#include "prefix_router/base/logging.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include <spdlog/async.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "prefix_router/base/utf8.hpp"

namespace prefix_router {
namespace {

constexpr std::array<std::string_view, 6> kLevels{"trace", "debug", "info", "warn", "error", "off"};
constexpr std::size_t kQueuedLines = 8192;

/// C0, DEL and C1 (U+0080 to U+009F, among them a terminal's control sequence introducer).
bool is_control(std::string_view sequence) {
    const auto first = static_cast<unsigned char>(sequence.front());
    const auto last = static_cast<unsigned char>(sequence.back());
    return first < 0x20 || first == 0x7f || (first == 0xc2 && last < 0xa0);
}

/// A C1 control's last byte is its code point; a byte that is no UTF-8 is shown as Latin-1.
void append_escaped(char c, std::string& out) {
    constexpr std::string_view kHex = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    out += "\\u00";
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
}

/// Writes the message as the inside of a JSON string: whatever a message holds, the line is JSON.
class JsonMessage final : public spdlog::custom_flag_formatter {
  public:
    void format(const spdlog::details::log_msg& line, const std::tm& /*time*/,
                spdlog::memory_buf_t& out) override {
        const std::string text =
            escape_for_log(std::string_view(line.payload.data(), line.payload.size()));
        out.append(text.data(), text.data() + text.size());
    }
    std::unique_ptr<custom_flag_formatter> clone() const override {
        return std::make_unique<JsonMessage>();
    }
};

std::unique_ptr<spdlog::formatter> formatter_for(LogFormat format) {
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<JsonMessage>('*');
    formatter->set_pattern(format == LogFormat::Json
                               ? R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","message":"%*"})"
                               : "%Y-%m-%dT%H:%M:%S.%e%z %l %v");
    return formatter;
}

Result<void> check_level(std::string_view level) {
    for (const auto name : kLevels) {
        if (name == level) {
            return boost::system::in_place_value;
        }
    }
    return Error(ErrorKind::InvalidConfiguration,
                 "unknown log level '" + escape_for_log(level) +
                     "': use trace, debug, info, warn, error or off");
}

}  // namespace

Result<void> set_log_level(std::string_view level) {
    if (const auto known = check_level(level); !known) {
        return known;
    }
    spdlog::set_level(spdlog::level::from_str(std::string(level)));
    return boost::system::in_place_value;
}

Result<std::shared_ptr<spdlog::logger>> start_logging(LogFormat format, std::string_view level) {
    if (const auto known = check_level(level); !known) {
        return known.error();
    }
    spdlog::init_thread_pool(kQueuedLines, 1);
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    auto logger = std::make_shared<spdlog::async_logger>(
        "prefix-router", std::move(sink), spdlog::thread_pool(),
        spdlog::async_overflow_policy::overrun_oldest);
    logger->set_level(spdlog::level::from_str(std::string(level)));
    logger->set_formatter(formatter_for(format));
    logger->flush_on(spdlog::level::warn);
    spdlog::set_default_logger(logger);
    return logger;
}

std::string escape_for_log(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = utf8_sequence_length(text);
        const std::string_view piece = text.substr(0, std::max<std::size_t>(length, 1));
        if (piece == "\"" || piece == "\\") {
            out += '\\';
            out += piece;
        } else if (length == 0 || is_control(piece)) {
            append_escaped(piece.back(), out);
        } else {
            out += piece;
        }
        text.remove_prefix(piece.size());
    }
    return out;
}

}  // namespace prefix_router
