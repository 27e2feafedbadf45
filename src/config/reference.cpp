#include <sstream>

#include "config/option_tables.hpp"

namespace prefix_router::config {
namespace {

/// A table cell: what would end it is escaped.
std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') {
            out += '\\';
        }
        out += c;
    }
    return out;
}

std::string code(const std::string& value) {
    return value.empty() || value == "\"\"" ? "" : "`" + cell(value) + "`";
}

constexpr std::string_view kTlsToo =
    " `tls` has the fields of [backends[].tls](#backendstls), where the scheme is https.";

template <class Section>
void write_table(std::ostream& out, const OptionTable<Section>& table) {
    const Section defaults{};
    out << "| option | default | accepts | meaning | reload |\n|---|---|---|---|---|\n";
    for (const auto& option : table) {
        out << "| `" << option.name << "` | " << code(option.show(defaults)) << " | "
            << cell(option.accepts) << " | " << cell(option.help) << " | "
            << (option.reload == Reload::Restart ? "restart" : "live") << " |\n";
    }
}

}  // namespace

std::string to_markdown() {
    std::ostringstream out;
    out << "# Configuration reference\n\n"
           "Written by `prefix-router config-reference` from the tables that read the file; do not "
           "edit it.\n"
           "[`config/prefix-router.yaml`](../config/prefix-router.yaml) is the same as a file to "
           "start from. Unknown keys are\n"
           "errors; `prefix-router check --config FILE` names every mistake with its line. The "
           "file is read at the start, and again\n"
           "on SIGHUP, `POST /config/reload` and with `reload.watch`: all of it comes into force, "
           "or "
           "nothing does. The last column\n"
           "says which options such a reload changes live; a file that changes another one is "
           "refused by name.\n\n"
           "Durations are written `250ms`, `5s`, `10m` or `1h`, sizes `64KiB`, `256MiB` or "
           "`1GiB`.\n\n"
           "## Top level\n\n";
    write_table(out, top_level_options());
    out << "\n## admin_tokens[]\n\n" << kAdminTokensHelp << "\n\n";
    write_table(out, admin_token_options());
    out << "\n## api_keys[]\n\n" << kApiKeysHelp << "\n\n";
    write_table(out, api_key_options());
    out << "\n## backends[]\n\n" << kBackendsHelp << "\n\n";
    write_table(out, backend_options());
    out << "\n## backends[].tls\n\n" << kBackendTlsHelp << "\n\n";
    write_table(out, backend_tls_options());
    for_each_section([&](std::string_view name, std::string_view help, auto, const auto& table) {
        out << "\n## " << name << "\n\n" << help << "\n\n";
        write_table(out, table);
        if (name == "discovery") {
            out << "\n## discovery.dns[]\n\n" << kDnsHelp << kTlsToo << "\n\n";
            write_table(out, dns_source_options());
            out << "\n## discovery.kubernetes[]\n\n" << kKubernetesHelp << kTlsToo << "\n\n";
            write_table(out, kubernetes_source_options());
        }
    });
    return out.str();
}

}  // namespace prefix_router::config
