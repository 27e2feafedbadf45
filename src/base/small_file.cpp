#include "prefix_router/base/small_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace prefix_router {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatience{5'000};

Error failure(const std::string& what, int code) {
    return Error(ErrorKind::Io, what + ": " + std::strerror(code));
}

/// As limits are written: in the largest unit that leaves no rest.
std::string size_in_words(std::size_t bytes) {
    constexpr std::size_t kKiB = 1024;
    constexpr std::size_t kMiB = kKiB * kKiB;
    if (bytes % kMiB == 0) {
        return std::to_string(bytes / kMiB) + " MiB";
    }
    return bytes % kKiB == 0 ? std::to_string(bytes / kKiB) + " KiB"
                             : std::to_string(bytes) + " bytes";
}

class OpenFile {
  public:
    /// O_NONBLOCK: opening a pipe waits for no writer. It means nothing for regular files.
    explicit OpenFile(const std::string& path)
        : descriptor_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) {}
    ~OpenFile() {
        if (is_open()) {
            ::close(descriptor_);
        }
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;

    bool is_open() const { return descriptor_ >= 0; }
    int descriptor() const { return descriptor_; }

  private:
    int descriptor_;
};

/// False when nothing came until `end`.
bool wait_for_bytes(int descriptor, std::chrono::steady_clock::time_point end) {
    const auto left =
        std::chrono::duration_cast<milliseconds>(end - std::chrono::steady_clock::now());
    pollfd waiting{descriptor, POLLIN, 0};
    return left.count() > 0 && ::poll(&waiting, 1, static_cast<int>(left.count())) != 0;
}

}  // namespace

Result<std::string> read_small_file(const std::string& path, std::size_t most) {
    const OpenFile file(path);
    if (!file.is_open()) {
        return failure("cannot be opened", errno);
    }
    const auto end = std::chrono::steady_clock::now() + kPatience;
    std::array<char, 16384> piece{};
    std::string text;
    while (true) {
        const ssize_t count = ::read(file.descriptor(), piece.data(), piece.size());
        if (count == 0) {
            return text;
        }
        if (count > 0) {
            text.append(piece.data(), static_cast<std::size_t>(count));
        } else if (errno != EAGAIN && errno != EINTR) {
            return failure("cannot be read", errno);
        } else if (!wait_for_bytes(file.descriptor(), end)) {
            return Error(ErrorKind::Io, "is a pipe into which nobody has written all");
        }
        if (text.size() > most) {
            return Error(ErrorKind::Io, "is larger than " + size_in_words(most));
        }
    }
}

std::string trouble_with_file(const std::string& path) {
    const OpenFile file(path);
    struct stat found{};
    if (!file.is_open() || ::fstat(file.descriptor(), &found) != 0) {
        return std::string("cannot be read: ") + std::strerror(errno);
    }
    if (!S_ISREG(found.st_mode)) {
        return "is no regular file";
    }
    return found.st_size == 0 ? "is empty" : "";
}

}  // namespace prefix_router
