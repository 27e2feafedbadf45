#pragma once

#include <optional>
#include <string>

#include "discovery/announcer.hpp"
#include "discovery/file_watch.hpp"
#include "discovery/source.hpp"

namespace prefix_router::discovery {

/// A file of backends. One mistake in it, and nothing of it comes into force.
class FileSource final : public Source {
  public:
    FileSource(const config::Discovery& config, metrics::Registry& registry,
               const Publish& publish);

    void run() override;

  private:
    void look();
    void take(const std::string& text);

    std::string path_;
    Announcer announcer_;
    FileWatch watch_;
    std::optional<Result<std::string>> seen_;
};

}  // namespace prefix_router::discovery
