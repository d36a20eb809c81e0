// SPDX-License-Identifier: Apache-2.0
#include "lookaside/machine/machine.h"

#include <algorithm>
#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"
#include "lookaside/pagetable/page_table.h"
#include "lookaside/pagetable/pte.h"
#include "lookaside/tlb/validate_tlb.h"

namespace lookaside {

absl::Status Validate(const MachineConfig& config) {
  LOOKASIDE_RETURN_IF_ERROR(Validate(config.topology));
  LOOKASIDE_RETURN_IF_ERROR(
      Validate(config.tlb, config.topology.threads_per_core));
  LOOKASIDE_RETURN_IF_ERROR(Validate(config.psc));
  LOOKASIDE_RETURN_IF_ERROR(Validate(config.walk));
  return Validate(config.paging);
}

absl::StatusOr<std::unique_ptr<Machine>> Machine::Create(
    const MachineConfig& config) {
  LOOKASIDE_RETURN_IF_ERROR(Validate(config));
  const Topology topology(config.topology);
  LOOKASIDE_ASSIGN_OR_RETURN(
      FrameAllocator frames,
      FrameAllocator::Create(topology.nodes(), config.paging.node_memory,
                             topology.nodes_per_socket()));
  return std::unique_ptr<Machine>(new Machine(config, std::move(frames)));
}

Machine::Machine(const MachineConfig& config, FrameAllocator frames)
    : config_(config),
      topology_(config.topology),
      costs_(CostModel::From(config.cost, config.topology.mhz)),
      interconnect_(topology_, costs_),
      walker_(config.walk, config.topology.mhz),
      memory_{std::move(frames), TableMemory()},
      cpus_(topology_.cpus()),
      cores_(topology_.cores()),
      l3_(topology_.sockets()) {
  memory_.tables.LogChanges();
}

Cpu& Machine::cpu(CpuId id) {
  LOOKASIDE_CHECK(id.value() < topology_.cpus());
  return cpus_[id.value()].GetOrMake(id, config_.tlb.arrays.size());
}

Core& Machine::core(CpuId cpu) {
  const uint32_t number = topology_.CoreOf(cpu).value();
  // Cores draw different random numbers, whichever was used first.
  return cores_[number].GetOrMake(config_.tlb, config_.psc, config_.walk,
                                  topology_.threads_per_core(),
                                  config_.seed + uint64_t{number} * 1024);
}

PageTableLineCache& Machine::l3(CpuId cpu) {
  return l3_[topology_.SocketOf(cpu).value()].GetOrMake(
      config_.walk.l3, config_.walk.data_pressure);
}

std::vector<CpuId> Machine::used_cpus() const {
  std::vector<CpuId> used;
  for (uint32_t i = 0; i < cpus_.size(); ++i) {
    if (cpus_[i].has_value()) used.push_back(CpuId(i));
  }
  return used;
}

AccessResources Machine::Resources(CpuId id, Pacing pacing) {
  return {.cpu = cpu(id),
          .core = core(id),
          .l3 = l3(id),
          .memory = memory_,
          .walker = walker_,
          .costs = costs_,
          .stale = stale_,
          .checks = checks_,
          .node = topology_.NodeOf(id),
          .levels = static_cast<int>(config_.paging.levels),
          .pacing = pacing};
}

Machine::AccessResult Machine::Access(CpuId cpu,
                                      std::span<const TraceEvent> events,
                                      Pacing pacing) {
  MarkStale();
  size_t inserted = 0;
  if (const auto leaf = TakeInsertion(cpu); leaf && !events.empty()) {
    AccessPath path(Resources(cpu, pacing));
    inserted = path.Play(events.first(1));
    EndInsertion(*leaf);
    if (path.fault()) return {inserted, path.fault()};
    MarkStale();
  }
  AccessPath path(Resources(cpu, pacing));
  const size_t consumed = inserted + path.Play(events.subspan(inserted));
  return {consumed, path.fault()};
}

void Machine::TouchAsSupervisor(CpuId cpu, VirtPage page) {
  MarkStale();
  AccessPath(Resources(cpu, Pacing::kInstructions)).TouchAsSupervisor(page);
}

void Machine::Insert(CpuId cpu_id, const Insertion& insertion) {
  LOOKASIDE_DCHECK(!insertion.leaf.accessed());
  cpu(cpu_id).set_insertion(insertion);
}

std::optional<PhysAddr> Machine::TakeInsertion(CpuId cpu_id) {
  Cpu& thread = cpu(cpu_id);
  if (!thread.insertion()) return std::nullopt;
  const Insertion insertion = *thread.insertion();
  thread.set_insertion(std::nullopt);
  if (thread.space().root != insertion.root) return std::nullopt;
  const PageTable table(insertion.root,
                        static_cast<int>(config_.paging.levels));
  const auto now = table.Lookup(memory_.tables, insertion.page);
  if (!now || now->leaf.pte != insertion.leaf) return std::nullopt;
  return now->leaf.address;
}

// Nothing came between: only this thread can have walked to it.
void Machine::EndInsertion(PhysAddr leaf) {
  memory_.tables.Write(leaf, memory_.tables.Read(leaf).WithAccessed(false));
}

Machine::AccessResult Machine::AccessRuns(CpuId cpu, std::span<PageRun> runs,
                                          Pacing pacing) {
  LOOKASIDE_DCHECK(folding_is_exact());
  MarkStale();
  size_t inserted = 0;
  if (const auto leaf = TakeInsertion(cpu); leaf && !runs.empty()) {
    AccessPath path(Resources(cpu, pacing));
    inserted = path.Play(runs.front()) ? 1 : 0;
    EndInsertion(*leaf);
    if (path.fault()) return {inserted, path.fault()};
    MarkStale();
  }
  AccessPath path(Resources(cpu, pacing));
  for (size_t i = inserted; i < runs.size(); ++i) {
    if (!path.Play(runs[i])) return {i, path.fault()};
  }
  return {runs.size(), std::nullopt};
}

bool Machine::folding_is_exact() const {
  if (config_.tlb.inclusion == TlbInclusion::kInclusive) return false;
  for (const TlbConfig& array : config_.tlb.arrays) {
    if (array.level == 1 && array.side == TlbSide::kUnified) return false;
  }
  return true;
}

TlbContext Machine::TagsOf(CpuId cpu, const AddressSpace& space) {
  ContextTable& contexts = core(cpu).contexts;
  const ThreadSlot thread = topology_.ThreadOf(cpu);
  return {contexts.Intern({space.vpid, space.pcid, thread}),
          contexts.InternGlobal(space.vpid), thread};
}

void Machine::LoadContext(CpuId id, const AddressSpace& space,
                          ContextLoad load) {
  MarkStale();
  Cpu& cpu_ref = cpu(id);
  Core& core_ref = core(id);
  SetActive(id, true);
  cpu_ref.set_halted(false);
  const TreeId tree = memory_.tables.place(space.root).tree;
  cpu_ref.SetContext(space, TagsOf(id, space), tree);
  stale_.AddHolder(tree, topology_.CoreOf(id));
  core_ref.last_pages.Clear();
  core_ref.tlb.OnLoadContext(cpu_ref.tlb_context(), cpu_ref.counters().tlb);
  if (load == ContextLoad::kFlush) {
    DropContext(id, cpu_ref.tlb_context().tag);
  }
  if (load != ContextLoad::kNoFlushYet) CheckActivation(id, load);
  cpu_ref.Charge(CostKind::kContext, load == ContextLoad::kFlush
                                         ? costs_.cr3_flush
                                         : costs_.cr3_noflush);
}

std::vector<CachedPage> Machine::CachedPages(
    CpuId cpu, std::span<const Pcid> pcids) const {
  std::vector<CachedPage> pages;
  const Lazy<Core>& lazy = cores_[topology_.CoreOf(cpu).value()];
  if (!lazy.has_value()) return pages;
  const auto wanted = [&](ContextTag tag) {
    const AddressSpaceTag& space = lazy->contexts.Resolve(tag);
    return !space.global && space.thread == topology_.ThreadOf(cpu) &&
           std::ranges::find(pcids, space.pcid) != pcids.end();
  };
  for (const Tlb& array : lazy->tlb.arrays()) {
    array.ForEachWithin(VirtPage(0), kVirtPageBits, [&](uint32_t slot) {
      const TlbEntry entry = array.EntryAt(slot);
      if (wanted(entry.context)) pages.push_back({entry.page, entry.size});
    });
  }
  std::ranges::sort(pages);
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
  return pages;
}

void Machine::MarkStale() {
  if (!memory_.tables.has_changes()) return;
  const Lazy<Cpu>& writer = cpus_[writer_cpu_.value()];
  const Cycles now = writer.has_value() ? writer->clock() : Cycles();
  for (const EntryChange& change : memory_.tables.TakeChanges()) {
    stale_.Mark(change, static_cast<int>(config_.paging.levels), now, cores_);
  }
}

OperationId Machine::BeginOperation(CpuId cpu, std::string name) {
  MarkStale();
  writer_cpu_ = cpu;
  return stale_.Begin(std::move(name));
}

void Machine::ContinueOperation(CpuId cpu, OperationId operation) {
  MarkStale();
  writer_cpu_ = cpu;
  stale_.Continue(operation);
}

void Machine::Promise(OperationId operation, bool relaxed) {
  MarkStale();
  stale_.Promise(operation, relaxed, cores_);
}

std::optional<CpuId> Machine::UserOf(CoreId core, ContextTag tag,
                                     UsablePcid usable) const {
  const AddressSpaceTag& space = cores_[core.value()]->contexts.Resolve(tag);
  const uint32_t threads = topology_.threads_per_core();
  for (uint32_t thread = 0; thread < threads; ++thread) {
    // Global entries serve every thread.
    if (!space.global && space.thread.value() != thread) continue;
    const CpuId id(core.value() * threads + thread);
    const Lazy<Cpu>& cpu = cpus_[id.value()];
    if (!cpu.has_value()) continue;
    const bool loaded =
        cpu->has_context() && (space.global || cpu->tlb_context().tag == tag);
    if (usable(id, space.pcid, loaded)) return id;
  }
  return std::nullopt;
}

void Machine::CheckFrameFree(CpuId cpu_id, FrameNumber frame, PageSize size,
                             UsablePcid usable) {
  MarkStale();
  stale_.OnFrameFree(
      frame, size, cpu(cpu_id).clock(), cores_,
      [&](CoreId core, ContextTag tag) { return UserOf(core, tag, usable); },
      checks_);
}

void Machine::CheckTableFree(CpuId cpu_id, FrameNumber table,
                             UsablePcid usable) {
  MarkStale();
  stale_.OnTableFree(
      table, memory_.tables.place(table).tree, cpu(cpu_id).clock(), cores_,
      [&](CoreId core, ContextTag tag) { return UserOf(core, tag, usable); },
      checks_);
}

// A PCID that is loaded without a flush must bring back nothing of another
// tree and nothing that was taken away.
void Machine::CheckActivation(CpuId id, ContextLoad load) {
  const Cpu& cpu_ref = cpu(id);
  const ContextTag tag = cpu_ref.tlb_context().tag;
  std::vector<TreeId>& trees = core(id).tree_of_tag;
  if (trees.size() <= tag.value()) trees.resize(tag.value() + size_t{1});
  TreeId& last = trees[tag.value()];
  if (load == ContextLoad::kNoFlush) {
    stale_.OnActivation(
        {id, topology_.CoreOf(id), tag, cpu_ref.tree(), cpu_ref.clock()},
        last == cpu_ref.tree(), cores_, checks_);
  }
  last = cpu_ref.tree();
}

void Machine::Halt(CpuId id) {
  SetActive(id, false);
  cpu(id).set_halted(true);
}

void Machine::SendIpi(CpuId from, const CpuSet& targets, uint32_t payload) {
  LOOKASIDE_DCHECK(!targets.Has(from));
  interconnect_.ForEachWrite(targets, [&](const CpuSet& reached) {
    Cpu& sender = cpu(from);
    sender.Charge(CostKind::kFlushSend, interconnect_.write());
    const Cycles sent = sender.clock();
    reached.ForEach([&](CpuId target) {
      Cpu& receiver = cpu(target);
      const Cycles latency =
          interconnect_.Latency(from, target, receiver.halted());
      receiver.interrupts().Add({sent + latency, from, payload});
    });
  });
}

void Machine::SetActive(CpuId id, bool active) {
  Core& core_ref = core(id);
  const uint32_t bit = 1u << topology_.ThreadOf(id).value();
  const uint32_t mask =
      active ? core_ref.active_threads | bit : core_ref.active_threads & ~bit;
  if (mask == core_ref.active_threads) return;
  core_ref.active_threads = mask;
  core_ref.last_pages.Clear();
  core_ref.tlb.SetActiveThreads(mask, cpu(id).counters().tlb);
}

void Machine::DropPage(CpuId id, const TlbContext& context, VirtPage page,
                       bool globals) {
  Core& core_ref = core(id);
  core_ref.tlb.DropPage(context, page, globals, cpu(id).counters().tlb);
  core_ref.psc.Invlpg(context.tag, page);
}

void Machine::DropContext(CpuId id, ContextTag tag) {
  core(id).tlb.DropContext(tag, cpu(id).counters().tlb);
  core(id).psc.InvalidateTag(tag);
}

// All PCIDs of the running VPID on this hardware thread, and its global
// translations, which all threads of the core share.
void Machine::DropThread(CpuId id, bool globals) {
  Core& core_ref = core(id);
  const Vpid vpid = cpu(id).space().vpid;
  const ThreadSlot thread = topology_.ThreadOf(id);
  const auto drop = [&](ContextTag tag) {
    const AddressSpaceTag& space = core_ref.contexts.Resolve(tag);
    return space.vpid == vpid &&
           (space.global ? globals : space.thread == thread);
  };
  core_ref.tlb.DropContextsIf(drop, cpu(id).counters().tlb);
  core_ref.psc.InvalidateIf(drop);
}

namespace {

Cycles CostOf(InvalidationScope scope, const CostModel& costs) {
  switch (scope) {
    case InvalidationScope::kInvlpg:
      return costs.invlpg;
    case InvalidationScope::kCr3:
      return costs.cr3_flush;
    case InvalidationScope::kCr4Pge:
      return costs.cr4_pge;
    case InvalidationScope::kInvpcidAddress:
    case InvalidationScope::kInvpcidContext:
    case InvalidationScope::kInvpcidAll:
    case InvalidationScope::kInvpcidNonGlobal:
      break;
  }
  return costs.invpcid;
}

}  // namespace

void Machine::Invalidate(CpuId id, const Invalidation& invalidation) {
  InvalidateUncharged(id, invalidation);
  const bool context = invalidation.scope == InvalidationScope::kCr3;
  cpu(id).Charge(context ? CostKind::kContext : CostKind::kInvalidate,
                 CostOf(invalidation.scope, costs_));
}

void Machine::InvalidateUncharged(CpuId id, const Invalidation& invalidation) {
  MarkStale();
  const Cpu& cpu_ref = cpu(id);
  LOOKASIDE_CHECK(cpu_ref.has_context());
  core(id).last_pages.Clear();
  const TlbContext& running = cpu_ref.tlb_context();
  AddressSpace named = cpu_ref.space();
  named.pcid = invalidation.pcid;
  switch (invalidation.scope) {
    case InvalidationScope::kInvlpg:
      return DropPage(id, running, invalidation.page, true);
    case InvalidationScope::kInvpcidAddress:
      return DropPage(id, TagsOf(id, named), invalidation.page, false);
    case InvalidationScope::kInvpcidContext:
      return DropContext(id, TagsOf(id, named).tag);
    case InvalidationScope::kInvpcidAll:
    case InvalidationScope::kCr4Pge:
      return DropThread(id, true);
    case InvalidationScope::kInvpcidNonGlobal:
      return DropThread(id, false);
    case InvalidationScope::kCr3:
      return DropContext(id, running.tag);
  }
}

void Machine::Invalidate(CpuId from, const Broadcast& broadcast) {
  MarkStale();
  cpu(from).Charge(CostKind::kInvalidate, costs_.invlpgb);
  for (const CpuId id : used_cpus()) {
    if (!cores_[topology_.CoreOf(id).value()].has_value()) continue;
    core(id).last_pages.Clear();
    if (broadcast.scope == BroadcastScope::kNonGlobal) {
      DropThread(id, /*globals=*/false);
      continue;
    }
    const TlbContext context =
        TagsOf(id, {FrameNumber(), broadcast.pcid, cpu(id).space().vpid});
    if (broadcast.scope == BroadcastScope::kContext) {
      DropContext(id, context.tag);
      continue;
    }
    for (uint64_t i = 0; i < broadcast.count; ++i) {
      const VirtPage page(broadcast.page.value() +
                          (i << broadcast.stride_order));
      DropPage(id, context, page, /*globals=*/false);
    }
  }
}

void Machine::SyncBroadcasts(CpuId from) {
  cpu(from).Charge(CostKind::kFlushWait, costs_.tlbsync);
}

// Of the core's hardware threads in use.
Cycles Machine::LeastClock(CoreId core) const {
  const uint32_t threads = topology_.threads_per_core();
  std::optional<Cycles> least;
  for (uint32_t i = 0; i < threads; ++i) {
    const Lazy<Cpu>& cpu = cpus_[core.value() * threads + i];
    if (!cpu.has_value()) continue;
    least = least ? std::min(*least, cpu->clock()) : cpu->clock();
  }
  return least.value_or(Cycles());
}

Fingerprint Machine::Digest(Cycles origin) const {
  lookaside::Digest digest(origin);
  memory_.AddTo(digest);
  for (const Lazy<Cpu>& cpu : cpus_) {
    if (cpu.has_value()) cpu->AddTo(digest);
  }
  for (uint32_t i = 0; i < cores_.size(); ++i) {
    if (!cores_[i].has_value()) continue;
    digest.Add(i);
    cores_[i]->AddTo(digest, LeastClock(CoreId(i)));
  }
  for (uint32_t i = 0; i < l3_.size(); ++i) {
    if (!l3_[i].has_value()) continue;
    digest.Add(i);
    l3_[i]->AddTo(digest);
  }
  stale_.AddTo(digest);
  return digest.Finish();
}

void Machine::CheckInvariants() const {
  for (const Lazy<Core>& core : cores_) {
    if (core.has_value()) core->tlb.CheckInvariants();
  }
}

}  // namespace lookaside
