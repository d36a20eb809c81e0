// SPDX-License-Identifier: Apache-2.0
//
// Errors of bad input as absl::Status. The only place that turns fmt's and
// std's strings into Abseil's: Debian's Abseil has its own string_view.
//
//   return InvalidArgument("{}: line {}: '{}' is no lackey record", ...);
//   LOOKASIDE_RETURN_IF_ERROR(Parse(text));
//   LOOKASIDE_ASSIGN_OR_RETURN(auto file, Open(path));
#ifndef LOOKASIDE_BASE_STATUS_H_
#define LOOKASIDE_BASE_STATUS_H_

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace lookaside {

// Text of the user that cannot be accepted: exit code 2 of the command.
template <typename... Args>
absl::Status InvalidArgument(fmt::format_string<Args...> format,
                             Args&&... args) {
  return absl::InvalidArgumentError(
      fmt::format(format, std::forward<Args>(args)...));
}

// A file that cannot be opened or read.
template <typename... Args>
absl::Status NotFound(fmt::format_string<Args...> format, Args&&... args) {
  return absl::NotFoundError(fmt::format(format, std::forward<Args>(args)...));
}

// A file whose bytes are not what its format promises.
template <typename... Args>
absl::Status DataLoss(fmt::format_string<Args...> format, Args&&... args) {
  return absl::DataLossError(fmt::format(format, std::forward<Args>(args)...));
}

// A limit of the simulated or of the host machine was reached.
template <typename... Args>
absl::Status ResourceExhausted(fmt::format_string<Args...> format,
                               Args&&... args) {
  return absl::ResourceExhaustedError(
      fmt::format(format, std::forward<Args>(args)...));
}

inline std::string Message(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

}  // namespace lookaside

#define LOOKASIDE_STATUS_CONCAT_(a, b) a##b
#define LOOKASIDE_STATUS_NAME_(a, b) LOOKASIDE_STATUS_CONCAT_(a, b)

#define LOOKASIDE_RETURN_IF_ERROR(expression)         \
  do {                                                \
    if (absl::Status lookaside_status = (expression); \
        !lookaside_status.ok()) {                     \
      return lookaside_status;                        \
    }                                                 \
  } while (false)

#define LOOKASIDE_ASSIGN_OR_RETURN(target, expression)                         \
  LOOKASIDE_ASSIGN_OR_RETURN_(LOOKASIDE_STATUS_NAME_(lookaside_or_, __LINE__), \
                              target, expression)
#define LOOKASIDE_ASSIGN_OR_RETURN_(name, target, expression) \
  auto name = (expression);                                   \
  if (!name.ok()) return name.status();                       \
  target = std::move(name).value()

#endif  // LOOKASIDE_BASE_STATUS_H_
