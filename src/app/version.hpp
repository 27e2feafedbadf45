#pragma once

namespace prefix_router::app {

/// The project's version, from CMakeLists.txt.
inline constexpr const char* kVersion = PREFIX_ROUTER_VERSION;

}  // namespace prefix_router::app
