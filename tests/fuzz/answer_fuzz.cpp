/// An answer's facts do not depend on how the answer is cut. The first bytes choose the dialect,
/// the format and the cut.

#include <array>

#include "fuzz/fuzzing.hpp"
#include "unit/prompt/prompt_samples.hpp"

namespace prefix_router::prompt::test {
namespace {

constexpr std::uint8_t kDialects = static_cast<std::uint8_t>(Dialect::OllamaGenerate);
constexpr std::array kFormats = {AnswerReader::Format::ServerSentEvents, AnswerReader::Format::Json,
                                 AnswerReader::Format::JsonLines};

const RequestFacts& request_of(Dialect dialect) {
    static std::array<RequestFacts, kDialects + 1> requests;
    RequestFacts& request = requests[static_cast<std::size_t>(dialect)];
    if (request.dialect == Dialect::None)
        request = read(dialect, R"({"model":"m","input":"q","prompt":"q","inputs":"q",)"
                                R"("messages":[{"role":"user","content":"q"}]})");
    return request;
}

bool are_equal(const Usage& a, const Usage& b) {
    return a.prompt_tokens == b.prompt_tokens && a.cached_tokens == b.cached_tokens &&
           a.completion_tokens == b.completion_tokens;
}

}  // namespace
}  // namespace prefix_router::prompt::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace prefix_router::prompt;
    using namespace prefix_router::prompt::test;
    using prefix_router::fuzz::require;
    std::string_view input = prefix_router::fuzz::view_of(bytes, size);
    const auto dialect =
        static_cast<Dialect>(1 + prefix_router::fuzz::take_byte(input) % kDialects);
    const auto format = kFormats[prefix_router::fuzz::take_byte(input) % kFormats.size()];
    const std::size_t cut = 2 + prefix_router::fuzz::take_byte(input);
    const RequestFacts& request = request_of(dialect);
    const AnswerFacts whole = read_answer(request, format, input);
    for (const std::size_t piece : {std::size_t{1}, cut}) {
        const AnswerFacts facts = read_answer(request, format, input, piece);
        require(facts.hashes == whole.hashes, "the same hashes however it is cut");
        require(facts.ends == whole.ends, "the same ends however it is cut");
        require(facts.has_error_event == whole.has_error_event, "the same errors");
        require(facts.ended_cleanly == whole.ended_cleanly, "the same end");
        require(are_equal(facts.usage, whole.usage), "the same usage");
    }
    require(whole.hashes.size() == whole.ends.size(), "each hash has its end");
    return 0;
}
