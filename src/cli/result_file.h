// SPDX-License-Identifier: Apache-2.0
//
// The file that --json names: it holds a whole result or is as it was before,
// whatever ends the command.
#ifndef LOOKASIDE_CLI_RESULT_FILE_H_
#define LOOKASIDE_CLI_RESULT_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace lookaside {

// Whether WriteResultFile can succeed as far as that can be told without
// writing: asked before hours of work. "" (no file) and "-" are fine. A file
// that is one of `inputs`, under any name, is an error: the result would take
// its place.
// `option`: that names it.
absl::Status CheckResultFile(std::string_view option, const std::string& path,
                             const std::vector<std::string>& inputs);

// Whether two results would be written to one place, under whatever names.
bool NameOneFile(const std::string& a, const std::string& b);

// "-" is standard output. A file is written under another name beside `path`
// and renamed, with signals held back meanwhile; a device or pipe is written
// as it is.
absl::Status WriteResultFile(const std::string& path, std::string_view text);

}  // namespace lookaside

#endif  // LOOKASIDE_CLI_RESULT_FILE_H_
