#include "routing/record.hpp"

namespace prefix_router::routing {

void Record::reset() {
    Record fresh;
    std::swap(fresh.chain_tokens, chain_tokens);
    std::swap(fresh.excluded, excluded);
    std::swap(fresh.distances, distances);
    fresh.chain_tokens.clear();
    fresh.excluded.clear();
    fresh.distances.clear();
    *this = std::move(fresh);
}

}  // namespace prefix_router::routing
