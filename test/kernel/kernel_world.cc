// SPDX-License-Identifier: Apache-2.0
#include "lookaside/test/kernel/kernel_world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "lookaside/base/status.h"
#include "lookaside/config/config_edit.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/kernel/deferred_flush.h"
#include "lookaside/kernel/entries.h"
#include "lookaside/kernel/local_tlb.h"
#include "lookaside/machine/check_counters.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/trace/trace_event.h"

namespace lookaside {
namespace {

VirtAddr AddressOf(uint64_t page) { return VirtAddr(page << kPageShift); }

KernelRules RulesOf(const SimConfig& config) {
  return KernelRules::From(config.kernel, config.machine, config.tlb);
}

}  // namespace

SimConfig KernelWorld::Config(const std::string& preset,
                              const std::string& version, uint32_t cores,
                              uint32_t threads) {
  SimConfig config = *LoadPreset(preset);
  EXPECT_TRUE(Set(config, "kernel.version", version).ok());
  config.machine.sockets = 1;
  config.machine.numa = 1;
  config.machine.cores_per_socket = cores;
  config.machine.threads_per_core = threads;
  return config;
}

KernelWorld::KernelWorld(const SimConfig& config)
    : machine_(*Machine::Create(MachineConfigOf(config, 0))),
      kernel_(RulesOf(config), config.paging.thp),
      hardware_(*machine_) {}

KernelWorld::KernelWorld(const KernelWorld& other)
    : machine_(std::make_unique<Machine>(*other.machine_)),
      kernel_(other.kernel_),
      hardware_(*machine_) {}

void KernelWorld::Switch(uint32_t cpu, MmId mm) {
  Run(cpu, {.kind = OperationKind::kSwitch, .mm = mm});
}

void KernelWorld::TakeTicks(uint32_t cpu) {
  EXPECT_TRUE(kernel_.TakeTicks(hardware_, CpuId(cpu)).ok());
}

void KernelWorld::Idle(uint32_t cpu, Cycles cycles) {
  Cpu& thread = machine_->cpu(CpuId(cpu));
  thread.IdleUntil(thread.clock() + cycles);
}

int64_t KernelWorld::Run(uint32_t cpu, const Operation& operation) {
  TakeTicks(cpu);
  const auto result = kernel_.Run(hardware_, CpuId(cpu), operation);
  EXPECT_TRUE(result.ok()) << Message(result.status());
  return result.value_or(-1);
}

int64_t KernelWorld::Mmap(uint32_t cpu, uint64_t page, uint64_t pages,
                          Protection protection, bool shared) {
  return Run(cpu, {.kind = OperationKind::kMmap,
                   .address = AddressOf(page),
                   .length = pages << kPageShift,
                   .protection = protection,
                   .shared = shared});
}

int64_t KernelWorld::OnRange(uint32_t cpu, OperationKind kind, uint64_t page,
                             uint64_t pages) {
  return Run(cpu, {.kind = kind,
                   .address = AddressOf(page),
                   .length = pages << kPageShift});
}

int64_t KernelWorld::Munmap(uint32_t cpu, uint64_t page, uint64_t pages) {
  return OnRange(cpu, OperationKind::kMunmap, page, pages);
}

int64_t KernelWorld::Mprotect(uint32_t cpu, uint64_t page, uint64_t pages,
                              Protection protection) {
  return Run(cpu, {.kind = OperationKind::kMprotect,
                   .address = AddressOf(page),
                   .length = pages << kPageShift,
                   .protection = protection});
}

bool KernelWorld::Touch(uint32_t cpu, uint64_t page, bool write) {
  TakeTicks(cpu);
  const TraceEvent event{.address = AddressOf(page),
                         .size = 8,
                         .kind = write ? EventKind::kStore : EventKind::kLoad};
  for (int faults = 0; faults < 8; ++faults) {
    const auto done =
        machine_->Access(CpuId(cpu), {&event, 1}, Pacing::kAccesses);
    if (!done.fault) return true;
    if (!kernel_.HandleFault(hardware_, CpuId(cpu), *done.fault).ok()) {
      machine_->cpu(CpuId(cpu)).set_translations_done(0);
      return false;
    }
  }
  ADD_FAILURE() << "page " << page << " faults without end";
  return false;
}

std::optional<Translation> KernelWorld::Lookup(MmId mm, uint64_t page) {
  return kernel_.mm(mm).table.Lookup(machine_->memory().tables, VirtPage(page));
}

std::optional<MmId> KernelWorld::OwnerOf(CpuId cpu, Pcid pcid) {
  const KernelState& state = kernel_.state();
  if (cpu.value() >= state.tlb_states.size()) return std::nullopt;
  const TlbState& tlb = state.tlb_states[cpu.value()];
  const KernelRules& rules = state.rules;
  if (tlb.loaded_mm != kNoMm && !tlb.is_lazy) {
    const bool owed = !IsGlobalAsid(tlb.loaded_asid) &&
                      (tlb.user_pcid_flush_mask >> tlb.loaded_asid & 1) != 0;
    const bool user = pcid == UserPcid(rules, tlb.loaded_asid) && !owed;
    if (user || pcid == KernelPcid(rules, tlb.loaded_asid)) {
      return tlb.loaded_mm;
    }
  }
  if (!rules.pcid) return std::nullopt;  // the next load of CR3 flushes
  for (uint32_t i = 0; i < state.mms.end(); ++i) {
    if (!state.mms.Has(i) || state.mms[i].dead) continue;
    const uint16_t asid = state.mms[i].global_asid;
    if (asid == 0) continue;
    if (pcid == KernelPcid(rules, asid) || pcid == UserPcid(rules, asid)) {
      return MmId(i);
    }
  }
  for (uint16_t asid = 0; asid < kDynamicAsids; ++asid) {
    const bool owed = (tlb.user_pcid_flush_mask >> asid & 1) != 0;
    const bool its = pcid == KernelPcid(rules, asid) ||
                     (pcid == UserPcid(rules, asid) && !owed);
    if (!its) continue;
    for (uint32_t i = 0; i < state.mms.end(); ++i) {
      if (!state.mms.Has(i) || state.mms[i].dead) continue;
      const AsidContext& context = tlb.contexts[asid];
      if (state.mms[i].ctx_id != context.ctx_id) continue;
      // Older than its generation: flushed when it is loaded again.
      if (context.tlb_gen < state.mms[i].tlb_gen) return std::nullopt;
      return MmId(i);
    }
  }
  return std::nullopt;
}

bool KernelWorld::IsOwed(CpuId cpu, Pcid pcid, VirtPage page) const {
  const KernelState& state = kernel_.state();
  const TlbState& tlb = state.tlb_states[cpu.value()];
  return !tlb.user_mode && pcid == UserPcid(state.rules, tlb.loaded_asid) &&
         tlb.user_first <= page && page < tlb.user_end;
}

bool KernelWorld::IsDeferred(CpuId cpu, MmId mm, VirtPage page) const {
  const VirtPage end(page.value() + 1);
  return std::ranges::any_of(
      kernel_.state().deferred, [&](const DeferredFlush& note) {
        return note.awaiting.Has(cpu) && note.Overlaps(mm, page, end);
      });
}

std::string KernelWorld::CheckTlbs(CpuId cpu) {
  const Topology& topology = machine_->topology();
  const Core* const core = machine_->used_core(topology.CoreOf(cpu));
  if (core == nullptr) return "";
  for (const Tlb& tlb : core->tlb.arrays()) {
    for (uint32_t slot = 0; slot < tlb.slots(); ++slot) {
      const TlbEntry entry = tlb.EntryAt(slot);
      if (entry.context.value() == 0) continue;
      const AddressSpaceTag& tag = core->contexts.Resolve(entry.context);
      if (tag.thread != topology.ThreadOf(cpu)) continue;
      const std::optional<MmId> mm = OwnerOf(cpu, tag.pcid);
      if (!mm || IsDeferred(cpu, *mm, entry.page)) continue;
      if (IsOwed(cpu, tag.pcid, entry.page)) continue;
      const auto now = Lookup(*mm, entry.page.value());
      const auto say = [&](std::string_view what) {
        return fmt::format("cpu {} {} mm {} page {:#x}: {}", cpu.value(),
                           tlb.config().name, mm->value(), entry.page.value(),
                           what);
      };
      if (!now) return say("cached, not mapped");
      const uint64_t offset = entry.page.value() - now->leaf.page.value();
      if (now->leaf.pte.frame().value() + offset != entry.frame.value()) {
        return say("cached with another frame");
      }
      const PagePermissions& allowed = now->permissions;
      if ((entry.flags & kTlbWritable) && !allowed.writable) {
        return say("cached writable");
      }
      if (!(entry.flags & kTlbNoExecute) && allowed.nx) {
        return say("cached executable");
      }
      if ((entry.flags & kTlbDirty) && !now->leaf.pte.dirty()) {
        return say("cached dirty");
      }
    }
  }
  return "";
}

// Asks a copy for the pages of every table that is or was in use.
std::string KernelWorld::CheckPsc(CpuId cpu) {
  const Topology& topology = machine_->topology();
  const Core* const core = machine_->used_core(topology.CoreOf(cpu));
  if (core == nullptr || !machine_->cpu(cpu).has_context()) return "";
  const TlbState& tlb = kernel_.state().tlb_states[cpu.value()];
  if (tlb.loaded_mm == kNoMm || tlb.is_lazy) return "";
  PagingStructureCaches psc = core->psc;
  const Cpu& thread = machine_->cpu(cpu);
  const PageTable& table = kernel_.mm(tlb.loaded_mm).table;
  if (table.root() != thread.space().root) return "";
  for (uint64_t page = 0; page < 8 * PagesIn(PageSize::k2M); page += 64) {
    const PscHit hit = psc.Find(thread.tlb_context().tag, VirtPage(page));
    if (hit.level == PagingLevel::kPte) continue;
    FrameNumber frame = table.root();
    for (PagingLevel level = table.top();; level = Below(level)) {
      const Pte pte = machine_->memory().tables.Read(
          EntryAddress(frame, EntryIndex(VirtPage(page), level)));
      frame = pte.frame();
      if (!pte.present() || level == hit.level) break;
    }
    if (frame != hit.entry.table) {
      return fmt::format("cpu {}: the {} of page {:#x} is cached stale",
                         cpu.value(), Name(hit.level), page);
    }
  }
  return "";
}

std::string KernelWorld::FindStale() {
  for (uint32_t cpu = 0; cpu < machine_->topology().cpus(); ++cpu) {
    std::string problem = CheckTlbs(CpuId(cpu));
    if (problem.empty()) problem = CheckPsc(CpuId(cpu));
    if (!problem.empty()) return problem;
  }
  return "";
}

std::string KernelWorld::FindInconsistent() {
  const KernelState& state = kernel_.state();
  const TableMemory& tables = machine_->memory().tables;
  std::map<FrameNumber, uint32_t> mapped;  // entries, by page
  std::map<uint64_t, uint32_t> swapped;
  for (uint32_t i = 0; i < state.mms.end(); ++i) {
    if (!state.mms.Has(i)) continue;
    const Mm& mm = state.mms[i];
    mm.vmas.CheckInvariants();
    VirtPage page(0);
    const VirtPage end = UserEnd(4);
    while (const auto entry = NextEntry(tables, mm.table, page, end)) {
      page = entry->end();
      if (mm.vmas.Find(entry->page) == nullptr) {
        return fmt::format("mm {} page {:#x}: mapped outside every mapping", i,
                           entry->page.value());
      }
      if (IsSwap(entry->pte)) {
        ++swapped[SwapSlot(entry->pte)];
        continue;
      }
      const FrameNumber frame = entry->pte.frame();
      if (!state.frames.InUse(frame)) {
        return fmt::format("mm {} page {:#x}: its frame is free", i,
                           entry->page.value());
      }
      ++mapped[state.frames.HeadOf(frame)];
      const auto& mappings = state.frames.UseOf(frame).mappings;
      if (std::ranges::find(mappings, FrameMapping{MmId(i), entry->page}) ==
          mappings.end()) {
        return fmt::format("mm {} page {:#x}: no reverse mapping", i,
                           entry->page.value());
      }
    }
  }
  std::map<FrameNumber, uint32_t> held;  // by objects
  for (uint32_t i = 0; i < state.objects.end(); ++i) {
    if (!state.objects.Has(i)) continue;
    for (const auto& [offset, frame] : state.objects[i].pages) ++held[frame];
  }
  for (const DeferredFlush& note : state.deferred) {
    for (const FrameNumber page : note.pages) ++held[state.frames.HeadOf(page)];
  }
  uint64_t used = tables.size();
  for (const FrameNumber frame : state.frames.All()) {
    const FrameTable::Use& use = state.frames.UseOf(frame);
    used += PagesIn(use.size);
    if (use.mappings.size() != mapped[frame]) {
      return fmt::format("frame {:#x}: {} reverse mappings, {} entries",
                         frame.value(), use.mappings.size(), mapped[frame]);
    }
    if (use.references != mapped[frame] + held[frame]) {
      return fmt::format("frame {:#x}: {} references, {} users", frame.value(),
                         use.references, mapped[frame] + held[frame]);
    }
  }
  if (swapped != state.swapped) return "swap slots are miscounted";
  uint64_t allocated = 0;
  const FrameAllocator& frames = machine_->memory().frames;
  for (uint32_t n = 0; n < frames.nodes(); ++n) {
    allocated += frames.used_frames(NodeId(n));
  }
  if (allocated != used) {
    return fmt::format("{} frames are allocated, {} are used", allocated, used);
  }
  if (!state.payloads.empty()) return "a flush is still in flight";
  if (!state.gathers.empty()) return "a gather is still open";
  return "";
}

std::string KernelWorld::FindViolation() const {
  const CheckCounters& checks = machine_->checks();
  if (checks.violations() == 0) return "";
  const CheckExample& example = checks.examples.front();
  return fmt::format("{}: cpu {} page {:#x} after {}", Name(example.check),
                     example.cpu.value(), example.page.value(),
                     example.operation);
}

std::string KernelWorld::FindProblem() {
  const std::string violation = FindViolation();
  if (!violation.empty()) return violation;
  std::string problem = FindStale();
  return problem.empty() ? FindInconsistent() : problem;
}

}  // namespace lookaside
