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
  model.ipi_send = config.ipi_send.InCycles(mhz);
  model.ipi_handler = config.ipi_handler.InCycles(mhz);
  model.ipi_latency_core = config.ipi_latency_core.InCycles(mhz);
  model.ipi_latency_socket = config.ipi_latency_socket.InCycles(mhz);
  model.ipi_latency_remote = config.ipi_latency_remote.InCycles(mhz);
  model.ipi_wake = config.ipi_wake.InCycles(mhz);
  model.ack_core = config.ack_core.InCycles(mhz);
  model.ack_socket = config.ack_socket.InCycles(mhz);
  model.ack_remote = config.ack_remote.InCycles(mhz);
  model.syscall = config.syscall.InCycles(mhz);
  model.vma = config.vma.InCycles(mhz);
  model.pte = config.pte.InCycles(mhz);
  model.page_free = config.page_free.InCycles(mhz);
  model.page_copy = config.page_copy.InCycles(mhz);
  model.page_clear = config.page_clear.InCycles(mhz);
  model.major_fault = config.major_fault.InCycles(mhz);
  model.context_switch = config.context_switch.InCycles(mhz);
  model.ipi_target = config.ipi_target.InCycles(mhz);
  model.invlpgb = config.invlpgb.InCycles(mhz);
  model.tlbsync = config.tlbsync.InCycles(mhz);
  model.abis_insert = config.abis_insert.InCycles(mhz);
  model.abis_check = config.abis_check.InCycles(mhz);
  model.latr_save = config.latr_save.InCycles(mhz);
  model.latr_sweep = config.latr_sweep.InCycles(mhz);
  return model;
}

}  // namespace lookaside
