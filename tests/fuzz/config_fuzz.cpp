/// The configuration file: any bytes give a configuration or problems, never both or neither, and a
/// configuration written out loads back as it was.

#include <string>

#include "prefix_router/config/config.hpp"
#include "prefix_router/config/options.hpp"

#include "fuzz/fuzzing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace prefix_router::config;
    using prefix_router::fuzz::require;
    const Loaded loaded =
        load_text(std::string(prefix_router::fuzz::view_of(bytes, size)), "fuzz.yaml");
    require(loaded.config.has_value() == loaded.problems.empty(), "a configuration or problems");
    for (const Problem& problem : loaded.problems)
        require(!problem.message.empty(), "a problem says what is wrong");
    if (!loaded.config) return 0;
    const Loaded again = load_text(to_yaml(*loaded.config, Comments::Without), "again.yaml");
    require(again.config.has_value(), "what was written out loads");
    require(*again.config == *loaded.config, "what was written out is the same");
    return 0;
}
