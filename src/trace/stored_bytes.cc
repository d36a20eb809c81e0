// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/stored_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"

namespace lookaside {
namespace {

constexpr size_t kBufferBytes = size_t{256} << 10;

}  // namespace

absl::StatusOr<std::unique_ptr<StoredBytes>> StoredBytes::Open(
    const std::string& path) {
  const int file =
      path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return NotFound("{}: cannot be opened: {}", path, std::strerror(errno));
  }
  std::unique_ptr<StoredBytes> stored(new StoredBytes(path, file, {}));
  struct stat about;
  if (::fstat(file, &about) == 0 && S_ISDIR(about.st_mode)) {
    return InvalidArgument("{}: is a directory, not a trace", path);
  }
  return stored;
}

std::unique_ptr<StoredBytes> StoredBytes::FromMemory(std::string name,
                                                     std::string_view bytes) {
  return std::unique_ptr<StoredBytes>(
      new StoredBytes(std::move(name), -1, bytes));
}

StoredBytes::StoredBytes(std::string name, int file, std::string_view memory)
    : name_(std::move(name)),
      file_(file),
      memory_(memory),
      buffer_(kBufferBytes) {}

StoredBytes::~StoredBytes() {
  if (file_ > STDIN_FILENO) ::close(file_);
}

std::string_view StoredBytes::Peek(size_t least) {
  LOOKASIDE_DCHECK(least >= 1 && least <= kMaxPeek);
  while (end_ - begin_ < least && !at_end_) Fill();
  return {buffer_.data() + begin_, end_ - begin_};
}

void StoredBytes::Skip(size_t count) {
  LOOKASIDE_DCHECK(count <= end_ - begin_);
  begin_ += count;
}

// Less than kMaxPeek bytes are left over: moving them to the front is cheap.
void StoredBytes::Fill() {
  std::copy(buffer_.begin() + static_cast<ptrdiff_t>(begin_),
            buffer_.begin() + static_cast<ptrdiff_t>(end_), buffer_.begin());
  end_ -= begin_;
  begin_ = 0;
  char* const to = buffer_.data() + end_;
  const size_t room = buffer_.size() - end_;
  const size_t count =
      file_ < 0 ? TakeFromMemory(to, room) : TakeFromFile(to, room);
  if (count == 0) at_end_ = true;
  digest_.AddBytes(to, count);
  end_ += count;
  taken_ += count;
}

size_t StoredBytes::TakeFromFile(char* to, size_t room) {
  for (;;) {
    const ssize_t count = ::read(file_, to, room);
    if (count >= 0) return static_cast<size_t>(count);
    if (errno == EINTR) continue;
    status_ = DataLoss("{}: byte {}: cannot be read: {}", name_, taken_,
                       std::strerror(errno));
    return 0;
  }
}

size_t StoredBytes::TakeFromMemory(char* to, size_t room) {
  const size_t count = std::min(room, memory_.size());
  std::copy_n(memory_.data(), count, to);
  memory_.remove_prefix(count);
  return count;
}

}  // namespace lookaside
