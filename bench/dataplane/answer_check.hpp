#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/exchange_texts.hpp"

namespace prefix_router::dataplane {

/// One answer as it comes in: its head, its framing, and every byte of its body against what the
/// backend must have sent. One for each connection, begun anew for each request.
class AnswerCheck {
  public:
    enum class State : std::uint8_t { Open, Complete, Wrong };

    void begin(const Wish& wish, std::uint64_t body_hash);
    /// What arrived at `now` (nanoseconds); the delays of its events since they were sent are added
    /// to `delays`.
    State feed(std::string_view bytes, std::uint64_t now, std::vector<std::uint64_t>& delays);
    /// The proxy closed the connection.
    State end() const { return state_ == State::Complete ? state_ : State::Wrong; }

    bool has_events() const { return events_ > 0; }
    bool closes() const { return closes_; }
    /// What was wrong, for a person.
    const std::string& complaint() const { return complaint_; }

  private:
    enum class Part : std::uint8_t { Head, Sized, ChunkSize, Chunk, ChunkEnd, LastLine, Done };

    void take_head(std::string_view& bytes);
    void take_line(std::string_view& bytes);
    void line_ended();
    void take_body(std::string_view& bytes, std::uint64_t now, std::vector<std::uint64_t>& delays);
    void take_payload(std::string_view bytes, std::uint64_t now,
                      std::vector<std::uint64_t>& delays);
    void check_event(std::uint64_t now, std::vector<std::uint64_t>& delays);
    void refuse(std::string complaint);

    Wish wish_;
    std::string expected_;  // the whole JSON body, or the next event
    std::string got_;       // the event under way
    std::string line_;      // the head, or a line of the chunk framing
    std::string complaint_;
    std::uint64_t events_ = 0;
    std::uint64_t left_ = 0;  // of the chunk or of the sized body
    std::size_t seen_ = 0;    // of the JSON body
    Part part_ = Part::Head;
    State state_ = State::Open;
    bool closes_ = false;
};

}  // namespace prefix_router::dataplane
