// SPDX-License-Identifier: Apache-2.0
//
// A value that is made on first use, so that what a machine has but does not
// use costs a pointer. Copying copies the value.
#ifndef LOOKASIDE_BASE_LAZY_H_
#define LOOKASIDE_BASE_LAZY_H_

#include <memory>
#include <utility>

#include "lookaside/base/check.h"

namespace lookaside {

template <typename T>
class Lazy {
 public:
  Lazy() = default;
  Lazy(const Lazy& other)
      : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Lazy(Lazy&&) noexcept = default;
  Lazy& operator=(Lazy other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }
  ~Lazy() = default;

  bool has_value() const { return value_ != nullptr; }

  template <typename... Args>
  T& GetOrMake(Args&&... args) {
    if (!value_) value_ = std::make_unique<T>(std::forward<Args>(args)...);
    return *value_;
  }

  // REQUIRES: has_value().
  T& operator*() {
    LOOKASIDE_DCHECK(has_value());
    return *value_;
  }
  const T& operator*() const {
    LOOKASIDE_DCHECK(has_value());
    return *value_;
  }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_BASE_LAZY_H_
