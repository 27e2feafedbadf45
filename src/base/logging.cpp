#include "prefix_router/base/logging.hpp"

#include <array>
#include <string>

#include <spdlog/async.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace prefix_router {
namespace {

constexpr std::array<std::string_view, 6> kLevels{"trace", "debug", "info", "warn", "error", "off"};
constexpr std::size_t kQueuedLines = 8192;

}  // namespace

Result<std::shared_ptr<spdlog::logger>> start_logging(LogFormat format, std::string_view level) {
    bool known = false;
    for (const auto name : kLevels) {
        known = known || name == level;
    }
    if (!known) {
        return Error(ErrorKind::InvalidConfiguration,
                     "unknown log level '" + escape_for_log(level) +
                         "': use trace, debug, info, warn, error or off");
    }
    spdlog::init_thread_pool(kQueuedLines, 1);
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    auto logger = std::make_shared<spdlog::async_logger>(
        "prefix-router", std::move(sink), spdlog::thread_pool(),
        spdlog::async_overflow_policy::overrun_oldest);
    logger->set_level(spdlog::level::from_str(std::string(level)));
    logger->set_pattern(format == LogFormat::Json
                            ? R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","message":"%v"})"
                            : "%Y-%m-%dT%H:%M:%S.%e%z %l %v");
    logger->flush_on(spdlog::level::warn);
    spdlog::set_default_logger(logger);
    return logger;
}

std::string escape_for_log(std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            out += "\\u00";
            out += kHex[byte >> 4];
            out += kHex[byte & 15];
        } else {
            out += c;
        }
    }
    return out;
}

}  // namespace prefix_router
