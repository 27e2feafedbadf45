#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/option_tables.hpp"

namespace prefix_router::config {
namespace {

constexpr std::size_t kLineLength = 100;

/// Writes `text` as comment lines that begin with `indent` and "# ".
void write_comment(std::ostream& out, const std::string& indent, const std::string& text) {
    std::istringstream words(text);
    std::string line = indent + "#";
    for (std::string word; words >> word;) {
        if (line.size() + 1 + word.size() > kLineLength) {
            out << line << "\n";
            line = indent + "#";
        }
        line += " " + word;
    }
    out << line << "\n";
}

/// An id that follows from the URL is written as a comment: a copied entry with another URL must
/// not keep it.
template <class Section>
bool is_implied(const Option<Section>& /*option*/, const Section& /*section*/) {
    return false;
}
bool is_implied(const Option<Backend>& option, const Backend& backend) {
    return option.name == "id" && backend.id == default_backend_id(backend.url);
}

/// An entry to copy where there is none: every option is in the file. Its lines begin with `indent`
/// and two spaces more.
void write_commented_out(const std::string& indent, std::istream& lines, std::ostream& out) {
    for (std::string line; std::getline(lines, line);) {
        line.erase(line.find_last_not_of(' ') + 1);
        out << indent << "#" << (line.empty() ? "" : line.substr(indent.size() + 1)) << "\n";
    }
}

class Writer {
  public:
    Writer(std::ostream& out, Comments comments) : out_(out), comments_(comments) {}

    void comment(const std::string& indent, const std::string& text) {
        if (comments_ == Comments::With) {
            write_comment(out_, indent, text);
        }
    }
    void gap() {
        if (comments_ == Comments::With) {
            out_ << "\n";
        }
    }
    template <class Section>
    void options(const std::string& indent, const OptionTable<Section>& table,
                 const Section& section) {
        bool is_first = true;
        for (const auto& option : table) {
            if (!std::exchange(is_first, false)) {
                gap();
            }
            comment(indent, std::string(option.help));
            comment(indent, "Accepts " + option.accepts + "." +
                                (option.reload == Reload::Restart ? " Needs a restart." : ""));
            const bool is_off = comments_ == Comments::With && is_implied(option, section);
            out_ << indent << (is_off ? "# " : "") << option.name << ": " << option.show(section)
                 << "\n";
        }
    }
    template <class Entry>
    void entry(const OptionTable<Entry>& table, const Entry& entry) {
        out_ << "  -\n";
        options("    ", table, entry);
    }
    /// The list under its help; where it is empty, an entry to copy.
    template <class Entry>
    void entries(std::string_view name, std::string_view help, const OptionTable<Entry>& table,
                 const std::vector<Entry>& list);
    void backend(const Backend& backend) {
        out_ << "  -\n";
        options("    ", backend_options(), backend);
        gap();
        comment("    ", std::string(kBackendTlsHelp));
        out_ << "    tls:\n";
        options("      ", backend_tls_options(), backend.tls);
    }
    template <class Source>
    void source(const OptionTable<Source>& table, const Source& source) {
        out_ << "    -\n";
        options("      ", table, source);
        gap();
        comment("      ", "TLS, where the scheme is https.");
        out_ << "      tls:\n";
        options("        ", backend_tls_options(), source.backend.tls);
    }
    /// A list of discovery's sources.
    template <class Source>
    void sources(std::string_view name, std::string_view help, const OptionTable<Source>& table,
                 const std::vector<Source>& list) {
        gap();
        comment("  ", std::string(help));
        out_ << "  " << name << (list.empty() ? ": []\n" : ":\n");
        for (const Source& one : list) {
            source(table, one);
        }
        if (list.empty() && comments_ == Comments::With) {
            std::stringstream lines;
            Writer(lines, Comments::With).source(table, Source{});
            write_commented_out("  ", lines, out_);
        }
    }

