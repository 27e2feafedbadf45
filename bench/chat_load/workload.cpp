#include "chat_load/workload.hpp"

#include "prefix_router/base/hash.hpp"
#include "prefix_router/base/random.hpp"

namespace prefix_router::chat_load {
namespace {

constexpr std::size_t kBytesPerToken = 4;
constexpr std::uint64_t kTenantSalt = 0x7e4a;
constexpr std::uint64_t kQuestionSalt = 0x90e5;

}  // namespace

std::string make_text(std::uint64_t seed, std::size_t tokens) {
    constexpr std::uint64_t kLetters = 26;
    const std::size_t bytes = tokens * kBytesPerToken;
    std::string text;
    text.reserve(bytes + sizeof(std::uint64_t));
    Random random(seed);
    while (text.size() < bytes) {
        std::uint64_t drawn = random();
        const std::uint64_t letters = 2 + drawn % 6;
        for (std::uint64_t i = 0; i < letters; ++i) {
            drawn >>= 8;
            text += static_cast<char>('a' + (drawn & 0xff) % kLetters);
        }
        text += ' ';
    }
    text.resize(bytes);
    return text;
}

Conversation::Conversation(const Workload& workload, std::uint64_t number)
    : workload_(workload),
      number_(mix(workload.seed, number)),
      tenant_(static_cast<std::size_t>(Random(number_).below(workload.tenants))) {
    const std::uint64_t tenant_seed = mix(mix(workload.seed, kTenantSalt), tenant_);
    messages_ = message_json("system", make_text(tenant_seed, workload.system_tokens));
}

ChatRequest Conversation::next_request() {
    ChatRequest request;
    request.question = make_text(mix(mix(number_, kQuestionSalt), turn_), workload_.user_tokens);
    request.answer_tokens = workload_.answer_tokens;
    messages_ += "," + message_json("user", request.question);
    request.body = chat_body(workload_.model, messages_, workload_.answer_tokens, workload_.stream);
    ++turn_;
    return request;
}

void Conversation::answered(std::string_view text) {
    messages_ += "," + message_json("assistant", text);
}

}  // namespace prefix_router::chat_load
