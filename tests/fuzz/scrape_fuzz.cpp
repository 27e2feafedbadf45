/// What engines tell of themselves: any bytes are read without harm and stay in their bounds.

#include <optional>
#include <string>

#include "fuzz/fuzzing.hpp"
#include "proxy/scrape.hpp"

namespace prefix_router::proxy {
namespace {

void require_bounded(const std::optional<Tokens>& tokens) {
    fuzz::require(!tokens || (*tokens > 0 && *tokens <= 1'000'000'000'000'000),
                  "tokens are positive and no more than 10^15");
}

}  // namespace
}  // namespace prefix_router::proxy

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace prefix_router::proxy;
    using prefix_router::fuzz::require;
    const std::string_view input = prefix_router::fuzz::view_of(bytes, size);
    const Exposition page = read_exposition(input);
    require_bounded(page.load.capacity);
    require_bounded(page.load.step);
    for (const std::string& name : read_models(input)) {
        require(!name.empty() && name.size() <= 256, "model names have 1 to 256 bytes");
    }
    const EngineFacts facts = read_sglang_facts(input);
    require_bounded(facts.capacity);
    require_bounded(facts.step);
    require_bounded(read_llamacpp_facts(input).capacity);
    return 0;
}
