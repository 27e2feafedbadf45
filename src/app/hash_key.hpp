#pragma once

#include <iosfwd>

namespace prefix_router::app {

/// `prefix-router hash-key`: reads a key from `in` (one line, its end not part of it) and prints
/// its SHA-256, as the configuration wants it. Returns the exit code.
int hash_key(std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace prefix_router::app
