#include "prefix_router/app/command_line.hpp"

#include <ostream>
#include <string_view>

#include <CLI/CLI.hpp>

#include "prefix_router/base/usage_error.hpp"
#include "prefix_router/config/options.hpp"

#include "app/configuration_check.hpp"
#include "app/file_stamps.hpp"
#include "app/version.hpp"

namespace prefix_router::app {
namespace {

constexpr int kUsageError = 2;
constexpr std::string_view kOurName = "prefix-router: ";

/// The flags as text; empty means "not given".
struct Flags {
    std::string config_path;
    std::string listen;
    std::string admin;
    std::string strategy;
    std::string log_level;
    std::string log_format;
    std::string access_log;
    std::vector<std::string> backends;
    std::uint32_t threads = 0;
    std::string take_over;
    std::string check_path;
    double speed_up = 1;
};

void declare(CLI::App& cli, Flags& flags) {
    cli.set_version_flag("--version", std::string("prefix-router ") + kVersion);
    auto* file = cli.add_option("-c,--config", flags.config_path, "Serve with this YAML file")
                     ->type_name("FILE");
    cli.add_option("--take-over", flags.take_over,
                   "Take the place of the router that serves this Unix socket, without refusing a "
                   "connection; then serve the socket, to be replaced in turn")
        ->type_name("SOCKET");
    const auto quick = [&](CLI::Option* option) { option->excludes(file)->group("Quick start"); };
    quick(cli.add_option("-b,--backend", flags.backends,
                         "A backend, such as http://127.0.0.1:8000; repeat for more")
              ->type_name("URL")
              ->allow_extra_args(false));
    quick(cli.add_option("-l,--listen", flags.listen, "Where clients connect (0.0.0.0:8080)")
              ->type_name("HOST:PORT"));
    quick(
        cli.add_option("--admin", flags.admin, "Metrics, health and state (127.0.0.1:9191), or off")
            ->type_name("HOST:PORT|off"));
    quick(cli.add_option("--strategy", flags.strategy,
                         "adaptive (default), prefix_aware, least_outstanding_requests, "
                         "round_robin or random")
              ->type_name("NAME"));
    quick(cli.add_option("--threads", flags.threads, "I/O threads (0: one per core)"));
    quick(cli.add_option("--log-level", flags.log_level, "trace, debug, info, warn, error or off"));
    quick(cli.add_option("--log-format", flags.log_format, "text or json"));
    quick(
        cli.add_option("--access-log", flags.access_log, "stdout (default), stderr, off or a file")
            ->type_name("WHERE"));
    // For benchmarks before engines that run faster than real ones: not in --help.
    cli.add_option("--bench-speed-up", flags.speed_up)->check(CLI::Range(0.01, 1000.0))->group("");
}

/// The quick-start flags as a YAML file, so that they are checked by the very same option tables.
std::string as_yaml(const Flags& flags) {
    const auto quoted = [](const std::string& text) {
        std::string out = "\"";
        for (const char c : text) {
            if (c == '"' || c == '\\') {
                out += '\\';
            }
            out += c;
        }
        return out + "\"";
    };
    std::string yaml =
        "listen: " + quoted(flags.listen.empty() ? "0.0.0.0:8080" : flags.listen) +
        "\nadmin: " + quoted(flags.admin.empty() ? "127.0.0.1:9191" : flags.admin) +
        "\nthreads: " + (flags.threads == 0 ? "auto" : std::to_string(flags.threads)) +
        "\nbackends:\n";
    for (const auto& url : flags.backends) {
        yaml += "  - url: " + quoted(url) + "\n";
    }
    if (!flags.strategy.empty()) {
        yaml += "routing:\n  strategy: " + quoted(flags.strategy) + "\n";
    }
    std::string log;
    const auto add = [&log, &quoted](const char* name, const std::string& value) {
        if (!value.empty()) {
            log += std::string("  ") + name + ": " + quoted(value) + "\n";
        }
    };
    add("level", flags.log_level);
    add("format", flags.log_format);
    add("access", flags.access_log);
    return log.empty() ? yaml : yaml + "log:\n" + log;
}

std::string_view option_for(std::string_view word) {
    for (const auto* end : {".yaml", ".yml", ".json"}) {
        if (word.ends_with(end)) {
            return "--config";
        }
    }
    return word.find(':') == word.npos ? "" : "--backend";
}

void print_problems(const std::vector<config::Problem>& problems, std::ostream& err) {
    for (const auto& problem : problems) {
        err << kOurName << config::to_string(problem) << '\n';
    }
}

Command serve(const Flags& flags, std::ostream& err) {
    const bool is_quick_start = flags.config_path.empty();
    ConfigurationFile file{flags.config_path, stamp_of(flags.config_path)};
    auto loaded = is_quick_start ? config::load_text(as_yaml(flags), "command line")
                                 : config::load_file(file.path);
    if (!loaded.config) {
        for (auto& problem : loaded.problems) {
            problem.line = is_quick_start ? 0 : problem.line;  // of a text that nobody has seen
        }
        print_problems(loaded.problems, err);
        return Exit{kUsageError};
    }
    // Several quick-start routers on one machine are ordinary; only an admin port that was asked
    // for must be free.
    loaded.config->admin_is_optional = is_quick_start && flags.admin.empty();
    return Serve{std::move(*loaded.config), std::move(file), flags.speed_up, flags.take_over};
}

Command check(const std::string& path, std::ostream& out, std::ostream& err) {
    const auto loaded = config::load_file(path);
    if (!loaded.config) {
        print_problems(loaded.problems, err);
        return Exit{kUsageError};
    }
    const Findings findings = look_behind(*loaded.config);
    for (const auto& warning : findings.warnings) {
        err << kOurName << path << ": warning: " << warning << '\n';
    }
    for (const auto& problem : findings.problems) {
        err << kOurName << path << ": " << problem << '\n';
    }
    if (!findings.problems.empty()) {
        return Exit{kUsageError};
    }
    out << path << ": good, " << loaded.config->backends.size() << " backends, strategy "
        << config::to_string(loaded.config->routing.strategy) << '\n';
    return Exit{0};
}

}  // namespace

Command parse_command_line(std::span<const char* const> arguments, std::ostream& out,
                           std::ostream& err) {
    if (arguments.size() > 1 && std::string_view(arguments[1]) == "replay") {
        return Replay{{arguments.begin() + 2, arguments.end()}};
    }
    CLI::App cli("Prefix-aware router for LLM inference servers.", "prefix-router");
    Flags flags;
    declare(cli, flags);
    auto* check_command =
        cli.add_subcommand("check", "Validate a configuration file (exit 0 or 2)");
    check_command->add_option("-c,--config", flags.check_path, "The YAML file")
        ->type_name("FILE")
        ->required();
    auto* hash_command = cli.add_subcommand(
        "hash-key", "Print the SHA-256 of an API key or token read from standard input");
    auto* reference_command = cli.add_subcommand(
        "config-reference", "Print the reference of all configuration options (Markdown)");
    cli.add_subcommand("replay", "Simulate a request trace: prefix-router replay --help");
    try {
        cli.parse(static_cast<int>(arguments.size()), arguments.data());
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) {  // --help, --version
            return Exit{cli.exit(error, out, err)};
        }
        err << explain_usage(cli, error, option_for);
        return Exit{kUsageError};
    }
    if (check_command->parsed()) {
        return check(flags.check_path, out, err);
    }
    if (hash_command->parsed()) {
        return HashKey{};
    }
    if (reference_command->parsed()) {
        out << config::to_markdown();
        return Exit{0};
    }
    if (flags.config_path.empty() && flags.backends.empty()) {
        err << kOurName
            << "no backends: give --config FILE, or --backend URL once per "
               "backend (see --help)\n";
        return Exit{kUsageError};
    }
    return serve(flags, err);
}

}  // namespace prefix_router::app
