/// The prompt key of every dialect (the first byte chooses) against a DOM's, and in other
/// spellings.

#include "fuzz/fuzzing.hpp"
#include "unit/prompt/prompt_samples.hpp"
#include "unit/prompt/reference_key.hpp"
#include "unit/prompt/reference_parts.hpp"

namespace prefix_router::prompt::test {
namespace {

constexpr std::uint8_t kDialects = static_cast<std::uint8_t>(Dialect::OllamaGenerate);

/// Long keys and deep values count as they are written (json_cursor.hpp, order_free_hash.cpp).
bool is_ordinary(const Json& value, int depth = 0) {
    constexpr int kMaxDepth = 7;
    constexpr std::size_t kLongestKey = 20;
    if (!value.is_structured()) return true;
    if (depth == kMaxDepth) return false;
    for (const auto& item : value.items())
        if ((value.is_object() && item.key().size() > kLongestKey) ||
            !is_ordinary(item.value(), depth + 1))
            return false;
    return true;
}

void expect_key(Dialect dialect, const std::string& body, const PromptKey& expected) {
    const PromptKey key = key_of(dialect, body);
    fuzz::require(key.hashes == expected.hashes, "another spelling has the same hashes");
    fuzz::require(key.ends == expected.ends, "another spelling has the same ends");
    fuzz::require(key.home == expected.home, "another spelling has the same home");
}

void check_facts(const RequestFacts& facts) {
    fuzz::require(facts.key.hashes.size() == facts.key.ends.size(), "each hash has its end");
    fuzz::require(facts.sequences >= 1, "a request is one sequence at least");
    fuzz::require(facts.key.ends.empty() || facts.key.total >= facts.key.ends.back(),
                  "no block ends behind the prompt");
}

}  // namespace
}  // namespace prefix_router::prompt::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace prefix_router::prompt;
    using namespace prefix_router::prompt::test;
    std::string_view input = prefix_router::fuzz::view_of(bytes, size);
    const auto dialect =
        static_cast<Dialect>(1 + prefix_router::fuzz::take_byte(input) % kDialects);
    const std::string body(input);
    const RequestFacts facts = read(dialect, body);
    check_facts(facts);
    const auto parsed = parse_plainly(body);
    if (!parsed || !parsed->is_object()) return 0;
    if (const auto reference = reference_key(dialect, body)) {
        prefix_router::fuzz::require(facts.key.hashes == reference->hashes, "a DOM's hashes");
        prefix_router::fuzz::require(facts.key.ends == reference->ends, "a DOM's ends");
    }
    if (!is_ordinary(*parsed)) return 0;
    expect_key(dialect, parsed->dump(), facts.key);
    expect_key(dialect, parsed->dump(1, '\t', true), facts.key);
    return 0;
}
