#include "prefix_router/prompt/request_reader.hpp"

#include <algorithm>
#include <optional>

#include "prefix_router/base/hash.hpp"

#include "prompt/order_free_hash.hpp"
#include "prompt/prompt_root.hpp"
#include "prompt/request/prompt_source.hpp"
#include "prompt/text_escapes.hpp"

namespace prefix_router::prompt {
namespace {

constexpr std::uint32_t kMaxSequences = 1024;
constexpr std::size_t kMaxModelLength = 256;

using Write = PromptShape (*)(const PromptSource&);

Write writer_of(Dialect dialect) {
    switch (dialect) {
        case Dialect::OpenAiChat:
        case Dialect::OllamaChat:
            return write_chat;
        case Dialect::OpenAiResponses:
            return write_responses;
        case Dialect::AnthropicMessages:
            return write_messages;
        case Dialect::SageMakerInvocations:
            return write_invocation;
        case Dialect::OpenAiCompletions:
        case Dialect::Generate:
        case Dialect::GenerateStream:
        case Dialect::LlamaCppCompletion:
            return write_text_prompt;
        case Dialect::OllamaGenerate:
            return write_ollama_generate;
        case Dialect::None:
            break;
    }
    return nullptr;
}

Family family_of(Dialect dialect, const RequestFields& fields) {
    switch (dialect) {
        case Dialect::OpenAiChat:
        case Dialect::OllamaChat:
        case Dialect::OpenAiResponses:
        case Dialect::AnthropicMessages:
            return Family::Chat;
        case Dialect::SageMakerInvocations:
            return fields[Field::Messages] ? Family::Chat : Family::Text;
        default:
            return Family::Text;
    }
}

bool streams(Dialect dialect, const RequestFields& fields) {
    const JsonKind stream = fields[Field::Stream].kind;
    switch (dialect) {
        case Dialect::GenerateStream:
            return true;
        case Dialect::OllamaChat:
        case Dialect::OllamaGenerate:
            return stream != JsonKind::False;
        default:
            return stream == JsonKind::True;
    }
}

/// Answers asked for per prompt: "n" or "best_of", at the top, in TGI's "parameters" or SGLang's
/// "sampling_params".
std::uint32_t answers_per_prompt(const RequestFields& fields, const StringTape& tape) {
    std::uint32_t answers =
        std::max(count_of(fields[Field::N], 1), count_of(fields[Field::BestOf], 1));
    for (const Field field : {Field::Parameters, Field::SamplingParams}) {
        if (!fields[field].is_object()) continue;
        JsonCursor cursor(fields[field], tape);
        cursor.enter_object();
        while (cursor.next_field()) {
            const bool counts = cursor.key() == "n" || cursor.key() == "best_of";
            const JsonValue value = cursor.take();
            if (counts) answers = std::max(answers, count_of(value, 1));
        }
    }
    return std::clamp(answers, 1U, kMaxSequences);
}

void scale_to_ids(PromptKey& key) {
    for (std::uint32_t& end : key.ends) end /= kBytesPerId;
    key.total /= kBytesPerId;
    key.is_tokens = true;
}

}  // namespace

void RequestFacts::clear() {
    dialect = Dialect::None;
    key.clear();
    model.clear();
    is_model_doubtful = false;
    streams = false;
    sequences = 1;
    answer_extends_key = false;
}

class RequestReader::State {
  public:
    explicit State(RequestReaderOptions options) : options_(options), chain_(options.hash_seed) {}

    RequestFacts& read(Dialect dialect, std::string_view body, std::string_view prefix_id,
                       std::uint64_t tenant) {
        facts_.clear();
        facts_.dialect = dialect;
        body_size_ = body.size();
        const Write write = writer_of(dialect);
        if (write == nullptr || body.empty()) return facts_;
        if (fields_.read(body, tape_)) {
            facts_.streams = streams(dialect, fields_);
            read_model();
            write_key(write, tenant);
        }
        if (options_.fixed_prefix_length != 0) read_fixed_prefix(body, prefix_id);
        return facts_;
    }

