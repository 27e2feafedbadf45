#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine_sim/answer_format.hpp"
#include "engine_sim/api_errors.hpp"
#include "engine_sim/live_engine.hpp"

namespace prefix_router::engine_sim {

/// The answers to one request being computed, one generation per choice. Its end cancels what has
/// not finished.
class Computation {
  public:
    /// Starts every prompt; a refusal of one is a refusal of all. `listener` is told of progress.
    std::optional<ApiError> start(LiveEngine& engine, const ApiRequest& request,
                                  ProgressListener& listener);

    bool is_finished() const;
    bool is_dropped() const;  ///< a part of it has no answer
    std::size_t choices() const { return generations_.size(); }
    const Generation& generation(std::size_t choice) const { return *generations_[choice]; }
    /// What each choice will have said in the end.
    const std::vector<std::string>& texts() const { return texts_; }
    /// Cached tokens are known once the first token is there.
    Usage usage() const;

    /// Lets the engine go on with nobody listening.
    void release();

  private:
    sim::Engine::Submitted start_prompt(LiveEngine& engine, const ApiRequest& request,
                                        const Prompt& prompt, ProgressListener& listener);

    std::vector<GenerationHandle> generations_;
    std::vector<std::string> texts_;
    Usage totals_;
};

}  // namespace prefix_router::engine_sim
