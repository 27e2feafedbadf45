#pragma once

#include <string_view>

namespace prefix_router::proxy {

/// Whether a request to `path` changes the state of the one inference server that gets it: empties
/// its cache, puts it to sleep, loads weights or adapters. Passed on to any one of a fleet it would
/// say "done" and leave the others as they were. Asked only for paths that are no prompt's.
bool is_server_control(std::string_view path);

}  // namespace prefix_router::proxy
