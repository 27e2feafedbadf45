#include "unit/prompt/prompt_samples.hpp"

#include <algorithm>

#include "prefix_router/base/hash.hpp"

namespace prefix_router::prompt::test {

RequestFacts read(Dialect dialect, std::string_view body, std::string_view prefix_id,
                  std::uint64_t tenant) {
    RequestReader reader({.hash_seed = kSeed});
    return reader.read(dialect, body, prefix_id, tenant);
}

PromptKey key_of(Dialect dialect, std::string_view body) {
    return read(dialect, body).key;
}

bool begins_with(const PromptKey& key, const std::vector<std::uint64_t>& prefix) {
    return key.hashes.size() >= prefix.size() &&
           std::equal(prefix.begin(), prefix.end(), key.hashes.begin());
}

std::string words(std::uint64_t seed, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t value = mix(seed, i);
        if (i != 0) text += ' ';
        for (std::uint64_t letters = 2 + value % 7; letters > 0; --letters, value /= 26)
            text += static_cast<char>('a' + value % 26);
    }
    return text;
}

AnswerFacts read_answer(const RequestFacts& request, AnswerReader::Format format,
                        std::string_view body, std::size_t piece) {
    AnswerReader reader(request.dialect, format, request.key, request.answer_extends_key);
    if (piece == 0) piece = std::max<std::size_t>(body.size(), 1);
    for (std::size_t at = 0; at < body.size(); at += piece) reader.feed(body.substr(at, piece));
    return reader.finish(true);
}

std::string as_events(const std::vector<std::string>& events) {
    std::string stream;
    for (const std::string& event : events) stream += "data: " + event + "\n\n";
    return stream;
}

}  // namespace prefix_router::prompt::test
