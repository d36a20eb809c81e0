// SPDX-License-Identifier: Apache-2.0
//
// The one template behind every confusable quantity (addresses, page numbers,
// identifiers): explicit to construct, comparable, hashable, and without
// arithmetic, so that mixing two of them does not compile.
//
//   struct PcidTag;
//   using Pcid = TypedInt<PcidTag, uint16_t>;
//   Pcid p(3);
//   uint16_t raw = p.value();
#ifndef LOOKASIDE_BASE_TYPED_INT_H_
#define LOOKASIDE_BASE_TYPED_INT_H_

#include <compare>
#include <string>
#include <utility>

namespace lookaside {

template <typename Tag, typename Rep>
class TypedInt {
 public:
  using rep = Rep;

  constexpr TypedInt() = default;
  constexpr explicit TypedInt(Rep value) : value_(value) {}

  constexpr Rep value() const { return value_; }

  friend constexpr bool operator==(TypedInt, TypedInt) = default;
  friend constexpr auto operator<=>(TypedInt, TypedInt) = default;

  template <typename H>
  friend H AbslHashValue(H h, TypedInt x) {
    return H::combine(std::move(h), x.value_);
  }

  std::string ToString() const { return std::to_string(value_); }

 private:
  Rep value_ = 0;
};

}  // namespace lookaside

#endif  // LOOKASIDE_BASE_TYPED_INT_H_
