#include "engine_sim/stream_reply.hpp"

#include <string>
#include <vector>

#include "engine_sim/api_errors.hpp"
#include "engine_sim/http_text.hpp"

namespace prefix_router::engine_sim {
namespace {

/// What of a computation has been sent: makes the events of what is new.
class StreamCursor {
  public:
    StreamCursor(const Computation& computation, const AnswerFormat& format)
        : computation_(computation), format_(format), choices_(computation.choices()) {}

    std::string next_events() {
        std::string events;
        for (std::size_t i = 0; i < choices_.size(); ++i) append_choice(i, events);
        return events;
    }

    bool is_complete() const { return closed_ == choices_.size(); }
    Tokens sent_of_first_choice() const { return choices_.front().sent; }

  private:
    struct Choice {
        Tokens sent = 0;
        bool closed = false;
    };

    void append_choice(std::size_t index, std::string& events) {
        Choice& choice = choices_[index];
        const Generation& generation = computation_.generation(index);
        if (choice.closed || generation.ready == 0) return;
        if (!opened_) events += format_.opening(computation_.usage());
        opened_ = true;
        const std::string& text = computation_.texts()[index];
        if (choice.sent == 0) events += format_.start(index);
        if (generation.ready > choice.sent) {
            const auto from = static_cast<std::size_t>(choice.sent * kBytesPerToken);
            const auto size =
                static_cast<std::size_t>((generation.ready - choice.sent) * kBytesPerToken);
            events += format_.delta(index, std::string_view(text).substr(from, size));
            choice.sent = generation.ready;
        }
        if (!generation.finished) return;
        events += format_.close(index, text);
        choice.closed = true;
        if (++closed_ == choices_.size())
            events += format_.ending(computation_.texts(), computation_.usage());
    }

    const Computation& computation_;
    const AnswerFormat& format_;
    std::vector<Choice> choices_;
    std::size_t closed_ = 0;
    bool opened_ = false;
};

}  // namespace

Awaitable<StreamEnd> stream_answer(ClientConnection& client, const HttpRequest& request,
                                   const Computation& computation, const AnswerFormat& format,
                                   StreamFault fault) {
    StreamCursor cursor(computation, format);
    while (!cursor.is_complete()) {
        co_await client.wait_for_progress();
        if (client.departed()) co_return StreamEnd::ClientLeft;
        std::string events = cursor.next_events();
        const bool is_drawn =
            fault.kind != StreamFault::Kind::None && cursor.sent_of_first_choice() >= fault.after;
        if (is_drawn && fault.kind == StreamFault::Kind::Drop) co_return StreamEnd::Dropped;
        const bool is_faulty = is_drawn || computation.is_dropped();
        if (is_faulty) events = "data: " + engine_died().to_json() + "\n\ndata: [DONE]\n\n";
        if (events.empty()) continue;
        std::string piece = stream_piece(request, events);
        if (is_faulty || cursor.is_complete()) piece += stream_end(request);
        const bool is_sent = co_await client.send(piece);
        if (!is_sent) co_return StreamEnd::ClientLeft;
        if (is_faulty) co_return StreamEnd::ErrorEvent;
    }
    co_return StreamEnd::Complete;
}

}  // namespace prefix_router::engine_sim
