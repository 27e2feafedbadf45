#include "engine_sim/computation.hpp"

#include <algorithm>
#include <span>

#include "engine_sim/answer_text.hpp"
#include "engine_sim/block_chain.hpp"

namespace prefix_router::engine_sim {

std::optional<ApiError> Computation::start(LiveEngine& engine, const ApiRequest& request,
                                           ProgressListener& listener) {
    const auto room = static_cast<Tokens>(engine.engine().total_blocks()) *
                      engine.engine().options().block_tokens;
    for (const Prompt& prompt : request.prompts) {
        const auto bytes = static_cast<Tokens>(prompt.text.size());
        const Tokens needed = (bytes + kBytesPerToken - 1) / kBytesPerToken + request.max_tokens;
        if (needed > room) return context_too_long(needed, room);
        switch (start_prompt(engine, request, prompt, listener)) {
            case sim::Engine::Submitted::Accepted:
                break;
            case sim::Engine::Submitted::QueueFull:
                return queue_full();
            case sim::Engine::Submitted::TooLarge:
                return context_too_long(needed, room);
        }
    }
    return std::nullopt;
}

sim::Engine::Submitted Computation::start_prompt(LiveEngine& engine, const ApiRequest& request,
                                                 const Prompt& prompt, ProgressListener& listener) {
    BlockChain chain(request.model, request.cache_salt);
    chain.append(prompt.text);
    const std::size_t prompt_blocks = chain.blocks().size();
    std::string text = answer_text(chain.digest(), prompt.marker, request.max_tokens);
    chain.append(text);
    const std::span<const std::uint64_t> blocks = chain.blocks();

    sim::Engine::Request job;
    job.blocks = blocks.first(prompt_blocks);
    job.answer_blocks = blocks.subspan(prompt_blocks);
    const auto bytes = static_cast<Tokens>(prompt.text.size());
    job.prompt_tokens = (bytes + kBytesPerToken - 1) / kBytesPerToken;
    job.output_tokens = request.max_tokens;

    Generation generation;
    generation.total = request.max_tokens;
    generation.wants_tokens = request.stream;
    generation.listener = &listener;
    LiveEngine::Started started = engine.start(job, generation);
    if (started.status == sim::Engine::Submitted::Accepted) {
        generations_.push_back(std::move(started.handle));
        texts_.push_back(std::move(text));
        totals_.prompt_tokens += job.prompt_tokens;
        totals_.completion_tokens += job.output_tokens;
    }
    return started.status;
}

bool Computation::is_finished() const {
    return std::all_of(generations_.begin(), generations_.end(),
                       [](const GenerationHandle& handle) { return handle->finished; });
}

bool Computation::is_dropped() const {
    return std::any_of(generations_.begin(), generations_.end(),
                       [](const GenerationHandle& handle) { return handle->is_dropped; });
}

Usage Computation::usage() const {
    Usage usage = totals_;
    usage.cached_tokens = generations_.back()->cached_tokens;
    return usage;
}

void Computation::release() {
    for (GenerationHandle& handle : generations_) handle.release();
}

}  // namespace prefix_router::engine_sim
