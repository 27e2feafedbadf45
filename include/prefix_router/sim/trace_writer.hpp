#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "prefix_router/base/error.hpp"
#include "prefix_router/base/ids.hpp"
#include "prefix_router/prompt/prompt_key.hpp"

namespace prefix_router::sim {

/// Records served requests as a trace that load_trace() reads: times, token counts and salted
/// hashes of the prompt's blocks; never text. Thread-safe. A session is found by the prompts: a
/// request whose key extends that of a request that ended less than an hour before its arrival is
/// its session's next turn.
class TraceWriter {
  public:
    using UnixTime = std::chrono::milliseconds;  ///< since 1970

    struct Options {
        std::string path;
        std::size_t max_bytes = std::size_t{256} << 20;  ///< then the file is renamed to path.1
        std::uint32_t kept_files = 4;                    ///< path.1 (the youngest) to path.4
        /// Secret of this run: ids of two runs do not match, and no prompt can be guessed from one.
        std::array<std::uint8_t, 32> salt{};
        std::size_t max_remembered = 200'000;  ///< requests that a next turn is looked for among
    };

    /// One request that has got its whole answer.
    struct Entry {
        UnixTime arrived{};
        UnixTime ended{};
        Tokens prompt_tokens = 0;  ///< as the engine reported it, else estimated
        Tokens output_tokens = 0;
        double units_per_token = 1;  ///< of the key's sizes; 1 for token keys
    };

    /// Appends to the file, after a new header line. Fails with Io.
    static Result<std::unique_ptr<TraceWriter>> open(Options options);
    ~TraceWriter();
    TraceWriter(const TraceWriter&) = delete;
    TraceWriter& operator=(const TraceWriter&) = delete;

    /// Requests without a key are recorded without blocks, each as a session of its own. Fails with
    /// Io when the disk does; later requests are then tried again.
    Result<void> record(const prompt::PromptKey& key, const Entry& entry);

    /// Hands buffered lines to the system.
    Result<void> flush();

  private:
    class State;
    explicit TraceWriter(std::unique_ptr<State> state);

    std::mutex mutex_;
    std::unique_ptr<State> state_;
};

}  // namespace prefix_router::sim
