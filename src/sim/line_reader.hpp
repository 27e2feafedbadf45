#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "prefix_router/base/error.hpp"

namespace prefix_router::sim {

/// Bytes of a file, decompressed. Not thread-safe.
class ByteSource {
  public:
    virtual ~ByteSource() = default;
    /// The next bytes, at most `size`; 0 at the end. Fails with Io on a damaged or unreadable file.
    virtual Result<std::size_t> read(char* out, std::size_t size) = 0;
};

/// Opens a plain, gzip or xz file, told apart by its first bytes.
Result<std::unique_ptr<ByteSource>> open_byte_source(const std::string& path);

/// Splits a file into lines, holding one buffer of it at a time.
class LineReader {
  public:
    static Result<LineReader> open(const std::string& path);

    /// The next line without its end, valid until the next call; nullopt at the end of the file.
    Result<std::optional<std::string_view>> next();
    std::size_t line_number() const { return line_number_; }  ///< of the last line, from 1

  private:
    explicit LineReader(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}
    Result<bool> fill();

    std::unique_ptr<ByteSource> source_;
    std::string buffer_;
    std::size_t begin_ = 0;
    std::size_t line_number_ = 0;
};

}  // namespace prefix_router::sim
