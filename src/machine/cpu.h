// SPDX-License-Identifier: Apache-2.0
//
// A hardware thread: its clock, what it spent cycles on, what it counted, the
// address space loaded on it, the interrupts sent to it, and the operation of
// the software that runs on it. Its TLBs are its core's (machine/core.h).
#ifndef LOOKASIDE_MACHINE_CPU_H_
#define LOOKASIDE_MACHINE_CPU_H_

#include <cstdint>
#include <optional>

#include "lookaside/base/address.h"
#include "lookaside/base/cycles.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/ids.h"
#include "lookaside/cost/cost_ledger.h"
#include "lookaside/machine/cpu_counters.h"
#include "lookaside/machine/interrupts.h"
#include "lookaside/machine/step_frame.h"
#include "lookaside/pagetable/pte.h"
#include "lookaside/tlb/tlb_entry.h"

namespace lookaside {

// What MOV to CR3 loads, in the context of a virtual processor.
struct AddressSpace {
  FrameNumber root;  // of the page table
  Pcid pcid;
  Vpid vpid;

  friend bool operator==(const AddressSpace&, const AddressSpace&) = default;
};

// An entry that software has written for one hardware thread alone.
struct Insertion {
  FrameNumber root;
  VirtPage page;
  Pte leaf;  // as written, accessed clear

  void AddTo(Digest& digest) const {
    digest.Add(root);
    digest.Add(page);
    digest.Add(leaf.bits());
  }
  friend bool operator==(const Insertion&, const Insertion&) = default;
};

class Cpu {
 public:
  Cpu(CpuId id, size_t tlb_arrays) : id_(id), counters_(tlb_arrays) {}

  CpuId id() const { return id_; }
  Cycles clock() const { return clock_; }
  const CostLedger& ledger() const { return ledger_; }
  const CpuCounters& counters() const { return counters_; }
  CpuCounters& counters() { return counters_; }

  // Moves the clock on and books the cycles.
  void Charge(CostKind kind, Cycles cycles) {
    clock_ += cycles;
    ledger_.Add(kind, cycles);
  }
  // Idles until `time`, if that is ahead.
  void IdleUntil(Cycles time) {
    if (time > clock_) Charge(CostKind::kIdle, time - clock_);
  }

  bool has_context() const { return has_context_; }
  const AddressSpace& space() const { return space_; }
  const TlbContext& tlb_context() const { return tlb_context_; }
  TreeId tree() const { return tree_; }
  void SetContext(const AddressSpace& space, const TlbContext& tlb_context,
                  TreeId tree) {
    has_context_ = true;
    space_ = space;
    tlb_context_ = tlb_context;
    tree_ = tree;
  }

  // Translations of the event in progress that were done before it faulted.
  uint8_t translations_done() const { return translations_done_; }
  void set_translations_done(uint8_t done) { translations_done_ = done; }

  // The event played next fills it, if the leaf is still that.
  const std::optional<Insertion>& insertion() const { return insertion_; }
  void set_insertion(const std::optional<Insertion>& insertion) {
    insertion_ = insertion;
  }

  // Between HLT and the next interrupt or context.
  bool halted() const { return halted_; }
  void set_halted(bool halted) { halted_ = halted; }

  // Whether RFLAGS.IF is clear: interrupts stay pending.
  bool interrupts_off() const { return interrupts_off_; }
  void set_interrupts_off(bool off) { interrupts_off_ = off; }
  PendingInterrupts& interrupts() { return interrupts_; }
  const PendingInterrupts& interrupts() const { return interrupts_; }

  // What the software on this thread is in the middle of.
  StepStack& steps() { return steps_; }
  const StepStack& steps() const { return steps_; }

  // Counters and ledger are results, not state.
  void AddTo(Digest& digest) const {
    digest.Add(id_);
    digest.AddTime(clock_);
    digest.Add(has_context_);
    digest.Add(space_.root);
    digest.Add(space_.pcid);
    digest.Add(space_.vpid);
    digest.Add(translations_done_);
    digest.Add(insertion_.has_value());
    if (insertion_) insertion_->AddTo(digest);
    digest.Add(halted_);
    digest.Add(interrupts_off_);
    interrupts_.AddTo(digest);
    steps_.AddTo(digest);
  }

 private:
  CpuId id_;
  Cycles clock_;
  CostLedger ledger_;
  CpuCounters counters_;
  bool has_context_ = false;
  AddressSpace space_;
  TlbContext tlb_context_;
  TreeId tree_;  // of space_.root
  uint8_t translations_done_ = 0;
  std::optional<Insertion> insertion_;
  bool halted_ = false;
  bool interrupts_off_ = false;
  PendingInterrupts interrupts_;
  StepStack steps_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_MACHINE_CPU_H_
