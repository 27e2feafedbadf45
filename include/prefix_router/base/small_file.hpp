#pragma once

#include <cstddef>
#include <string>

#include "prefix_router/base/error.hpp"

namespace prefix_router {

/// The bytes of a file that has `most` of them or fewer. A pipe, such as a shell's <(...), is read
/// like any file, but no writer is waited for longer than five seconds: whatever comes in a file's
/// place holds up nobody for good. Error: Io, such as "cannot be opened: No such file or
/// directory".
Result<std::string> read_small_file(const std::string& path, std::size_t most);

/// Empty where others can open the file and find bytes in it; else what is wrong. For libraries
/// that open files themselves, and would wait for the writer of a pipe.
std::string trouble_with_file(const std::string& path);

}  // namespace prefix_router
