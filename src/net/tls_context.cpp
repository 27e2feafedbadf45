#include <ctime>
#include <utility>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "prefix_router/base/small_file.hpp"
#include "prefix_router/net/tls.hpp"

namespace prefix_router::net {
namespace {

constexpr unsigned char kHttp11[] = "\x08http/1.1";
constexpr std::size_t kHttp11Size = sizeof kHttp11 - 1;
// As much as one read of the data plane takes.
constexpr std::size_t kReadBuffer = std::size_t{64} << 10;
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";  // of TLS 1.2: with forward secrecy

Error bad_file(const std::string& option, const std::string& file, const std::string& why) {
    return Error(ErrorKind::InvalidConfiguration, option + ": " + file + ": " + why);
}

std::string last_reason() {
    const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
    return reason != nullptr ? reason : "not usable";
}

/// OpenSSL's own words for a file that is not there are about BIO routines.
Result<void> check_readable(const std::string& option, const std::string& file) {
    const std::string trouble = trouble_with_file(file);
    return trouble.empty() ? Result<void>() : bad_file(option, file, trouble);
}

TlsContext make_context(const SSL_METHOD* method) {
    TlsContext context(SSL_CTX_new(method));
    SSL_CTX* const raw = context.get();
    if (raw == nullptr) {
        return context;
    }
    SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
    SSL_CTX_set_cipher_list(raw, kCiphers);
    SSL_CTX_set_options(
        raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(raw, 1);
    SSL_CTX_set_default_read_buffer_len(raw, kReadBuffer);
    // An encrypted key must not make the daemon ask on its terminal.
    SSL_CTX_set_default_passwd_cb(raw, [](char*, int, int, void*) { return -1; });
    return context;
}

Result<void> use_pair(SSL_CTX* context, const std::string& certificate, const std::string& key,
                      const std::string& certificate_option, const std::string& key_option) {
    ERR_clear_error();
    if (auto readable = check_readable(certificate_option, certificate); !readable) {
        return readable;
    }
    if (SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1) {
        return bad_file(certificate_option, certificate,
                        "holds no certificate in PEM: " + last_reason());
    }
    if (auto readable = check_readable(key_option, key); !readable) {
        return readable;
    }
    ERR_clear_error();
    if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1) {
        const bool is_other = ERR_GET_LIB(ERR_peek_last_error()) == ERR_LIB_X509;
        return bad_file(key_option, key,
                        is_other ? "is not the key of the certificate " + certificate
                                 : "holds no unencrypted private key in PEM: " + last_reason());
    }
    if (SSL_CTX_check_private_key(context) != 1) {
        return bad_file(key_option, key, "is not the key of the certificate " + certificate);
    }
    return {};
}

Result<void> trust_file(SSL_CTX* context, const std::string& file, const std::string& option) {
    ERR_clear_error();
    if (auto readable = check_readable(option, file); !readable) {
        return readable;
    }
    if (SSL_CTX_load_verify_file(context, file.c_str()) != 1) {
        return bad_file(option, file, "holds no certificates in PEM: " + last_reason());
    }
    return {};
}

std::chrono::system_clock::time_point expiry_of(SSL_CTX* context) {
    std::tm parts{};
    X509* const certificate = SSL_CTX_get0_certificate(context);
    if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) != 1) {
        return {};
    }
    return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

/// HTTP/1.1 when it is offered; a client that offers only other protocols is told so at once.
int select_protocol(SSL*, const unsigned char** out, unsigned char* size,
                    const unsigned char* offered, unsigned int offered_size, void*) {
    unsigned char* chosen = nullptr;
    if (SSL_select_next_proto(&chosen, size, kHttp11, kHttp11Size, offered, offered_size) !=
        OPENSSL_NPN_NEGOTIATED) {
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/// OpenSSL's callback for a session that may be resumed; 1: the reference is taken over.
int keep_session(SSL* ssl, SSL_SESSION* session) {
    auto* const client = static_cast<TlsClient*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), 0));
    client->keep(session);
    return 1;
}

Error out_of_memory() {
    return Error(ErrorKind::InvalidConfiguration, "tls: OpenSSL cannot be set up");
}

}  // namespace

void TlsContextReleaser::operator()(ssl_ctx_st* context) const {
    SSL_CTX_free(context);
}

TlsServer::TlsServer(TlsContext context)
    : context_(std::move(context)), expiry_(expiry_of(context_.get())) {}

Result<std::shared_ptr<const TlsServer>> TlsServer::load(const config::Tls& options) {
    TlsContext context = make_context(TLS_server_method());
    SSL_CTX* const raw = context.get();
    if (raw == nullptr) {
        return out_of_memory();
    }
    const bool is_13_only = options.min_version == config::TlsVersion::Tls13;
    SSL_CTX_set_min_proto_version(raw, is_13_only ? TLS1_3_VERSION : TLS1_2_VERSION);
    SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_session_id_context(raw, kHttp11, kHttp11Size);
    SSL_CTX_set_alpn_select_cb(raw, select_protocol, nullptr);
    if (auto used = use_pair(raw, *options.certificate, *options.key, "tls.certificate", "tls.key");
        !used) {
        return used.error();
    }
    if (options.client_ca) {
        if (auto trusted = trust_file(raw, *options.client_ca, "tls.client_ca"); !trusted) {
            return trusted.error();
        }
        SSL_CTX_set_client_CA_list(raw, SSL_load_client_CA_file(options.client_ca->c_str()));
        SSL_CTX_set_verify(raw, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
    return std::shared_ptr<const TlsServer>(new TlsServer(std::move(context)));
}

TlsClient::TlsClient(TlsContext context, std::string server_name)
    : context_(std::move(context)), server_name_(std::move(server_name)) {
    if (server_name_.ends_with('.')) {
        server_name_.pop_back();  // certificates name hosts without the root
    }
    SSL_CTX_set_ex_data(context_.get(), 0, this);
    SSL_CTX_set_session_cache_mode(context_.get(),
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
    SSL_CTX_sess_set_new_cb(context_.get(), keep_session);
}

TlsClient::~TlsClient() {
    SSL_SESSION_free(session_);
}

Result<std::shared_ptr<TlsClient>> TlsClient::load(const config::BackendTls& options,
                                                   const std::string& host) {
    TlsContext context = make_context(TLS_client_method());
    SSL_CTX* const raw = context.get();
    if (raw == nullptr || SSL_CTX_set_alpn_protos(raw, kHttp11, kHttp11Size) != 0) {
        return out_of_memory();
    }
    SSL_CTX_set_verify(raw, options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
    if (options.ca) {
        if (auto trusted = trust_file(raw, *options.ca, "tls.ca"); !trusted) {
            return trusted.error();
        }
    } else {
        SSL_CTX_set_default_verify_paths(raw);
    }
    if (options.client_certificate) {
        if (auto used = use_pair(raw, *options.client_certificate, *options.client_key,
                                 "tls.client_certificate", "tls.client_key");
            !used) {
            return used.error();
        }
    }
    return std::shared_ptr<TlsClient>(
        new TlsClient(std::move(context), options.server_name.value_or(host)));
}

void TlsClient::keep(ssl_session_st* session) {
    const std::lock_guard lock(mutex_);
    SSL_SESSION_free(std::exchange(session_, session));
}

ssl_session_st* TlsClient::last_session() const {
    const std::lock_guard lock(mutex_);
    if (session_ != nullptr) {
        SSL_SESSION_up_ref(session_);
    }
    return session_;
}

}  // namespace prefix_router::net
