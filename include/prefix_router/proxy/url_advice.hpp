#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "prefix_router/config/config.hpp"

namespace prefix_router::proxy {

/// What is probably meant otherwise in a backend's URL: "http://host:8000/v1" makes /v1/v1/... of
/// what clients ask for. Advice and no error: an engine may be mounted under such a path. nullopt:
/// nothing.
std::optional<std::string> advice_on(const config::BackendUrl& url);
/// A sentence for each backend about whose URL there is something to say.
std::vector<std::string> advice_on(std::span<const config::Backend> backends);

}  // namespace prefix_router::proxy
