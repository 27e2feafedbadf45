#include "app/reloader.hpp"

#include <unistd.h>

#include <chrono>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <spdlog/spdlog.h>

#include "prefix_router/base/logging.hpp"
#include "prefix_router/config/options.hpp"
#include "prefix_router/proxy/url_advice.hpp"

namespace prefix_router::app {
namespace {

std::string in_words(const std::string& what, const std::vector<std::string>& names) {
    std::string words;
    for (const std::string& name : names) {
        words += words.empty() ? what + " " : ", ";
        words += name;
    }
    return words;
}

std::string in_words(const admin::Levers::Reloaded& reloaded) {
    const auto& backends = reloaded.backends;
    std::string words;
    for (const std::string& part :
         {in_words("options", reloaded.options), in_words("backends added", backends.added),
          in_words("backends removed", backends.removed),
          in_words("backends changed", backends.changed),
          in_words("of which wait for a name that does not resolve", backends.unresolved)}) {
        words += part.empty() ? "" : (words.empty() ? "" : "; ") + part;
    }
    return words.empty() ? "nothing is different" : words;
}

double seconds_since_1970() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<double>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

}  // namespace

Reloader::Reloader(ConfigurationFile file, std::vector<FileStamp> named, config::Config running,
                   const Surroundings& around)
    : path_(std::move(file.path)),
      around_(around),
      reloads_(around.registry.counter("config_reloads_total",
                                       "Times that the configuration was to be read again")),
      failures_(around.registry.counter(
          "config_reload_failures_total",
          "Of these, those that were refused: the configuration before is in force")),
      last_successful_(around.registry.gauge("config_last_reload_successful",
                                             "0 when the last one was refused, else 1")),
      last_success_(
          around.registry.gauge("config_last_reload_success_timestamp_seconds",
                                "When the configuration in force was read, seconds since 1970")),
      watched_(files_named_in(running)),
      loaded_(std::move(named)),
      running_(std::move(running)),
      log_level_(running_.log.level) {
    watched_.push_back(path_);
    loaded_.push_back(file.stamp);
    seen_ = loaded_;
    last_successful_.Set(1);
    last_success_.Set(seconds_since_1970());
}

admin::Levers::Reloaded Reloader::reload(const std::string& who) {
    const std::lock_guard lock(reloading_);
    Reloaded reloaded = bring_into_force(read());
    tell(who, reloaded);
    return reloaded;
}

void Reloader::reload_if_changed() {
    {
        const std::lock_guard lock(reloading_);
        if (!running_.reload.watch || path_.empty()) {
            return;
        }
        auto now = stamps_of(watched_);
        const bool has_settled = now == seen_;
        seen_ = std::move(now);
        if (!has_settled || seen_ == loaded_) {
            return;
        }
    }
    reload("a file has changed");
}

/// What is written while it is read, or while a reload waits for something, is seen the next time:
/// every file is looked at before it is read. The files that are named now are watched even when
/// the reload is refused, because a secret may arrive after the configuration that names it.
config::Loaded Reloader::read() {
    const FileStamp before = stamp_of(path_);
    config::Loaded loaded;
    if (path_.empty()) {
        loaded.config = running_;
    } else {
        loaded = config::load_file(path_);
    }
    watched_ = loaded.config ? files_named_in(*loaded.config) : std::vector<std::string>();
    loaded_ = stamps_of(watched_);
    watched_.push_back(path_);
    loaded_.push_back(before);
    seen_ = loaded_;
    return loaded;
}

std::vector<std::string> Reloader::problems_with(const config::Config& next) const {
    std::vector<std::string> problems;
    for (const std::string& name : config::options_needing_restart(running_, next)) {
        problems.push_back(path_ + ": " + name +
                           ": differs from what is in force; only a restart can change it");
    }
    return problems;
}

/// What can fail comes first; then all of it is changed.
admin::Levers::Reloaded Reloader::bring_into_force(config::Loaded loaded) {
    Reloaded result;
    if (!loaded.config) {
        for (const auto& problem : loaded.problems) {
            result.problems.push_back(config::to_string(problem));
        }
        return result;
    }
    config::Config& next = *loaded.config;
    next.admin_is_optional = running_.admin_is_optional;
    result.problems = problems_with(next);
    if (!result.problems.empty()) {
        return result;
    }
    const auto settings = around_.server.prepare(next);
    if (!settings) {
        result.problems.push_back(settings.error().message());
        return result;
    }
    const auto keys = next.api_keys.empty() ? proxy::AskedForKeys::No : proxy::AskedForKeys::Yes;
    auto change = around_.roster.replace_configured(next.backends, keys);
    if (!change) {
        result.problems.push_back(change.error().message());
        return result;
    }
    around_.server.take(*settings);
    const std::lock_guard lock(mutex_);
    if (next.log.level != running_.log.level) {
        static_cast<void>(prefix_router::set_log_level(next.log.level));  // a level that there is
        log_level_ = next.log.level;
    }
    result.options = config::live_options_changed(running_, next);
    result.backends = std::move(*change);
    result.warnings = proxy::advice_on(next.backends);
    running_ = std::move(next);
    return result;
}

void Reloader::tell(const std::string& who, const Reloaded& reloaded) {
    const bool is_done = reloaded.problems.empty();
    last_successful_.Set(is_done ? 1 : 0);
    if (is_done) {
        last_success_.Set(seconds_since_1970());
    }
    failures_.Increment(is_done ? 0 : 1);
    reloads_.Increment();  // last: whoever sees it sees the others
    if (is_done) {
        spdlog::warn("{}: {} read again, with certificates and credentials: {}", who,
                     path_.empty() ? "no configuration file to be" : path_, in_words(reloaded));
        return;
    }
    for (const std::string& problem : reloaded.problems) {
        spdlog::error("{}: the configuration in force stays: {}", who, problem);
    }
}

Result<void> Reloader::set_log_level(const std::string& level) {
    const auto set = prefix_router::set_log_level(level);
    if (set) {
        const std::lock_guard lock(mutex_);
        log_level_ = level;
    }
    return set;
}

void Reloader::drain() {
    ::kill(::getpid(), kDrainSignal);
}

config::Config Reloader::effective() const {
    const std::lock_guard lock(mutex_);
    config::Config config = running_;
    config.log.level = log_level_;
    const auto members = around_.roster.members();
    for (config::Backend& backend : config.backends) {
        if (const auto member = members.find(backend.id); member != members.end()) {
            backend = proxy::in_force(member->second);
        }
    }
    for (const auto& [id, member] : members) {
        if (member.source == proxy::Roster::kAdmin) {
            config.backends.push_back(proxy::in_force(member));
        }
    }
    return config;
}

}  // namespace prefix_router::app
