// SPDX-License-Identifier: Apache-2.0
//
// Comparison with a file of the repository. After a change that is meant:
//
//   ./bazelw run //test/cli:golden_test -- --update_goldens
//
// writes the files anew; a change of results is told in CHANGELOG.md.
#ifndef LOOKASIDE_TEST_CLI_GOLDEN_H_
#define LOOKASIDE_TEST_CLI_GOLDEN_H_

#include <string>

namespace lookaside {

// `path` is relative to the repository.
void ExpectGolden(const std::string& path, const std::string& actual);

}  // namespace lookaside

#endif  // LOOKASIDE_TEST_CLI_GOLDEN_H_
