#include "prefix_router/proxy/backend_entry.hpp"

#include <cstddef>

#include <spdlog/spdlog.h>

#include "prefix_router/base/secret.hpp"
#include "prefix_router/base/small_file.hpp"

namespace prefix_router::proxy {
namespace {

using Kind = config::BackendAuthorization::Kind;

Result<std::optional<std::string>> load_authorization(const config::BackendAuthorization& from,
                                                      AskedForKeys keys) {
    switch (from.kind) {
        case Kind::Auto:
            return keys == AskedForKeys::Yes ? std::optional(std::string()) : std::nullopt;
        case Kind::Pass:
            return std::optional<std::string>();
        case Kind::Remove:
            return std::optional(std::string());
        case Kind::Environment:
        case Kind::File:
            break;
    }
    auto secret = read_secret(
        from.kind == Kind::File ? SecretPlace::File : SecretPlace::Environment, from.source);
    if (!secret) {
        return Error(secret.error().kind(), "authorization: " + secret.error().message());
    }
    return std::optional(std::move(*secret));
}

/// The file's bytes; "" also where it cannot be read, which its reader complains of.
std::string bytes_of(const std::optional<std::string>& path) {
    constexpr std::size_t kMost = std::size_t{16} << 20;
    auto bytes = path ? read_small_file(*path, kMost) : Result<std::string>("");
    return bytes ? std::move(*bytes) : "";
}

/// Each part with its length: no two lists of parts look alike.
Sha256 fingerprint_of(const config::Backend& spec, const std::optional<std::string>& secret) {
    const config::BackendTls& tls = spec.tls;
    std::string text;
    const auto add = [&text](const std::string& part) {
        text += std::to_string(part.size()) + ":" + part;
    };
    add(secret ? "=" + *secret : "");
    if (spec.url.is_tls) {
        add(tls.verify ? "verified" : "");
        add(tls.server_name.value_or(""));
        for (const auto& path : {tls.ca, tls.client_certificate, tls.client_key}) {
            add(path.value_or(""));
            add(bytes_of(path));
        }
    }
    return sha256(text);
}

}  // namespace

Result<BackendAccess> load_access(const config::Backend& spec, AskedForKeys keys,
                                  const BackendAccess* present) {
    const auto complain = [&](const Error& error) {
        return Error(error.kind(), "backend " + spec.id + ": " + error.message());
    };
    BackendAccess access;
    auto authorization = load_authorization(spec.authorization, keys);
    if (!authorization) {
        return complain(authorization.error());
    }
    access.authorization = std::move(*authorization);
    // Before the files are used: what changes in between is seen the next time.
    access.fingerprint = fingerprint_of(spec, access.authorization);
    if (present != nullptr && present->fingerprint == access.fingerprint) {
        return *present;
    }
    if (spec.url.is_tls) {
        auto loaded = net::TlsClient::load(spec.tls, spec.url.host);
        if (!loaded) {
            return complain(loaded.error());
        }
        access.tls = std::move(*loaded);
    }
    return access;
}

BackendEntry::BackendEntry(const config::Backend& spec, BackendAccess access_,
                           std::shared_ptr<BackendMetrics> metrics_,
                           net::BackendAddress::Resolver resolver)
    : id(spec.id),
      url(spec.url),
      address_(std::make_shared<net::BackendAddress>(spec.url, std::move(resolver))),
      address(*address_),
      metrics(std::move(metrics_)),
      access(std::move(access_)),
      is_capacity_told(spec.capacity_tokens.has_value()) {}

BackendEntry::BackendEntry(const BackendEntry& present, BackendAccess access_)
    : id(present.id),
      url(present.url),
      address_(present.address_),
      address(*address_),
      metrics(present.metrics),
      access(std::move(access_)),
      is_capacity_told(present.is_capacity_told.load()) {}

void BackendEntry::tell_trouble(const Error& error) {
    std::string what(to_string(error.kind()));
    if (!error.message().empty()) {
        what += ": " + error.message();
    }
    if (what != last_trouble()) {
        spdlog::warn("backend {} ({}): {}", id, url.text, what);
    }
    note_trouble(std::move(what));
}

void BackendEntry::note_trouble(std::string what) {
    const std::lock_guard lock(mutex_);
    trouble_ = std::move(what);
}

std::string BackendEntry::last_trouble() const {
    const std::lock_guard lock(mutex_);
    return trouble_;
}

}  // namespace prefix_router::proxy
