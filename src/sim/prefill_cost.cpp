#include "sim/prefill_cost.hpp"

#include <algorithm>
#include <cmath>

namespace prefix_router::sim {

Seconds prefill_seconds(const EngineOptions& options, Tokens prompt, Tokens cached) {
    const auto end = static_cast<double>(prompt);
    const auto begin = static_cast<double>(cached);
    const double attention = (end * end - begin * begin) / (2 * options.attention_length);
    return options.overhead + ((end - begin) + attention) / options.prefill_rate;
}

Tokens tokens_computed(const EngineOptions& options, Tokens cached, Seconds served) {
    const double cost = std::max(0.0, served - options.overhead) * options.prefill_rate;
    const double length = options.attention_length;
    if (std::isinf(length)) return static_cast<Tokens>(cost);
    // cost = c + ((cached + c)^2 - cached^2) / 2L, solved for c.
    const double linear = 1 + static_cast<double>(cached) / length;
    return static_cast<Tokens>(length * (std::sqrt(linear * linear + 2 * cost / length) - linear));
}

}  // namespace prefix_router::sim
