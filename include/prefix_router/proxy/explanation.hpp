#pragma once

#include <cstdint>
#include <string>

#include "prefix_router/config/config.hpp"
#include "prefix_router/prompt/dialect.hpp"
#include "prefix_router/routing/router.hpp"

namespace prefix_router::proxy {

/// A request that is only asked about.
struct HypotheticalRequest {
    std::string path = "/v1/chat/completions";
    std::string body;
    std::string api_key;    ///< the name of one; "": nobody's
    std::string prefix_id;  ///< as the header that is mixed into the prefix
    config::Priority priority = config::Priority::Normal;
};

/// What would be decided about it, and on what grounds.
struct Explanation {
    routing::ExplainedDecision decision;
    prompt::Dialect dialect = prompt::Dialect::None;
    std::string model;  ///< as the body says
    std::uint32_t sequences = 1;
    bool streams = false;
    std::uint64_t prompt_units = 0;  ///< bytes, or tokens where the prompt is token ids
};

}  // namespace prefix_router::proxy
