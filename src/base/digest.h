// SPDX-License-Identifier: Apache-2.0
//
// A 128-bit fingerprint of simulation state (XXH3). Every stateful class has
// `void AddTo(Digest&) const`, which adds all that its future behaviour
// depends on, in a canonical form: two states that behave alike from here on
// add the same words, however they were reached. Counters are not state.
//
// Times are added as what they are after an origin, those before it as the
// origin: where nothing will happen before the origin, two states that differ
// by a shift of all clocks behave alike.
//
//   Digest digest;
//   machine.AddTo(digest);
//   Fingerprint f = digest.Finish();
#ifndef LOOKASIDE_BASE_DIGEST_H_
#define LOOKASIDE_BASE_DIGEST_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "lookaside/base/cycles.h"

namespace lookaside {

struct Fingerprint {
  uint64_t high = 0;
  uint64_t low = 0;

  // 32 hexadecimal digits, high half first.
  std::string ToString() const;

  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
  friend auto operator<=>(const Fingerprint&, const Fingerprint&) = default;
};

class Digest {
 public:
  explicit Digest(Cycles origin = Cycles());
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void AddBytes(const void* data, size_t size);

  // Integers and enumerations, widened to 64 bits so that a field's width
  // does not matter.
  template <typename T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  void Add(T value) {
    const auto wide = static_cast<uint64_t>(value);
    AddBytes(&wide, sizeof(wide));
  }

  // Typed integers (base/typed_int.h) and Cycles.
  template <typename T>
    requires requires(const T& t) { t.value(); }
  void Add(const T& value) {
    Add(static_cast<uint64_t>(value.value()));
  }

  // A moment at which something can come to happen.
  void AddTime(Cycles time) { Add(time > origin_ ? time - origin_ : Cycles()); }

  Fingerprint Finish() const;

 private:
  struct State;  // keeps xxhash.h out of every user's build
  std::unique_ptr<State> state_;
  Cycles origin_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_BASE_DIGEST_H_
