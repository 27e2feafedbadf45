#include "config/raw_yaml.hpp"

#include <algorithm>
#include <exception>
#include <sstream>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/yaml.h>

#include "config/text_check.hpp"

namespace prefix_router::config {
namespace {

constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kMaxNodes = 100'000;

/// Ends the parser from inside an event; never leaves this file.
struct Refused : std::exception {
    Refused(int at_line, std::string what_to_do) : line(at_line), message(std::move(what_to_do)) {}
    int line;
    std::string message;
};

int line_of(const YAML::Mark& mark) {
    return mark.is_null() ? 0 : mark.line + 1;
}

/// Builds the tree from yaml-cpp's events rather than from YAML::Node: aliases are never expanded,
/// depth and size are bounded while reading, and repeated keys are seen.
class TreeBuilder final : public YAML::EventHandler {
  public:
    explicit TreeBuilder(Report& report) : report_(report) {}

    RawNode take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
        leaf(RawNode::Kind::Null, line_of(mark), "");
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        throw Refused(line_of(mark), "aliases (*name) are not read; write the value out");
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  const std::string& value) override {
        check_tag(mark, tag);
        leaf(RawNode::Kind::Scalar, line_of(mark), value);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {
        check_tag(mark, tag);
        open(RawNode::Kind::List, line_of(mark));
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                    YAML::EmitterStyle::value) override {
        check_tag(mark, tag);
        open(RawNode::Kind::Map, line_of(mark));
    }
    void OnMapEnd() override { close(); }

  private:
    struct Frame {
        RawNode node;
        std::string key;
        int key_line = 0;
        bool has_key = false;
    };

    static void check_tag(const YAML::Mark& mark, const std::string& tag) {
        if (!tag.empty() && tag != "?" && tag != "!") {
            throw Refused(line_of(mark), "the tag " + in_quotes(tag) + " is not read; delete it");
        }
    }

    bool expects_key() const {
        return !open_.empty() && open_.back().node.kind == RawNode::Kind::Map &&
               !open_.back().has_key;
    }

    void leaf(RawNode::Kind kind, int line, const std::string& text) {
        count(line);
        if (expects_key()) {
            open_.back().key = text;
            open_.back().key_line = line;
            open_.back().has_key = true;
            return;
        }
        RawNode node;
        node.kind = kind;
        node.line = line;
        node.text = text;
        place(std::move(node));
    }

    void open(RawNode::Kind kind, int line) {
        count(line);
        if (expects_key()) {
            throw Refused(line, "a key must be a plain word, not a list or a map");
        }
        if (open_.size() >= kMaxDepth) {
            throw Refused(line, "nested deeper than " + std::to_string(kMaxDepth) +
                                    " levels; the configuration needs four");
        }
        open_.emplace_back();
        open_.back().node.kind = kind;
        open_.back().node.line = line;
    }

    void close() {
        RawNode node = std::move(open_.back().node);
        open_.pop_back();
        if (node.kind == RawNode::Kind::Map) {
            report_repeated_keys(node);
        }
        place(std::move(node));
    }

    void place(RawNode node) {
        if (open_.empty()) {
            root_ = std::move(node);
            return;
        }
        Frame& parent = open_.back();
        node.key = std::move(parent.key);
        node.key_line = parent.key_line;
        if (node.kind == RawNode::Kind::Null && parent.has_key) {
            node.line = parent.key_line;  // yaml-cpp marks the token after the missing value
        }
        parent.has_key = false;
        parent.node.children.push_back(std::move(node));
    }

    void count(int line) {
        if (++nodes_ > kMaxNodes) {
            throw Refused(line, "more than " + std::to_string(kMaxNodes) + " values in one file");
        }
    }

    void report_repeated_keys(const RawNode& map) {
        std::vector<const RawNode*> sorted;
        sorted.reserve(map.children.size());
        for (const RawNode& child : map.children) {
            sorted.push_back(&child);
        }
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](const RawNode* a, const RawNode* b) { return a->key < b->key; });
        for (std::size_t i = 1; i < sorted.size(); ++i) {
            if (sorted[i]->key == sorted[i - 1]->key) {
                report_.add(sorted[i]->key_line,
                            "key " + in_quotes(sorted[i]->key) + " is already in line " +
                                std::to_string(sorted[i - 1]->key_line) + "; delete one of them");
            }
        }
    }

    Report& report_;
    RawNode root_;
    std::vector<Frame> open_;
    std::size_t nodes_ = 0;
};

/// Says more where yaml-cpp's own words leave a user puzzled: `listen: [::1]:80` is a list to YAML.
std::string explain(std::string_view text, const YAML::ParserException& error) {
    std::string message = "not valid YAML: " + error.msg;
    const std::string_view line = line_at(text, line_of(error.mark));
    if (line.find('[') != line.npos && line.find(':') != line.npos) {
        message += "; put a value with brackets in quotes: \"[::1]:8080\"";
    } else if (line.find('\t') != line.npos) {
        message += "; indent with spaces, not with tabs";
    }
    return message;
}

void parse(std::string_view text, TreeBuilder& builder) {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    if (parser) {
        throw Refused(
            0, "text after the end of the document; look for a second '---' or a bracket too many");
    }
}

}  // namespace

std::optional<RawNode> read_yaml(std::string_view text, Report& report) {
    if (text.size() > kMaxFileBytes) {
        report.add(0, "larger than 1 MiB; this cannot be a configuration");
        return std::nullopt;
    }
    if (const auto line = first_line_that_is_not_text(text)) {
        report.add(*line, "holds bytes that are not UTF-8 text; save the file as UTF-8");
        return std::nullopt;
    }
    TreeBuilder builder(report);
    try {
        parse(text, builder);
        return builder.take();
    } catch (const Refused& refused) {
        report.add(refused.line, refused.message);
    } catch (const YAML::ParserException& error) {
        report.add(line_of(error.mark), explain(text, error));
    } catch (const std::exception& error) {
        report.add(0, std::string("not valid YAML: ") + error.what());
    }
    return std::nullopt;
}

}  // namespace prefix_router::config
