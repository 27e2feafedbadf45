#pragma once

#include <chrono>
#include <string>

#include "discovery/stop_signal.hpp"

namespace prefix_router::discovery {

/// Waits until a file may have changed. It is the folder that is watched: a file that is replaced
/// by renaming is another file, and Kubernetes replaces a link beside it. Where the folder cannot
/// be watched, and on file systems that tell nothing, the time alone decides.
class FileWatch {
  public:
    explicit FileWatch(std::string path);
    ~FileWatch();
    FileWatch(const FileWatch&) = delete;
    FileWatch& operator=(const FileWatch&) = delete;

    /// Returns at a change in the folder, after `time`, or when `stop` is raised.
    void wait(const StopSignal& stop, std::chrono::milliseconds time);

  private:
    void look_at_folder();
    void forget_events();

    std::string folder_;
    int descriptor_;  // -1: only the time decides
    int watch_ = -1;
};

}  // namespace prefix_router::discovery
