#include "prefix_router/prompt/prompt_key.hpp"

namespace prefix_router::prompt {

void PromptKey::clear() {
    hashes.clear();
    ends.clear();
    total = 0;
    is_tokens = false;
    lacks_history = false;
    goes_around_cache = false;
    history = {};
    home = 0;
    fixed_prefix = 0;
}

}  // namespace prefix_router::prompt
