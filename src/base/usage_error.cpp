#include "prefix_router/base/usage_error.hpp"

#include <optional>
#include <vector>

#include <CLI/CLI.hpp>

#include "prefix_router/base/logging.hpp"
#include "prefix_router/base/spelling.hpp"

namespace prefix_router {
namespace {

using Names = std::vector<std::string>;

/// The subcommand that the words after it belong to, or the program itself.
const CLI::App& addressed(const CLI::App& app) {
    const auto parsed = app.get_subcommands();
    return parsed.empty() ? app : addressed(*parsed.back());
}

/// Those that help shows.
Names option_names(const CLI::App& app) {
    Names names;
    for (const CLI::Option* const option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            if (!option->get_group().empty()) {
                names.push_back("--" + name);
            }
        }
    }
    return names;
}

Names subcommand_names(const CLI::App& app) {
    Names names;
    for (const CLI::App* const each : app.get_subcommands([](const CLI::App*) { return true; })) {
        names.push_back(each->get_name());
    }
    return names;
}

std::string did_you_mean(const std::optional<std::string_view>& name) {
    return name ? "; did you mean " + std::string(*name) + "?" : "";
}

std::string unexpected(const CLI::App& app, const std::string& word,
                       const OptionForWord& option_for) {
    const std::string shown = escape_for_log(word);
    if (word.starts_with('-')) {
        const std::string name = word.substr(0, word.find('='));
        return "unknown option " + shown + did_you_mean(nearest_name(name, option_names(app)));
    }
    const std::string option(option_for ? option_for(word) : std::string_view());
    if (!option.empty() && app.get_option_no_throw(option) != nullptr) {
        return "unexpected argument '" + shown + "'; did you mean " + option + " " + shown + "?";
    }
    return "unexpected argument '" + shown + "'" +
           did_you_mean(nearest_name(word, subcommand_names(app)));
}

}  // namespace

std::string explain_usage(const CLI::App& app, const CLI::ParseError& error,
                          const OptionForWord& option_for) {
    // An option that is required and misspelt is both missing and unexpected: the latter says more.
    const Names words = app.remaining(true);
    const std::string what =
        words.empty() ? error.what() : unexpected(addressed(app), words.front(), option_for);
    return app.get_name() + ": " + what + "\nRun with --help for more information.\n";
}

}  // namespace prefix_router
