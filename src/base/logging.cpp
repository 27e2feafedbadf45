#include "prefix_router/base/logging.hpp"

#include <array>
#include <memory>
#include <string>

#include <spdlog/async.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace prefix_router {
namespace {

constexpr std::array<std::string_view, 6> kLevels{"trace", "debug", "info", "warn", "error", "off"};
constexpr std::size_t kQueuedLines = 8192;

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

}  // namespace prefix_router
