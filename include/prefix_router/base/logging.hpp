#pragma once

#include <memory>
#include <string_view>

#include <spdlog/logger.h>

#include "prefix_router/base/error.hpp"

namespace prefix_router {

enum class LogFormat : unsigned char { Text, Json };

/// Makes the process's operational logger (standard error, asynchronous, oldest lines dropped when
/// the queue is full) and makes it spdlog's default, so that spdlog::info(...) and friends reach
/// it. Text to be logged must be free of prompts and credentials. A level name that is unknown is
/// an error that lists the known ones; without memory or a thread for the queue it throws.
Result<std::shared_ptr<spdlog::logger>> start_logging(LogFormat format, std::string_view level);

/// The least severe line from now on. Error: InvalidConfiguration, with the levels that there are.
Result<void> set_log_level(std::string_view level);

/// Escapes control characters, quotes and backslashes, so that no client input can forge a log line
/// or break JSON.
std::string escape_for_log(std::string_view text);

}  // namespace prefix_router
