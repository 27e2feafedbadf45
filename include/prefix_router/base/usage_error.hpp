#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace prefix_router {

/// Which option a word without one was meant for, such as "--config" for a file; "": none.
using OptionForWord = std::function<std::string_view(std::string_view word)>;

/// What is wrong with a command line, under the program's name and with what was probably meant:
/// "prefix-router: unknown option --bakend; did you mean --backend?". Lines with their ends.
std::string explain_usage(const CLI::App& app, const CLI::ParseError& error,
                          const OptionForWord& option_for = {});

}  // namespace prefix_router
