#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <lzma.h>
#include <zlib.h>

#include "sim/line_reader.hpp"

namespace prefix_router::sim {
namespace {

struct CloseFile {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

Error cannot_read(const std::string& path, const std::string& why) {
    return Error(ErrorKind::Io, "cannot read '" + path + "': " + why);
}

/// Plain and gzip: zlib passes on what is not compressed.
class ZlibSource final : public ByteSource {
  public:
    static Result<std::unique_ptr<ByteSource>> open(const std::string& path, const File& seekable) {
        const int descriptor = dup(fileno(seekable.get()));
        if (descriptor < 0) return cannot_read(path, std::strerror(errno));
        lseek(descriptor, 0, SEEK_SET);
        gzFile file = gzdopen(descriptor, "rb");
        if (file == nullptr) {
            ::close(descriptor);
            return cannot_read(path, "no memory for the gzip decoder");
        }
        return std::unique_ptr<ByteSource>(new ZlibSource(path, file));
    }
    ~ZlibSource() override { gzclose(file_); }
    ZlibSource(const ZlibSource&) = delete;
    ZlibSource& operator=(const ZlibSource&) = delete;

    Result<std::size_t> read(char* out, std::size_t size) override {
        const int count = gzread(file_, out, static_cast<unsigned>(size));
        if (count > 0) return static_cast<std::size_t>(count);
        int code = Z_OK;
        const char* message = gzerror(file_, &code);
        if (count < 0 || code == Z_BUF_ERROR) {
            const bool is_short = code == Z_BUF_ERROR;
            return cannot_read(path_, is_short ? "the gzip stream ends too early" : message);
        }
        return std::size_t{0};
    }

  private:
    ZlibSource(std::string path, gzFile file) : path_(std::move(path)), file_(file) {}

    std::string path_;
    gzFile file_;
};

class XzSource final : public ByteSource {
  public:
    static Result<std::unique_ptr<ByteSource>> open(const std::string& path, File file) {
        std::unique_ptr<XzSource> source(new XzSource(path, std::move(file)));
        const auto no_limit = std::numeric_limits<std::uint64_t>::max();
        if (lzma_stream_decoder(&source->stream_, no_limit, LZMA_CONCATENATED) != LZMA_OK) {
            return cannot_read(path, "no memory for the xz decoder");
        }
        return std::unique_ptr<ByteSource>(std::move(source));
    }
    ~XzSource() override { lzma_end(&stream_); }
    XzSource(const XzSource&) = delete;
    XzSource& operator=(const XzSource&) = delete;

    Result<std::size_t> read(char* out, std::size_t size) override {
        stream_.next_out = reinterpret_cast<std::uint8_t*>(out);
        stream_.avail_out = size;
        while (stream_.avail_out == size && !is_over_) {
            if (stream_.avail_in == 0) refill();
            if (std::ferror(file_.get()) != 0) return cannot_read(path_, std::strerror(errno));
            const lzma_action action = std::feof(file_.get()) != 0 ? LZMA_FINISH : LZMA_RUN;
            const lzma_ret status = lzma_code(&stream_, action);
            is_over_ = status == LZMA_STREAM_END;
            if (status == LZMA_BUF_ERROR) return cannot_read(path_, "the xz stream ends too early");
            if (status != LZMA_OK && !is_over_)
                return cannot_read(path_, "the xz stream is damaged");
        }
        return size - stream_.avail_out;
    }

  private:
    XzSource(std::string path, File file) : path_(std::move(path)), file_(std::move(file)) {}

    void refill() {
        stream_.next_in = input_.data();
        stream_.avail_in = std::fread(input_.data(), 1, input_.size(), file_.get());
    }

    std::string path_;
    File file_;
    lzma_stream stream_ = LZMA_STREAM_INIT;
    std::array<std::uint8_t, 65536> input_{};
    bool is_over_ = false;
};

/// A pipe (`--trace <(zcat x)`) gives its bytes once, and what is in them shows only at the second
/// look: it is copied to a temporary file.
Result<File> open_seekable(const std::string& path) {
    File file(std::fopen(path.c_str(), "rb"));
    if (!file) return cannot_read(path, std::strerror(errno));
    if (std::fseek(file.get(), 0, SEEK_CUR) == 0) return file;
    File copy(std::tmpfile());
    if (!copy) return cannot_read(path, std::string("no temporary file: ") + std::strerror(errno));
    std::array<char, 65536> buffer;
    while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
        if (std::fwrite(buffer.data(), 1, count, copy.get()) != count)
            return cannot_read(path, std::string("temporary file: ") + std::strerror(errno));
    }
    if (std::ferror(file.get()) != 0) return cannot_read(path, std::strerror(errno));
    // Writes what is buffered.
    if (std::fseek(copy.get(), 0, SEEK_SET) != 0)
        return cannot_read(path, std::string("temporary file: ") + std::strerror(errno));
    return copy;
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_byte_source(const std::string& path) {
    auto opened = open_seekable(path);
    if (!opened) return opened.error();
    File file = std::move(*opened);
    std::array<unsigned char, 6> magic{};
    const std::size_t count = std::fread(magic.data(), 1, magic.size(), file.get());
    if (count == 0 && std::ferror(file.get()) != 0) return cannot_read(path, std::strerror(errno));
    constexpr std::array<unsigned char, 6> kXz = {0xfd, '7', 'z', 'X', 'Z', 0};
    if (count == magic.size() && magic == kXz) {
        if (std::fseek(file.get(), 0, SEEK_SET) != 0)
            return cannot_read(path, std::strerror(errno));
        return XzSource::open(path, std::move(file));
    }
    return ZlibSource::open(path, file);
}

}  // namespace prefix_router::sim
