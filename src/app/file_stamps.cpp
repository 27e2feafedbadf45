#include "app/file_stamps.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

namespace prefix_router::app {

FileStamp stamp_of(const std::string& path) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0) {
        return {};
    }
    return {found.st_dev, found.st_ino, found.st_size,
            found.st_mtim.tv_sec * kSecond + found.st_mtim.tv_nsec};
}

std::vector<FileStamp> stamps_of(const std::vector<std::string>& paths) {
    std::vector<FileStamp> stamps;
    stamps.reserve(paths.size());
    std::ranges::transform(paths, std::back_inserter(stamps), stamp_of);
    return stamps;
}

std::vector<std::string> files_named_in(const config::Config& config) {
    std::vector<std::string> paths;
    const auto add = [&paths](const std::optional<std::string>& path) {
        if (path) {
            paths.push_back(*path);
        }
    };
    const auto add_files_of = [&add](const config::Backend& backend) {
        add(backend.tls.ca);
        add(backend.tls.client_certificate);
        add(backend.tls.client_key);
        if (backend.authorization.kind == config::BackendAuthorization::Kind::File) {
            add(backend.authorization.source);
        }
    };
    add(config.tls.certificate);
    add(config.tls.key);
    add(config.tls.client_ca);
    for (const config::Backend& backend : config.backends) {
        add_files_of(backend);
    }
    for (const config::DnsSource& source : config.discovery.dns) {
        add_files_of(source.backend);
    }
    for (const config::KubernetesSource& source : config.discovery.kubernetes) {
        add_files_of(source.backend);
    }
    return paths;
}

}  // namespace prefix_router::app
