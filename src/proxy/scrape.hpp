#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prefix_router/base/ids.hpp"
#include "prefix_router/pool/pool.hpp"

namespace prefix_router::proxy {

/// Which engine an exposition's names belong to.
enum class Engine : unsigned char { Unknown, Vllm, SgLang, LlamaCpp, Tgi };

struct Exposition {
    Engine engine = Engine::Unknown;
    pool::ScrapedLoad load;
};

/// Reads an engine's Prometheus text: queue lengths, KV usage and, where it is told (vLLM, SGLang),
/// the KV capacity in tokens. Series of several ranks of one server add up; usage is their highest.
/// One step's tokens are the largest that vLLM's histogram of them has seen: no endpoint tells
/// max_num_batched_tokens, and before such a step there was no prefill to batch with.
/// Any bytes are accepted; what is not understood is skipped.
Exposition read_exposition(std::string_view text);

/// The model names of a /v1/models answer, adapters included; at most 1,000 of at most 256 bytes.
std::vector<std::string> read_models(std::string_view json);

struct EngineFacts {
    std::optional<Tokens> capacity;      ///< KV tokens
    std::optional<Tokens> step;          ///< most tokens of one engine step
    std::optional<std::uint32_t> slots;  ///< of llama.cpp
};
/// From SGLang's /get_server_info: max_total_num_tokens, chunked_prefill_size (-1: not chunked).
EngineFacts read_sglang_facts(std::string_view json);

/// Slots and KV capacity in tokens from llama.cpp's /props (context of one slot times slots) or
/// /slots (their sum).
EngineFacts read_llamacpp_facts(std::string_view json);

}  // namespace prefix_router::proxy
