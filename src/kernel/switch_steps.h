// SPDX-License-Identifier: Apache-2.0
//
// What the programs share that change which address space a CPU has loaded.
// They run with interrupts off: a flush finds the CPU before or after.
#ifndef LOOKASIDE_KERNEL_SWITCH_STEPS_H_
#define LOOKASIDE_KERNEL_SWITCH_STEPS_H_

#include <cstdint>

#include "lookaside/kernel/kernel_context.h"
#include "lookaside/kernel/mm_id.h"

namespace lookaside {

struct SwitchLocals {
  MmId next = kNoMm;  // kNoMm: the kernel's own
  MmId prev = kNoMm;
  uint64_t gen = 0;  // of `next`, as read
  bool interrupts_were_off = false;
  uint8_t unused[7] = {};
};

inline void BeginSwitch(KernelContext& k, SwitchLocals& locals) {
  locals.prev = k.tlb().loaded_mm;
  locals.interrupts_were_off = k.hardware.interrupts_off(k.cpu);
  k.hardware.SetInterruptsOff(k.cpu, true);
}

inline StepResult EndSwitch(KernelContext& k, const SwitchLocals& locals) {
  k.hardware.SetInterruptsOff(k.cpu, locals.interrupts_were_off);
  return StepResult::Done();
}

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_SWITCH_STEPS_H_
