#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "prefix_router/prompt/dialect.hpp"
#include "prefix_router/prompt/prompt_key.hpp"

namespace prefix_router::prompt {

/// What the router learns from one request body. The body itself is never changed.
struct RequestFacts {
    Dialect dialect = Dialect::None;
    PromptKey key;      ///< empty when the body is not understood
    std::string model;  ///< decoded top-level "model", "" when absent, cut at 256 bytes
    /// Engines may not agree on it: "model" stands there twice, or in other letters (Go's decoder,
    /// and with it Ollama, takes "Model" for it), or the name was cut.
    bool is_model_doubtful = false;
    bool streams = false;
    /// Prompts x answers asked for (`n`, lists of prompts): the load that one request brings. At
    /// least 1.
    std::uint32_t sequences = 1;
    /// Where the canonical form of the answer continues the chain (ROUTING.md 5); only meaningful
    /// for chat dialects with sequences == 1.
    bool answer_extends_key = false;

    void clear();
};

/// Options that change what is hashed.
struct RequestReaderOptions {
    std::uint64_t hash_seed = 0;  ///< seeds every key; ties and fixed_prefix do not use it
    std::uint32_t fixed_prefix_length =
        16384;  ///< characters (OpenAI chat paths) or
                ///< bytes, 1024-65536; 0 = not wanted, costs nothing
};

/// Reads request bodies: one scan, no DOM, no allocation in the steady state, linear time, any
/// bytes accepted (hostile input yields an empty key, never an error). One per thread.
class RequestReader {
  public:
    explicit RequestReader(RequestReaderOptions options);
    ~RequestReader();
    RequestReader(RequestReader&&) noexcept;
    RequestReader& operator=(RequestReader&&) noexcept;

    /// `prefix_id`: value of X-Amzn-SageMaker-Prefix-Aware-Id or "" (then the body's
    /// prompt_cache_key counts). `tenant`: extra separation mixed into the root (API key hash), 0
    /// for none. The result lives until the next call.
    RequestFacts& read(Dialect dialect, std::string_view body, std::string_view prefix_id = {},
                       std::uint64_t tenant = 0);

    /// What concerns the model alone, of a JSON body of no known dialect. Lives until the next
    /// call.
    const RequestFacts& read_model(std::string_view body);

  private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace prefix_router::prompt