    const RequestFacts& read_model(std::string_view body) {
        facts_.clear();
        if (fields_.read(body, tape_)) read_model();
        return facts_;
    }

  private:
    bool wants_text_prefix() const {
        return options_.fixed_prefix_length != 0 && facts_.dialect == Dialect::OpenAiChat;
    }

    void write_key(Write write, std::uint64_t tenant) {
        const Family family = family_of(facts_.dialect, fields_);
        reserve_blocks();
        const PromptRoot root =
            prompt_root(fields_, tape_, {family, tenant, options_.hash_seed, chain_.keyed()});
        chain_.start(facts_.key, root.key, root.home,
                     family == Family::Chat ? HomeScope::FirstUserMessage : HomeScope::FirstBytes);
        if (wants_text_prefix()) prefix_.start(options_.fixed_prefix_length);
        PromptWriter writer(chain_, wants_text_prefix() ? &prefix_ : nullptr, tape_);
        const PromptSource source{facts_.dialect, fields_, writer};
        const PromptShape shape = write(source);
        chain_.finish();
        if (shape.is_tokens) scale_to_ids(facts_.key);
        facts_.key.lacks_history = static_cast<bool>(fields_[Field::PreviousResponseId]);
        facts_.key.goes_around_cache = fields_[Field::CachePrompt].kind == JsonKind::False;
        facts_.sequences = std::min(kMaxSequences, std::min(shape.prompts, kMaxSequences) *
                                                       answers_per_prompt(fields_, tape_));
        facts_.answer_extends_key = shape.is_chat && facts_.sequences == 1 && !facts_.key.empty() &&
                                    !writer.last_is_assistant();
    }

    /// The caller may have moved the key away: one allocation then, not one per doubling.
    void reserve_blocks() {
        const std::size_t blocks = likely_blocks(body_size_);
        facts_.key.hashes.reserve(blocks);
        facts_.key.ends.reserve(blocks);
    }

    void read_model() {
        const JsonValue& model = fields_[Field::Model];
        if (!model.is_string()) return;
        // Six bytes of a string give at least one decoded byte.
        constexpr std::size_t kMaxEncoded = kMaxModelLength * 6;
        std::string_view name = model.text().substr(0, kMaxEncoded);
        char decoded[kMaxEncoded];
        if (name.find('\\') != std::string_view::npos) name = decode_text(name, decoded);
        facts_.model = name.substr(0, kMaxModelLength);
        facts_.is_model_doubtful = fields_.model_keys() > 1 || name.size() > kMaxModelLength;
    }

    void read_fixed_prefix(std::string_view body, std::string_view prefix_id) {
        const bool is_text = wants_text_prefix() && !facts_.key.empty();
        const std::uint64_t prefix =
            is_text ? prefix_.digest()
                    : hash_bytes(body.substr(0, options_.fixed_prefix_length), 0);
        const JsonValue& cache_key = fields_[Field::PromptCacheKey];
        std::uint64_t id = 0;
        if (!prefix_id.empty())
            id = hash_text(prefix_id);
        else if (cache_key.is_string())
            id = hash_string(cache_key);
        facts_.key.fixed_prefix = mix(prefix, id);
    }

    RequestReaderOptions options_;
    std::size_t body_size_ = 0;
    RequestFacts facts_;
    RequestFields fields_;
    StringTape tape_;
    BlockChain chain_;
    FixedPrefix prefix_;
};

RequestReader::RequestReader(RequestReaderOptions options)
    : state_(std::make_unique<State>(options)) {}
RequestReader::~RequestReader() = default;
RequestReader::RequestReader(RequestReader&&) noexcept = default;
RequestReader& RequestReader::operator=(RequestReader&&) noexcept = default;

RequestFacts& RequestReader::read(Dialect dialect, std::string_view body,
                                  std::string_view prefix_id, std::uint64_t tenant) {
    return state_->read(dialect, body, prefix_id, tenant);
}

const RequestFacts& RequestReader::read_model(std::string_view body) {
    return state_->read_model(body);
}

}  // namespace prefix_router::prompt
