// SPDX-License-Identifier: Apache-2.0
#include "lookaside/cost/cost_model.h"

namespace lookaside {

CostModel CostModel::From(const CostConfig& config, uint64_t mhz) {
  CostModel model;
  model.instruction = config.instruction.InCycles(mhz);
  if (config.refill) model.refill = config.refill->InCycles(mhz);
  model.dirty_assist = config.dirty_assist.InCycles(mhz);
  model.fault_entry = config.fault_entry.InCycles(mhz);
  model.minor_fault = config.minor_fault.InCycles(mhz);
  model.invlpg = config.invlpg.InCycles(mhz);
  model.invpcid = config.invpcid.InCycles(mhz);
  model.cr3_flush = config.cr3_flush.InCycles(mhz);
  model.cr3_noflush = config.cr3_noflush.InCycles(mhz);
  model.cr4_pge = config.cr4_pge.InCycles(mhz);
  return model;
}

}  // namespace lookaside
