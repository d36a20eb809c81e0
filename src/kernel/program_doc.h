// SPDX-License-Identifier: Apache-2.0
//
// docs/kernel_ops.md, printed from the programs.
#ifndef LOOKASIDE_KERNEL_PROGRAM_DOC_H_
#define LOOKASIDE_KERNEL_PROGRAM_DOC_H_

#include <string>

namespace lookaside {

std::string KernelOpsDoc();

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_PROGRAM_DOC_H_