  private:
    std::ostream& out_;
    Comments comments_;
};

template <class Entry>
void Writer::entries(std::string_view name, std::string_view help, const OptionTable<Entry>& table,
                     const std::vector<Entry>& list) {
    gap();
    comment("", std::string(help));
    out_ << name << (list.empty() ? ": []\n" : ":\n");
    for (const Entry& each : list) {
        entry(table, each);
    }
    if (list.empty() && comments_ == Comments::With) {
        std::stringstream lines;
        Writer(lines, Comments::With).entry(table, Entry{});
        write_commented_out("", lines, out_);
    }
}

template <class Section>
void describe(const std::string& prefix, const OptionTable<Section>& table,
              std::vector<OptionFacts>& facts) {
    const Section defaults{};
    for (const auto& option : table) {
        facts.push_back(OptionFacts{prefix + std::string(option.name), option.accepts,
                                    option.show(defaults), std::string(option.help),
                                    option.reload});
    }
}

template <class Section>
void compare(const std::string& prefix, const OptionTable<Section>& table, const Section& running,
             const Section& next, Reload reload, std::vector<std::string>& names) {
    for (const auto& option : table) {
        if (option.reload == reload && option.show(running) != option.show(next)) {
            names.push_back(prefix + std::string(option.name));
        }
    }
}

std::vector<std::string> options_changed(const Config& running, const Config& next, Reload reload) {
    std::vector<std::string> names;
    compare("", top_level_options(), running, next, reload, names);
    if (reload == Reload::Restart && running.admin_tokens != next.admin_tokens) {
        names.emplace_back("admin_tokens");
    }
    if (reload == Reload::Live && running.api_keys != next.api_keys) {
        names.emplace_back("api_keys");
    }
    if (reload == Reload::Restart && running.discovery.dns != next.discovery.dns) {
        names.emplace_back("discovery.dns");
    }
    if (reload == Reload::Restart && running.discovery.kubernetes != next.discovery.kubernetes) {
        names.emplace_back("discovery.kubernetes");
    }
    for_each_section([&](std::string_view name, auto, auto member, const auto& table) {
        compare(std::string(name) + ".", table, running.*member, next.*member, reload, names);
    });
    return names;
}

}  // namespace

std::string to_yaml(const Config& config, Comments comments) {
    std::ostringstream out;
    Writer writer(out, comments);
    writer.comment(
        "",
        "prefix-router: every option with its default. Only 'backends' is required. "
        "Unknown keys are errors; 'prefix-router check --config FILE' names them all. "
        "SIGHUP, POST /config/reload and reload.watch read the file again; a change of an option "
        "that needs a restart is then refused.");
    writer.gap();
    writer.options("", top_level_options(), config);
    writer.entries("admin_tokens", kAdminTokensHelp, admin_token_options(), config.admin_tokens);
    writer.entries("api_keys", kApiKeysHelp, api_key_options(), config.api_keys);
    writer.gap();
    writer.comment("", std::string(kBackendsHelp));
    out << (config.backends.empty() ? "backends: []\n" : "backends:\n");
    for (const Backend& backend : config.backends) {
        writer.backend(backend);
    }
    for_each_section(
        [&](std::string_view name, std::string_view help, auto member, const auto& table) {
            writer.gap();
            writer.comment("", std::string(help));
            out << name << ":\n";
            writer.options("  ", table, config.*member);
            if (name == "discovery") {
                writer.sources("dns", kDnsHelp, dns_source_options(), config.discovery.dns);
                writer.sources("kubernetes", kKubernetesHelp, kubernetes_source_options(),
                               config.discovery.kubernetes);
            }
        });
    return out.str();
}

std::vector<OptionFacts> describe_options() {
    std::vector<OptionFacts> facts;
    describe("", top_level_options(), facts);
    describe("admin_tokens[].", admin_token_options(), facts);
    describe("api_keys[].", api_key_options(), facts);
    describe("backends[].", backend_options(), facts);
    describe("backends[].tls.", backend_tls_options(), facts);
    for_each_section([&](std::string_view name, auto, auto, const auto& table) {
        describe(std::string(name) + ".", table, facts);
    });
    describe("discovery.dns[].", dns_source_options(), facts);
    describe("discovery.dns[].tls.", backend_tls_options(), facts);
    describe("discovery.kubernetes[].", kubernetes_source_options(), facts);
    describe("discovery.kubernetes[].tls.", backend_tls_options(), facts);
    return facts;
}

std::vector<std::string> options_needing_restart(const Config& running, const Config& next) {
    return options_changed(running, next, Reload::Restart);
}

std::vector<std::string> live_options_changed(const Config& running, const Config& next) {
    return options_changed(running, next, Reload::Live);
}

}  // namespace prefix_router::config
