#include "discovery/file_watch.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>

namespace prefix_router::discovery {
namespace {

/// Not IN_MODIFY: a file that is being written is half a file.
constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE |
                                  IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

}  // namespace

FileWatch::FileWatch(std::string path)
    : folder_(folder_of(path)), descriptor_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    look_at_folder();
}

FileWatch::~FileWatch() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

/// The folder of this path now: another one may have come in its place.
void FileWatch::look_at_folder() {
    if (descriptor_ < 0) {
        return;
    }
    const int watch = ::inotify_add_watch(descriptor_, folder_.c_str(), kEvents);
    if (watch_ >= 0 && watch != watch_) {
        ::inotify_rm_watch(descriptor_, watch_);
    }
    watch_ = watch;
}

void FileWatch::wait(const StopSignal& stop, std::chrono::milliseconds time) {
    look_at_folder();
    std::array<pollfd, 2> waiting{{{stop.descriptor(), POLLIN, 0}, {descriptor_, POLLIN, 0}}};
    static_cast<void>(::poll(waiting.data(), waiting.size(), static_cast<int>(time.count())));
    forget_events();
}

void FileWatch::forget_events() {
    alignas(inotify_event) std::array<std::byte, 4096> events;
    while (descriptor_ >= 0 && ::read(descriptor_, events.data(), events.size()) > 0) {
    }
}

}  // namespace prefix_router::discovery
