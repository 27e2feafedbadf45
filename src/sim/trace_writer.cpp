#include "prefix_router/sim/trace_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <openssl/sha.h>

#include "sim/session_finder.hpp"

namespace prefix_router::sim {
namespace {

constexpr std::uint32_t kBlockTokens = 64;
constexpr std::size_t kIdBits = 52;  // exact in readers that keep numbers as doubles

struct CloseFile {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};

}  // namespace

class TraceWriter::State {
  public:
    explicit State(Options options)
        : options_(std::move(options)), sessions_(options_.max_remembered) {}

    Result<void> reopen();
    Result<void> record(const prompt::PromptKey& key, const Entry& entry);
    Result<void> flush();

  private:
    Error failure() const {
        return Error(ErrorKind::Io,
                     "cannot write the trace '" + options_.path + "': " + std::strerror(errno));
    }
    Result<void> write(const std::string& line);
    Result<void> rotate();
    std::string render(const prompt::PromptKey& key, const Entry& entry);
    std::uint64_t salted(std::uint64_t hash) const;

    Options options_;
    SessionFinder sessions_;
    std::unique_ptr<std::FILE, CloseFile> file_;
    std::size_t bytes_ = 0;
    std::uint64_t run_ = 0;  // tells sessions of different runs apart in one file
};

Result<void> TraceWriter::State::reopen() {
    file_.reset(std::fopen(options_.path.c_str(), "ab"));
    if (!file_) return failure();
    if (std::fseek(file_.get(), 0, SEEK_END) != 0) return failure();
    bytes_ = static_cast<std::size_t>(std::max(0L, std::ftell(file_.get())));
    run_ = salted(0);
    return write("{\"version\":1,\"block_size\":" + std::to_string(kBlockTokens) + "}\n");
}

Result<void> TraceWriter::State::record(const prompt::PromptKey& key, const Entry& entry) {
    if (!file_) {
        const auto opened = reopen();
        if (!opened) return opened.error();
    }
    auto written = write(render(key, entry));
    if (!written || bytes_ < options_.max_bytes) return written;
    return rotate();
}

Result<void> TraceWriter::State::write(const std::string& line) {
    if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size()) return failure();
    bytes_ += line.size();
    return {};
}

Result<void> TraceWriter::State::flush() {
    if (file_ && std::fflush(file_.get()) != 0) return failure();
    return {};
}

/// path -> path.1 -> ... -> path.N; the oldest is replaced.
Result<void> TraceWriter::State::rotate() {
    const auto flushed = flush();
    if (!flushed) return flushed.error();
    file_.reset();
    const auto numbered = [this](std::uint32_t k) {
        return k == 0 ? options_.path : options_.path + "." + std::to_string(k);
    };
    const bool is_in_the_way =
        options_.kept_files == 0 && std::remove(options_.path.c_str()) != 0 && errno != ENOENT;
    if (is_in_the_way) return failure();
    for (std::uint32_t k = options_.kept_files; k-- > 0;) {
        const int status = std::rename(numbered(k).c_str(), numbered(k + 1).c_str());
        if (status != 0 && errno != ENOENT) return failure();
    }
    return reopen();
}

std::string TraceWriter::State::render(const prompt::PromptKey& key, const Entry& entry) {
    // Fields rendered behind the messages are no part of what the next turn goes on from.
    const std::size_t turn_blocks = key.history.blocks > 0 ? key.history.blocks : key.size();
    const std::span<const std::uint64_t> hashes = key.hashes;
    const SessionFinder::Turn turn = sessions_.note(
        hashes.first(std::min(turn_blocks, hashes.size())), entry.arrived, entry.ended);
    std::string ids;
    std::string sizes;
    Tokens before = 0;
    for (std::size_t k = 0; k < key.size(); ++k) {
        const Tokens end = std::llround(key.ends[k] / entry.units_per_token);
        const Tokens size = std::max<Tokens>(1, end - before);
        before += size;
        const char* comma = k == 0 ? "" : ",";
        ids += comma + std::to_string(salted(key.hashes[k]));
        sizes += comma + std::to_string(size);
    }
    std::array<char, 32> think{};
    static_cast<void>(std::snprintf(think.data(), think.size(), "%.3f",
                                    static_cast<double>(turn.think.count()) / 1000));
    return "{\"timestamp\":" + std::to_string(entry.arrived.count()) +
           ",\"input_length\":" + std::to_string(entry.prompt_tokens) +
           ",\"output_length\":" + std::to_string(entry.output_tokens) + ",\"hash_ids\":[" + ids +
           "],\"block_tokens\":[" + sizes + "],\"session\":\"" + std::to_string(run_ % 1'000'000) +
           "-" + std::to_string(turn.session) + "\",\"think\":" + think.data() + "}\n";
}

/// The first bits of SHA-256(salt, hash): without the salt nobody can tell which prompt it was.
std::uint64_t TraceWriter::State::salted(std::uint64_t hash) const {
    std::array<unsigned char, 32 + sizeof hash> text{};
    std::copy(options_.salt.begin(), options_.salt.end(), text.begin());
    std::memcpy(text.data() + options_.salt.size(), &hash, sizeof hash);
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(text.data(), text.size(), digest.data());
    std::uint64_t result = 0;
    std::memcpy(&result, digest.data(), sizeof result);
    return result >> (64 - kIdBits);
}

TraceWriter::TraceWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceWriter::~TraceWriter() = default;

Result<std::unique_ptr<TraceWriter>> TraceWriter::open(Options options) {
    auto state = std::make_unique<State>(std::move(options));
    const auto opened = state->reopen();
    if (!opened) return opened.error();
    return std::unique_ptr<TraceWriter>(new TraceWriter(std::move(state)));
}

Result<void> TraceWriter::record(const prompt::PromptKey& key, const Entry& entry) {
    const std::lock_guard lock(mutex_);
    return state_->record(key, entry);
}

Result<void> TraceWriter::flush() {
    const std::lock_guard lock(mutex_);
    return state_->flush();
}

}  // namespace prefix_router::sim
