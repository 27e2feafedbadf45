#include "discovery/kubernetes_source.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <spdlog/spdlog.h>

#include "discovery/line_splitter.hpp"

namespace prefix_router::discovery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kLeastPause{250};
constexpr milliseconds kMostPause{30'000};
constexpr milliseconds kAnswerTimeout{15'000};
constexpr std::size_t kLongestEvent = std::size_t{8} << 20;

/// Whether the same watch may be granted later: it is no fault of its version.
bool may_be_asked_again(int status) {
    return status == 401 || status == 403 || status == 429 || (status / 100 == 5 && status != 504);
}

}  // namespace

KubernetesSource::KubernetesSource(const config::KubernetesSource& source,
                                   const config::Discovery& config, metrics::Registry& registry,
                                   const Publish& publish, ServiceAccount account)
    : source_(source),
      account_(std::move(account)),
      announcer_(config::source_name(source), config, registry, publish),
      pause_(kLeastPause, kMostPause, Random(seed_from_system())) {}

void KubernetesSource::stop() {
    Source::stop();
    client_.cancel();
}

void KubernetesSource::run() {
    while (!stop_signal().is_raised()) {
        next_ = next_ == Next::List ? list() : watch();
    }
}

/// Files are read for each request: tokens are replaced every hour, authorities now and then.
Result<web::HttpRequest> KubernetesSource::request(const std::string& query) const {
    auto access =
        source_.kubeconfig ? read_kubeconfig(*source_.kubeconfig) : read_service_account(account_);
    if (access.has_error()) {
        return access.error();
    }
    web::HttpRequest request;
    request.url = access->server + "/apis/discovery.k8s.io/v1/namespaces/" +
                  source_.name_space.value_or(access->name_space) +
                  "/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D" +
                  source_.service + query;
    request.headers = {"Accept: application/json", "User-Agent: prefix-router"};
    if (access->token) {
        request.headers.push_back("Authorization: Bearer " + *access->token);
    }
    request.tls = std::move(access->tls);
    request.timeout = kAnswerTimeout;
    return request;
}

KubernetesSource::Next KubernetesSource::list() {
    const auto asked = request("");
    if (asked.has_error()) {
        failed(asked.error().message());
        return Next::List;
    }
    const auto answer = client_.exchange(*asked);
    if (client_.is_cancelled()) {
        return Next::List;
    }
    if (answer.has_error()) {
        failed(answer.error().message());
        return Next::List;
    }
    if (answer->status != 200) {
        refused(*answer);
        return Next::List;
    }
    auto list = parse_slice_list(answer->body);
    if (list.has_error()) {
        failed(list.error().message());
        return Next::List;
    }
    slices_.replace(std::move(list->slices));
    version_ = std::move(list->resource_version);
    announce();
    return Next::Watch;
}

KubernetesSource::Next KubernetesSource::watch() {
    constexpr milliseconds kLateness{15'000};
    const auto length = std::chrono::duration_cast<seconds>(source_.watch);
    auto asked = request("&watch=true&allowWatchBookmarks=true&resourceVersion=" + version_ +
                         "&timeoutSeconds=" + std::to_string(length.count()));
    if (asked.has_error()) {
        failed(asked.error().message());
        return Next::Watch;
    }
    asked->timeout = source_.watch + kLateness;
    has_events_ = false;
    next_ = Next::Watch;
    LineSplitter lines(kLongestEvent);
    const TimePoint begin = clock_.now();
    bool has_begun = false;
    const auto answer = client_.stream(*asked, [&](std::string_view piece) {
        if (!std::exchange(has_begun, true)) {
            announcer_.same_as_before();
        }
        return lines.take(piece, [this](std::string_view line) { return take(line); });
    });
    if (client_.is_cancelled()) {
        return next_;
    }
    // A server that ends each watch at once is not asked without a pause.
    if (has_events_ || clock_.now() - begin > kMostPause) {
        pause_.reset();
    }
    if (answer.has_error() && !has_begun) {
        failed(answer.error().message());
    } else if (answer.has_value() && answer->status == 410) {
        next_ = Next::List;
        stop_signal().wait(pause_.next());
    } else if (answer.has_value() && answer->status != 200) {
        // A restored server answers 504: it has not come to this version yet, and may never.
        next_ = may_be_asked_again(answer->status) ? Next::Watch : Next::List;
        refused(*answer);
    } else {
        // Ended, or cut: the next one goes on from here, and its failure would be one.
        spdlog::debug("discovery: a watch ended: {}",
                      answer.has_error() ? answer.error().message() : "in order");
        stop_signal().wait(pause_.next());
    }
    return next_;
}

bool KubernetesSource::take(std::string_view line) {
    auto event = parse_slice_event(line);
    if (event.has_error() || event->kind == SliceEvent::Kind::Expired ||
        event->kind == SliceEvent::Kind::Failed) {
        spdlog::debug("discovery: the list is asked for again: {}",
                      event.has_error() ? event.error().message() : event->message);
        next_ = Next::List;
        return false;
    }
    has_events_ = true;
    version_ = std::move(event->resource_version);
    if (event->kind == SliceEvent::Kind::Bookmark) {
        announcer_.same_as_before();
        return true;
    }
    if (event->kind == SliceEvent::Kind::Deleted) {
        slices_.remove(event->slice.name);
    } else {
        slices_.put(std::move(event->slice));
    }
    announce();
    return true;
}

void KubernetesSource::announce() {
    auto backends = slices_.backends(source_);
    if (backends.has_error()) {
        announcer_.unusable(backends.error().message());
        return;
    }
    ids_.assign(*backends);
    announcer_.found(std::move(*backends));
}

void KubernetesSource::refused(const web::HttpAnswer& answer) {
    constexpr int kForbidden = 403;
    std::string why = "the API server answers " + std::to_string(answer.status);
    if (const auto message = status_message(answer.body); !message.empty()) {
        why += ": " + message;
    }
    if (answer.status == kForbidden) {
        why +=
            "; allow the router's account to get, list and watch endpointslices.discovery.k8s.io "
            "in the Service's namespace";
    }
    failed(why);
    stop_signal().wait(std::min<milliseconds>(answer.retry_after, kMostPause));
}

void KubernetesSource::failed(std::string_view why) {
    announcer_.failed(why);
    stop_signal().wait(pause_.next());
}

}  // namespace prefix_router::discovery
