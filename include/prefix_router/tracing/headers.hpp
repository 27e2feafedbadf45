#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "prefix_router/base/error.hpp"
#include "prefix_router/config/config.hpp"

namespace prefix_router::tracing {

/// "name=value,other=value", values percent-encoded, as OTEL_EXPORTER_OTLP_HEADERS has it, to
/// "name: value" each. Error: InvalidConfiguration, without the value.
Result<std::vector<std::string>> parse_headers(std::string_view text);

/// The same from where the configuration says that it is.
Result<std::vector<std::string>> load_headers(const config::SecretSource& from);

}  // namespace prefix_router::tracing
