// SPDX-License-Identifier: Apache-2.0
#ifndef LOOKASIDE_REPORT_VERSION_H_
#define LOOKASIDE_REPORT_VERSION_H_

namespace lookaside {

// Of the library, the command and `tool.version` of results (SemVer).
inline constexpr char kVersion[] = "0.1.0";

}  // namespace lookaside

#endif  // LOOKASIDE_REPORT_VERSION_H_
