// SPDX-License-Identifier: Apache-2.0
//
// CHECK for programmer errors: prints where and what, then aborts. DCHECK is
// the same in builds with assertions and nothing where NDEBUG is defined.
// Bad input is never a CHECK but an absl::Status (base/status.h).
#ifndef LOOKASIDE_BASE_CHECK_H_
#define LOOKASIDE_BASE_CHECK_H_

namespace lookaside {

[[noreturn]] void CheckFailed(const char* file, int line,
                              const char* condition);

}  // namespace lookaside

#define LOOKASIDE_CHECK(condition)    \
  (__builtin_expect(!!(condition), 1) \
       ? static_cast<void>(0)         \
       : ::lookaside::CheckFailed(__FILE__, __LINE__, #condition))

#ifdef NDEBUG
#define LOOKASIDE_DCHECK(condition) \
  (true ? static_cast<void>(0) : static_cast<void>(condition))
#else
#define LOOKASIDE_DCHECK(condition) LOOKASIDE_CHECK(condition)
#endif

#endif  // LOOKASIDE_BASE_CHECK_H_
