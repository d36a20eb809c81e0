// SPDX-License-Identifier: Apache-2.0
#include "lookaside/base/digest.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

namespace lookaside {

std::string Fingerprint::ToString() const {
  return fmt::format("{:016x}{:016x}", high, low);
}

struct Digest::State {
  alignas(64) XXH3_state_t xxh3;
};

Digest::Digest(Cycles origin)
    : state_(std::make_unique<State>()), origin_(origin) {
  XXH3_128bits_reset(&state_->xxh3);
}

Digest::~Digest() = default;

void Digest::AddBytes(const void* data, size_t size) {
  XXH3_128bits_update(&state_->xxh3, data, size);
}

Fingerprint Digest::Finish() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->xxh3);
  return {hash.high64, hash.low64};
}

}  // namespace lookaside
