/// SageMaker /invocations: the container's own format, told by its content: "messages" is a chat,
/// "inputs", "prompt" or "text" a plain prompt.

#include "prompt/request/prompt_source.hpp"

namespace prefix_router::prompt {

PromptShape write_invocation(const PromptSource& source) {
    return source[Field::Messages] ? write_chat(source) : write_text_prompt(source);
}

}  // namespace prefix_router::prompt
