// SPDX-License-Identifier: Apache-2.0
//
// The rows `cost.*` of the table of keys: two for each amount, one for each
// unit, of which one has a value. For key_table.cc alone.
#ifndef LOOKASIDE_CONFIG_COST_KEYS_H_
#define LOOKASIDE_CONFIG_COST_KEYS_H_

#include "lookaside/config/key_rows.h"

namespace lookaside {

void AddCostKeys(Rows<SimConfig>& rows);

}  // namespace lookaside

#endif  // LOOKASIDE_CONFIG_COST_KEYS_H_
