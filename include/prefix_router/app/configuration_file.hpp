#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace prefix_router::app {

/// How a file looks from outside, links followed: another one when it was written or replaced, or
/// when a link on the way to it leads elsewhere, as Kubernetes does with ConfigMaps. All zero: it
/// is not there.
struct FileStamp {
    dev_t device = 0;
    ino_t number = 0;
    off_t size = 0;
    std::int64_t changed_ns = 0;

    friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// The file that a configuration was read from. Its stamp is from before that: what is written
/// while it is read, or before the first look of the watch, makes another one.
struct ConfigurationFile {
    std::string path;  ///< "": there is none
    FileStamp stamp;
};

}  // namespace prefix_router::app
