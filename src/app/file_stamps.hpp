#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "prefix_router/config/config.hpp"

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

std::vector<FileStamp> stamps_of(const std::vector<std::string>& paths);

/// The files that a configuration names: certificates, keys, authorities, credentials.
std::vector<std::string> files_named_in(const config::Config& config);

}  // namespace prefix_router::app
