// SPDX-License-Identifier: Apache-2.0
//
// The rows `kernel.*` of the table of keys. For key_table.cc alone.
#ifndef LOOKASIDE_CONFIG_KERNEL_KEYS_H_
#define LOOKASIDE_CONFIG_KERNEL_KEYS_H_

#include "lookaside/config/key_rows.h"

namespace lookaside {

void AddKernelKeys(Rows<SimConfig>& rows);

}  // namespace lookaside

#endif  // LOOKASIDE_CONFIG_KERNEL_KEYS_H_
