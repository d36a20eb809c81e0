// SPDX-License-Identifier: Apache-2.0
#include "lookaside/testing/reference_machine.h"

#include <algorithm>

#include "lookaside/pagetable/page_table.h"

namespace lookaside {

ReferenceLines::ReferenceLines(const LineCacheConfig& config,
                               Permille data_pressure)
    : sets_(config.lines == 0 ? 1 : config.lines / config.ways),
      ways_(config.lines == 0 ? 0 : data_pressure.Without(config.ways)) {}

bool ReferenceLines::Load(PhysAddr address) {
  const uint64_t line = address.value() / 64;
  std::list<uint64_t>& set = lines_[line % sets_];
  const auto found = std::find(set.begin(), set.end(), line);
  const bool hit = found != set.end();
  if (hit) set.erase(found);
  set.push_front(line);
  if (set.size() > ways_) set.pop_back();
  return hit;
}

ReferenceMachine::ReferenceMachine(const MachineConfig& config)
    : config_(config),
      topology_(config.topology),
      costs_(CostModel::From(config.cost, config.topology.mhz)),
      memory_{
          *FrameAllocator::Create(topology_.nodes(), config.paging.node_memory,
                                  topology_.nodes_per_socket()),
          TableMemory()} {}

ReferenceMachine::Core& ReferenceMachine::CoreOf(CpuId cpu) {
  const CoreId id = topology_.CoreOf(cpu);
  const auto found = cores_.find(id);
  if (found != cores_.end()) return found->second;
  const Permille pressure = config_.walk.data_pressure;
  Core core{
      .contexts = ContextTable(),
      .tlb = ReferenceTlbHierarchy(config_.tlb, topology_.threads_per_core(),
                                   config_.seed + id.value() * 1024ull),
      .psc = ReferencePagingStructureCaches(config_.psc),
      .l1 = ReferenceLines(config_.walk.l1, pressure),
      .l2 = ReferenceLines(config_.walk.l2, pressure),
      .walker_free = std::vector<Cycles>(config_.walk.walkers),
      .active = 0,
      .tags = {}};
  return cores_.emplace(id, std::move(core)).first->second;
}

ReferenceMachine::CpuState& ReferenceMachine::At(CpuId cpu) {
  CpuState& state = cpus_[cpu];
  state.counters.tlb.resize(config_.tlb.arrays.size());
  return state;
}

void ReferenceMachine::Charge(CpuId cpu, CostKind kind, Cycles cycles) {
  At(cpu).ledger.Add(kind, cycles);
  At(cpu).clock += cycles;
}

std::optional<Fault> ReferenceMachine::Access(CpuId cpu,
                                              const TraceEvent& event,
                                              Pacing pacing) {
  const bool fetch = event.kind == EventKind::kFetch;
  const uint64_t first = event.address.value() / kPageBytes;
  const uint64_t last = (event.address.value() + event.size - 1) / kPageBytes;
  struct Step {
    uint64_t page;
    bool write;
  };
  std::vector<Step> steps;
  const bool loads = event.kind != EventKind::kStore;
  const bool stores =
      event.kind == EventKind::kStore || event.kind == EventKind::kModify;
  for (uint64_t p = first; loads && p <= last; ++p) steps.push_back({p, false});
  for (uint64_t p = first; stores && p <= last; ++p) steps.push_back({p, true});
  CpuState& state = At(cpu);
  for (; state.done < steps.size(); ++state.done) {
    const Step& step = steps[state.done];
    const std::optional<Fault> fault =
        Translate(cpu, fetch ? AccessSide::kInst : AccessSide::kData,
                  VirtPage(step.page & kVirtPageMask),
                  {.write = step.write, .user = true, .fetch = fetch});
    if (fault) return fault;
  }
  state.done = 0;
  state.counters.ifetches += fetch;
  state.counters.instructions += fetch;
  state.counters.loads += !fetch && loads;
  state.counters.stores += stores;
  const uint64_t accesses = (loads ? 1u : 0u) + (stores ? 1u : 0u);
  const uint64_t paced =
      pacing == Pacing::kAccesses ? accesses : (fetch ? 1u : 0u);
  Charge(cpu, CostKind::kBase, costs_.instruction * paced);
  return std::nullopt;
}

std::optional<Fault> ReferenceMachine::Translate(CpuId cpu, AccessSide side,
                                                 VirtPage page,
                                                 WalkAccess access) {
  CpuState& state = At(cpu);
  ReferenceTlbHierarchy& tlb = CoreOf(cpu).tlb;
  const ReferenceTlbHierarchy::Found found =
      tlb.Lookup(side, state.context, page, state.counters.tlb);
  if (found.level == 0) return WalkAndFill(cpu, side, page, access, false);
  const uint8_t flags = found.entry->flags;
  const bool permitted = (flags & kTlbUser) != 0 &&
                         (!access.write || (flags & kTlbWritable) != 0) &&
                         (!access.fetch || (flags & kTlbNoExecute) == 0);
  if (!permitted) return WalkAndFill(cpu, side, page, access, true);
  const size_t array = found.level == 1 ? found.array : found.second_array;
  Charge(cpu, found.level == 1 ? CostKind::kL1Tlb : CostKind::kStlb,
         Cycles(config_.tlb.arrays[array].latency));
  if (access.write && (flags & kTlbDirty) == 0) {
    const Walked walk = Walk(cpu, page, access);
    if (walk.fault != WalkFault::kNone) return Raise(cpu, walk, page, access);
    ++state.counters.translation.dirty_assists;
    state.counters.translation.dirty_assist_loads += walk.places.size();
    Charge(cpu, CostKind::kDirtyAssist, walk.cycles + costs_.dirty_assist);
    tlb.SetDirty(state.context, page);
  }
  ++(found.level == 1 ? state.counters.translation.l1_hits
                      : state.counters.translation.stlb_hits);
  tlb.CountHit(side, page, found, state.counters.tlb);
  return std::nullopt;
}

std::optional<Fault> ReferenceMachine::WalkAndFill(CpuId cpu, AccessSide side,
                                                   VirtPage page,
                                                   WalkAccess access,
                                                   bool denied) {
  CpuState& state = At(cpu);
  ReferenceTlbHierarchy& tlb = CoreOf(cpu).tlb;
  const Walked walk = Walk(cpu, page, access);
  if (walk.fault != WalkFault::kNone) return Raise(cpu, walk, page, access);
  Charge(cpu, CostKind::kWalk, walk.cycles);
  Count(cpu, walk);
  tlb.CountMiss(side, page, walk.entry.size, state.counters.tlb);
  if (denied) tlb.DropPage(state.context, page, true, state.counters.tlb);
  tlb.Fill(side, page, walk.entry, state.counters.tlb);
  return std::nullopt;
}

// A walk, and the walker that it keeps busy.
ReferenceMachine::Walked ReferenceMachine::Walk(CpuId cpu, VirtPage page,
                                                WalkAccess access) {
  Walked walk;
  if (IsCanonical(StartOf(page), static_cast<int>(config_.paging.levels))) {
    walk = WalkTables(cpu, page, access);
  } else {
    walk.fault = WalkFault::kNonCanonical;
    return walk;
  }
  if (costs_.refill) walk.cycles = *costs_.refill;
  std::vector<Cycles>& walkers = CoreOf(cpu).walker_free;
  const auto walker = std::min_element(walkers.begin(), walkers.end());
  const Cycles now = At(cpu).clock;
  const Cycles start = std::max(now, *walker);
  *walker = start + walk.cycles;
  Charge(cpu, CostKind::kWalkWait, start - now);
  return walk;
}

ReferenceMachine::Walked ReferenceMachine::WalkTables(CpuId cpu, VirtPage page,
                                                      WalkAccess access) {
  CpuState& state = At(cpu);
  ReferencePagingStructureCaches& psc = CoreOf(cpu).psc;
  Walked walk;
  FrameNumber table = state.space.root;
  int level = static_cast<int>(config_.paging.levels) - 1;
  PscEntry rights{.table = table, .writable = true, .user = true, .nx = false};
  const PscHit hit = psc.Find(state.context.tag, page);
  if (hit.level != PagingLevel::kPte) {
    walk.psc_hit = hit.level;
    table = hit.entry.table;
    rights = hit.entry;
    level = static_cast<int>(hit.level) - 1;
  }
  struct Used {
    PhysAddr address;
    PagingLevel level;
    PscEntry rights;
  };
  std::vector<Used> used;
  Pte pte;
  for (;; --level) {
    const auto at = static_cast<PagingLevel>(level);
    const PhysAddr address = EntryAddress(table, EntryIndex(page, at));
    walk.levels.push_back(at);
    walk.places.push_back(Load(cpu, address));
    walk.cycles += Latency(walk.places.back());
    pte = memory_.tables.Read(address);
    if (!pte.present()) {
      walk.fault = WalkFault::kNotPresent;
      break;
    }
    table = pte.frame();
    rights = {.table = table,
              .writable = rights.writable && pte.writable(),
              .user = rights.user && pte.user(),
              .nx = rights.nx || pte.nx()};
    used.push_back({address, at, rights});
    if (IsLeaf(pte, at)) break;
  }
  walk.cycles += Cycles(config_.walk.base_cycles);
  walk.cycles = Cycles(config_.walk.overlap.Without(walk.cycles.value()));
  if (walk.fault != WalkFault::kNone) return walk;
  if ((access.write && !rights.writable) || (access.user && !rights.user) ||
      (access.fetch && rights.nx)) {
    walk.fault = WalkFault::kProtection;
    return walk;
  }
  for (const Used& u : used) {
    Pte entry = memory_.tables.Read(u.address).WithAccessed(true);
    const bool leaf = u.address == used.back().address;
    if (leaf && access.write) entry = entry.WithDirty(true);
    memory_.tables.Write(u.address, entry);
    if (leaf) {
      pte = entry;
    } else {
      psc.Fill(state.context.tag, page, u.level, u.rights);
    }
  }
  const auto size = static_cast<PageSize>(level);
  walk.entry.page = AlignDown(page, size);
  walk.entry.frame = pte.frame();
  walk.entry.context = pte.global() ? state.context.global : state.context.tag;
  walk.entry.size = size;
  walk.entry.origin = size;
  walk.entry.thread = state.context.thread;
  walk.entry.flags = static_cast<uint8_t>(
      (rights.writable ? kTlbWritable : 0) | (rights.user ? kTlbUser : 0) |
      (rights.nx ? kTlbNoExecute : 0) | (pte.dirty() ? kTlbDirty : 0) |
      (pte.global() ? kTlbGlobal : 0));
  return walk;
}

LinePlace ReferenceMachine::Load(CpuId cpu, PhysAddr address) {
  const SocketId socket = topology_.SocketOf(cpu);
  ReferenceLines& l3 =
      l3_.try_emplace(socket, config_.walk.l3, config_.walk.data_pressure)
          .first->second;
  if (CoreOf(cpu).l1.Load(address)) return LinePlace::kL1;
  if (CoreOf(cpu).l2.Load(address)) return LinePlace::kL2;
  if (l3.Load(address)) return LinePlace::kL3;
  const NodeId home =
      memory_.frames.NodeOf(FrameNumber(address.value() / kPageBytes));
  return home.value() / topology_.nodes_per_socket() == socket.value()
             ? LinePlace::kLocalMemory
             : LinePlace::kRemoteMemory;
}

Cycles ReferenceMachine::Latency(LinePlace place) const {
  const WalkConfig& walk = config_.walk;
  switch (place) {
    case LinePlace::kL1:
      return Cycles(walk.l1.cycles);
    case LinePlace::kL2:
      return Cycles(walk.l2.cycles);
    case LinePlace::kL3:
      return Cycles(walk.l3.cycles);
    case LinePlace::kLocalMemory:
      return CyclesFromNs(walk.local_memory_ns, topology_.mhz());
    case LinePlace::kRemoteMemory:
      return CyclesFromNs(walk.remote_memory_ns, topology_.mhz());
  }
  return Cycles();
}

Fault ReferenceMachine::Raise(CpuId cpu, const Walked& walk, VirtPage page,
                              WalkAccess access) {
  CpuState& state = At(cpu);
  ++state.counters.translation.page_faults;
  state.counters.translation.fault_walk_loads += walk.places.size();
  Charge(cpu, CostKind::kFault, walk.cycles);
  CoreOf(cpu).tlb.DropPage(state.context, page, true, state.counters.tlb);
  CoreOf(cpu).psc.InvalidateAddress(state.context.tag, page);
  return {StartOf(page), walk.fault, access};
}

void ReferenceMachine::Count(CpuId cpu, const Walked& walk) {
  TranslationCounters& counters = At(cpu).counters.translation;
  ++counters.walks;
  counters.walk_loads += walk.places.size();
  for (PagingLevel level : walk.levels) {
    ++counters.walk_loads_by_level[static_cast<size_t>(level)];
  }
  for (LinePlace place : walk.places) {
    ++counters.walk_loads_by_place[static_cast<size_t>(place)];
  }
  if (walk.psc_hit != PagingLevel::kPte) {
    ++counters.psc_hits[static_cast<size_t>(walk.psc_hit)];
  }
}

TlbContext ReferenceMachine::TagsOf(CpuId cpu, const AddressSpace& space) {
  Core& core = CoreOf(cpu);
  const ThreadSlot thread = topology_.ThreadOf(cpu);
  const TlbContext context{
      core.contexts.Intern({space.vpid, space.pcid, thread}),
      core.contexts.InternGlobal(space.vpid), thread};
  core.tags.push_back(context.tag);
  core.tags.push_back(context.global);
  return context;
}

void ReferenceMachine::SetActive(CpuId cpu, bool active) {
  Core& core = CoreOf(cpu);
  const uint32_t bit = 1u << topology_.ThreadOf(cpu).value();
  core.active = active ? core.active | bit : core.active & ~bit;
  core.tlb.SetActiveThreads(core.active, At(cpu).counters.tlb);
}

void ReferenceMachine::LoadContext(CpuId cpu, const AddressSpace& space,
                                   ContextLoad load) {
  SetActive(cpu, true);
  CpuState& state = At(cpu);
  state.space = space;
  state.context = TagsOf(cpu, space);
  CoreOf(cpu).tlb.OnLoadContext(state.context, state.counters.tlb);
  if (load == ContextLoad::kFlush) DropTags(cpu, {state.context.tag});
  Charge(cpu, CostKind::kContext,
         load == ContextLoad::kFlush ? costs_.cr3_flush : costs_.cr3_noflush);
}

void ReferenceMachine::Halt(CpuId cpu) { SetActive(cpu, false); }

void ReferenceMachine::IdleUntil(CpuId cpu, Cycles time) {
  const Cycles now = At(cpu).clock;
  if (time > now) Charge(cpu, CostKind::kIdle, time - now);
}

void ReferenceMachine::DropTags(CpuId cpu,
                                const std::vector<ContextTag>& tags) {
  const auto drop = [&tags](ContextTag tag) {
    return std::find(tags.begin(), tags.end(), tag) != tags.end();
  };
  CoreOf(cpu).tlb.DropContextsIf(drop, At(cpu).counters.tlb);
  for (ContextTag tag : tags) CoreOf(cpu).psc.InvalidateTag(tag);
}

void ReferenceMachine::Invalidate(CpuId cpu, const Invalidation& invalidation) {
  CpuState& state = At(cpu);
  Core& core = CoreOf(cpu);
  AddressSpace named = state.space;
  named.pcid = invalidation.pcid;
  std::vector<ContextTag> all;
  std::vector<ContextTag> not_global;
  for (ContextTag tag : core.tags) {
    const AddressSpaceTag& space = core.contexts.Resolve(tag);
    if (space.vpid != state.space.vpid) continue;
    if (!space.global && space.thread != state.context.thread) continue;
    all.push_back(tag);
    if (!space.global) not_global.push_back(tag);
  }
  switch (invalidation.scope) {
    case InvalidationScope::kInvlpg:
      core.tlb.DropPage(state.context, invalidation.page, true,
                        state.counters.tlb);
      core.psc.Invlpg(state.context.tag, invalidation.page);
      return Charge(cpu, CostKind::kInvalidate, costs_.invlpg);
    case InvalidationScope::kInvpcidAddress: {
      const TlbContext context = TagsOf(cpu, named);
      core.tlb.DropPage(context, invalidation.page, false, state.counters.tlb);
      core.psc.Invlpg(context.tag, invalidation.page);
      return Charge(cpu, CostKind::kInvalidate, costs_.invpcid);
    }
    case InvalidationScope::kInvpcidContext:
      DropTags(cpu, {TagsOf(cpu, named).tag});
      return Charge(cpu, CostKind::kInvalidate, costs_.invpcid);
    case InvalidationScope::kInvpcidAll:
      DropTags(cpu, all);
      return Charge(cpu, CostKind::kInvalidate, costs_.invpcid);
    case InvalidationScope::kInvpcidNonGlobal:
      DropTags(cpu, not_global);
      return Charge(cpu, CostKind::kInvalidate, costs_.invpcid);
    case InvalidationScope::kCr3:
      DropTags(cpu, {state.context.tag});
      return Charge(cpu, CostKind::kContext, costs_.cr3_flush);
    case InvalidationScope::kCr4Pge:
      DropTags(cpu, all);
      return Charge(cpu, CostKind::kInvalidate, costs_.cr4_pge);
  }
}

}  // namespace lookaside
