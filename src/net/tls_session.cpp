#include "net/tls_session.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include <openssl/err.h>
#include <openssl/x509v3.h>

namespace prefix_router::net {
namespace {

constexpr std::size_t kRecord = SSL3_RT_MAX_PLAIN_LENGTH;

bool is_address(const std::string& name) {
    ASN1_OCTET_STRING* const address = a2i_IPADDRESS(name.c_str());
    ASN1_OCTET_STRING_free(address);
    return address != nullptr;
}

/// The first bytes of `pieces`, one record at most; valid until the next call on this thread.
std::string_view next_record(const Pieces& pieces) {
    thread_local std::array<char, kRecord> gathered;
    const auto vectors = pieces.vectors();
    const iovec& front = vectors.front();
    if (front.iov_len >= kRecord || front.iov_len == pieces.left()) {
        return {static_cast<const char*>(front.iov_base), std::min(front.iov_len, kRecord)};
    }
    std::size_t size = 0;
    for (const iovec& piece : vectors) {
        const std::size_t taken = std::min(piece.iov_len, kRecord - size);
        std::memcpy(gathered.data() + size, piece.iov_base, taken);
        size += taken;
    }
    return {gathered.data(), size};
}

}  // namespace

TlsSession::TlsSession(std::shared_ptr<const TlsServer> server, int descriptor)
    : ssl_(SSL_new(server->context())) {
    context_ = std::move(server);
    if (ssl_ && SSL_set_fd(ssl_.get(), descriptor) == 1) {
        SSL_set_accept_state(ssl_.get());
    } else {
        throw std::bad_alloc();
    }
}

TlsSession::TlsSession(std::shared_ptr<TlsClient> client, int descriptor)
    : ssl_(SSL_new(client->context())), is_client_(true) {
    SSL* const ssl = ssl_.get();
    if (ssl == nullptr || SSL_set_fd(ssl, descriptor) != 1) {
        throw std::bad_alloc();
    }
    SSL_set_connect_state(ssl);
    const std::string& name = client->server_name();
    if (is_address(name)) {
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str());
    } else {
        // SSL_set_tlsext_host_name is a macro with an old-style cast.
        SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                 const_cast<char*>(name.c_str()));
        SSL_set1_host(ssl, name.c_str());
    }
    if (SSL_SESSION* const session = client->last_session()) {
        SSL_set_session(ssl, session);
        SSL_SESSION_free(session);
    }
    context_ = std::move(client);
}

IoStatus TlsSession::handshake() {
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl_.get());
    if (result == 1) {
        has_pending_ = SSL_has_pending(ssl_.get()) == 1;  // a request may come with the last flight
        return IoStatus::Done;
    }
    const int wanted = SSL_want(ssl_.get());
    const IoStatus status = status_after(result);
    read_waits_for_write_ = status == IoStatus::WouldBlock && wanted == SSL_WRITING;
    if (status == IoStatus::WouldBlock) {
        return status;
    }
    failure_ = describe_failure();
    return IoStatus::Failed;
}

/// What a call that did not succeed means.
IoStatus TlsSession::status_after(int result) {
    switch (SSL_get_error(ssl_.get(), result)) {
        case SSL_ERROR_WANT_READ:
        case SSL_ERROR_WANT_WRITE:
            return IoStatus::WouldBlock;
        case SSL_ERROR_ZERO_RETURN:
            return IoStatus::Ended;
        default:
            is_broken_ = true;
            return IoStatus::Failed;
    }
}

Error TlsSession::describe_failure() const {
    const long verdict = SSL_get_verify_result(ssl_.get());
    if (verdict != X509_V_OK && SSL_get_verify_mode(ssl_.get()) != SSL_VERIFY_NONE) {
        return Error(
            is_client_ ? ErrorKind::BackendCertificate : ErrorKind::TlsFailed,
            std::string("the certificate is refused: ") + X509_verify_cert_error_string(verdict));
    }
    const unsigned long code = ERR_peek_last_error();
    const char* const reason = ERR_reason_error_string(code);
    return Error(is_client_ ? ErrorKind::BackendTlsFailed : ErrorKind::TlsFailed,
                 reason != nullptr ? reason : "the connection ended");
}

/// Reads until the room is full or nothing is left of what the socket gave: a short read is
/// followed by a wait, which costs a system call less than asking the socket in vain.
IoResult TlsSession::read(std::span<char> room) {
    std::size_t total = 0;
    has_pending_ = false;
    read_waits_for_write_ = false;
    while (total < room.size()) {
        std::size_t got = 0;
        ERR_clear_error();
        const int result = SSL_read_ex(ssl_.get(), room.data() + total, room.size() - total, &got);
        if (result != 1) {
            const IoStatus status = status_after(result);
            read_waits_for_write_ =
                status == IoStatus::WouldBlock && SSL_want(ssl_.get()) == SSL_WRITING;
            has_pending_ = total > 0 && status != IoStatus::WouldBlock;
            return total > 0 ? IoResult{IoStatus::Done, total} : IoResult{status, 0};
        }
        total += got;
        if (SSL_has_pending(ssl_.get()) == 0) {
            return {IoStatus::Done, total};
        }
    }
    has_pending_ = true;
    return {IoStatus::Done, total};
}

IoResult TlsSession::write(Pieces& pieces) {
    std::size_t total = 0;
    write_waits_for_read_ = false;
    while (!pieces.empty()) {
        const std::string_view record = next_record(pieces);
        std::size_t sent = 0;
        ERR_clear_error();
        const int result = SSL_write_ex(ssl_.get(), record.data(), record.size(), &sent);
        if (result != 1) {
            const IoStatus status = status_after(result);
            write_waits_for_read_ =
                status == IoStatus::WouldBlock && SSL_want(ssl_.get()) == SSL_READING;
            if (status == IoStatus::WouldBlock && total > 0) {
                return {IoStatus::Done, total};
            }
            return {status == IoStatus::WouldBlock ? status : IoStatus::Failed, total};
        }
        pieces.consume(sent);
        total += sent;
    }
    return {IoStatus::Done, total};
}

IoStatus TlsSession::end_sending() {
    if (is_broken_ || has_ended_sending_ || SSL_is_init_finished(ssl_.get()) == 0) {
        return IoStatus::Done;
    }
    ERR_clear_error();
    const int result = SSL_shutdown(ssl_.get());
    if (result < 0 && status_after(result) == IoStatus::WouldBlock) {
        return IoStatus::WouldBlock;
    }
    has_ended_sending_ = true;
    return IoStatus::Done;
}

/// Looks without taking; what it finds is pending from then on.
IoResult TlsSession::peek() {
    char byte = 0;
    std::size_t seen = 0;
    ERR_clear_error();
    const int result = SSL_peek_ex(ssl_.get(), &byte, 1, &seen);
    const IoStatus status = result == 1 ? IoStatus::Done : status_after(result);
    has_pending_ = status != IoStatus::WouldBlock;
    return {status, seen};
}

bool TlsSession::has_peer_ended() {
    const IoStatus status = peek().status;
    return status == IoStatus::Ended || status == IoStatus::Failed;
}

/// A session ticket that came late is no reason to leave a connection; half a record is.
bool TlsSession::is_quiet() {
    return !is_broken_ && peek().status == IoStatus::WouldBlock && SSL_has_pending(ssl_.get()) == 0;
}

}  // namespace prefix_router::net
