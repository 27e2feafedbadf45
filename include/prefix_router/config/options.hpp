#pragma once

#include <string>
#include <vector>

#include "prefix_router/config/config.hpp"

namespace prefix_router::config {

/// Whether a reload brings a changed option into force.
enum class Reload : unsigned char { Live, Restart };
enum class Comments : unsigned char { With, Without };

/// What the option tables say about one option.
struct OptionFacts {
    std::string name;           ///< "routing.strategy", "backends[].url"
    std::string accepts;        ///< "a duration from 100ms to 1h"
    std::string default_value;  ///< as it is written in the file; "" where there is none
    std::string help;
    Reload reload = Reload::Live;
};
/// Every option, in the order of the file.
std::vector<OptionFacts> describe_options();

/// `config` as a file that loads back into the same configuration. With comments and the defaults
/// it is config/prefix-router.yaml.
std::string to_yaml(const Config& config, Comments comments);

/// docs/configuration.md: every option with its default, what it accepts and its help.
std::string to_markdown();

/// The names of the options that differ between the two and that only a restart brings into force.
std::vector<std::string> options_needing_restart(const Config& running, const Config& next);
/// The names of all others that differ, with api_keys as one; backends are not among them.
std::vector<std::string> live_options_changed(const Config& running, const Config& next);

/// As parse_listen() reads it: "0.0.0.0:8080", "[::1]:8080".
std::string to_string(const ListenAddress& address);

/// 8 hex digits of a hash of the URL, stable over versions and machines.
std::string default_backend_id(const BackendUrl& url);

}  // namespace prefix_router::config
