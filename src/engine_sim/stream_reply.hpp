#pragma once

#include <cstdint>

#include "engine_sim/answer_format.hpp"
#include "engine_sim/client_connection.hpp"
#include "engine_sim/computation.hpp"

namespace prefix_router::engine_sim {

/// A fault to play in a stream.
struct StreamFault {
    enum class Kind : std::uint8_t {
        None,
        ErrorEvent,  ///< an error event, then [DONE] and an orderly end: vLLM whose engine died
        Drop,        ///< the connection ends in the middle
    } kind = Kind::None;
    Tokens after = 0;  ///< tokens of the first choice sent before it
};

enum class StreamEnd : std::uint8_t { Complete, ClientLeft, ErrorEvent, Dropped };

/// Sends the pieces of an answer as they are made, after the head has been sent. Every piece of
/// progress is one write; one chunk of the coding.
Awaitable<StreamEnd> stream_answer(ClientConnection& client, const HttpRequest& request,
                                   const Computation& computation, const AnswerFormat& format,
                                   StreamFault fault);

}  // namespace prefix_router::engine_sim
