#include "discovery/file_source.hpp"

#include <chrono>
#include <utility>

namespace prefix_router::discovery {
namespace {

/// Where no event tells of a change.
constexpr std::chrono::milliseconds kLookInterval{5'000};

/// All problems in one line.
std::string in_words(const std::vector<config::Problem>& problems) {
    constexpr std::size_t kMost = 5;
    std::string words;
    for (std::size_t i = 0; i < problems.size() && i < kMost; ++i) {
        words += (i == 0 ? "" : "; ") + config::to_string(problems[i]);
    }
    if (problems.size() > kMost) {
        words += "; and " + std::to_string(problems.size() - kMost) + " more";
    }
    return words;
}

bool are_same(const Result<std::string>& a, const Result<std::string>& b) {
    return a.has_value() == b.has_value() &&
           (a.has_value() ? *a == *b : a.error().message() == b.error().message());
}

}  // namespace

FileSource::FileSource(const config::Discovery& config, metrics::Registry& registry,
                       const Publish& publish)
    : path_(*config.file), announcer_("file:" + path_, config, registry, publish), watch_(path_) {}

void FileSource::run() {
    while (!stop_signal().is_raised()) {
        look();
        watch_.wait(stop_signal(), kLookInterval);
    }
}

void FileSource::look() {
    auto text = config::read_file(path_);
    if (seen_ && are_same(*seen_, text)) {
        announcer_.same_as_before();
        return;
    }
    if (text.has_error()) {
        announcer_.unusable(text.error().message(), Announcer::Tell::Always);
    } else {
        take(*text);
    }
    seen_ = std::move(text);
}

void FileSource::take(const std::string& text) {
    auto loaded = config::load_backends(text, path_);
    if (loaded.backends) {
        announcer_.found(std::move(*loaded.backends));
    } else {
        announcer_.unusable(in_words(loaded.problems), Announcer::Tell::Always);
    }
}

}  // namespace prefix_router::discovery
