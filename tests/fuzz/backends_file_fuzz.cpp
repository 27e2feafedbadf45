/// A file of backends (discovery.file), and a backend as the admin listener takes one: any bytes
/// give backends or problems, never both or neither, and backends written out load as they were.

#include <set>
#include <string>
#include <utility>

#include "prefix_router/config/config.hpp"
#include "prefix_router/config/options.hpp"

#include "fuzz/fuzzing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace prefix_router::config;
    using prefix_router::fuzz::require;
    const std::string input(prefix_router::fuzz::view_of(bytes, size));
    if (const auto one = parse_backend(input); one.has_error()) {
        require(!one.error().message().empty(), "an error says what is wrong");
    }
    LoadedBackends loaded = load_backends(input, "fuzz.yaml");
    require(loaded.backends.has_value() == loaded.problems.empty(), "backends or problems");
    for (const Problem& problem : loaded.problems)
        require(!problem.message.empty(), "a problem says what is wrong");
    if (!loaded.backends) return 0;
    std::set<std::string> ids;
    for (const Backend& backend : *loaded.backends)
        require(ids.insert(backend.id).second, "each has an id of its own");
    if (loaded.backends->empty()) return 0;
    Config config;
    config.backends = std::move(*loaded.backends);
    const Loaded again = load_text(to_yaml(config, Comments::Without), "again.yaml");
    require(again.config.has_value(), "what was written out loads");
    require(again.config->backends == config.backends, "what was written out is the same");
    return 0;
}
