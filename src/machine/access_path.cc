// SPDX-License-Identifier: Apache-2.0
#include "lookaside/machine/access_path.h"

#include <algorithm>

#include "lookaside/base/check.h"
#include "lookaside/pagetable/page_table.h"

namespace lookaside {
namespace {

constexpr uint64_t kOffsetMask = kPageBytes - 1;

// How many events before a walk its entry is fetched: where one event misses
// the first level, the coming ones may miss everything (BM_UniformRandom).
constexpr size_t kPrefetchEvents = 8;

bool Permits(uint8_t flags, const WalkAccess& access) {
  if (access.write && (flags & kTlbWritable) == 0) return false;
  if (access.user && (flags & kTlbUser) == 0) return false;
  return !access.fetch || (flags & kTlbNoExecute) == 0;
}

// Without a branch: FillPlain waits for it (BM_UniformRandom).
constexpr unsigned FlagIf(bool on, TlbFlag bit) {
  return static_cast<unsigned>(on) * bit;
}

uint8_t FlagsOf(const WalkResult& walk) {
  return static_cast<uint8_t>(FlagIf(walk.permissions.writable, kTlbWritable) |
                              FlagIf(walk.permissions.user, kTlbUser) |
                              FlagIf(walk.permissions.nx, kTlbNoExecute) |
                              FlagIf(walk.dirty, kTlbDirty) |
                              FlagIf(walk.stale, kTlbStale) |
                              FlagIf(walk.global, kTlbGlobal));
}

// Whether the entry gives nothing that the tree does not.
bool GivesNoMore(const TlbEntry& entry, const Translation& now) {
  const LeafEntry& leaf = now.leaf;
  const uint64_t frame =
      leaf.pte.frame().value() + entry.page.value() - leaf.page.value();
  if (entry.page < leaf.page || entry.frame.value() != frame) return false;
  const bool writable = (entry.flags & kTlbWritable) != 0;
  const bool user = (entry.flags & kTlbUser) != 0;
  const bool nx = (entry.flags & kTlbNoExecute) != 0;
  const bool dirty = (entry.flags & kTlbDirty) != 0;
  return (!writable || now.permissions.writable) &&
         (!user || now.permissions.user) && (nx || !now.permissions.nx) &&
         (!dirty || leaf.pte.dirty());
}

// Whether two entries, the second filled now, translate a page that both hold
// to different frames or with different rights.
bool Contradict(const TlbEntry& held, const TlbEntry& filled) {
  constexpr uint8_t kRights = kTlbWritable | kTlbUser | kTlbNoExecute;
  if (((held.flags ^ filled.flags) & kRights) != 0) return true;
  const VirtPage common = std::max(held.page, filled.page);
  return held.frame.value() + (common.value() - held.page.value()) !=
         filled.frame.value() + (common.value() - filled.page.value());
}

WalkAccess UserAccess(AccessSide side, bool write) {
  return {.write = write, .user = true, .fetch = side == AccessSide::kInst};
}

TlbHierarchy::PlainArrays PlainArraysOf(const AccessResources& resources,
                                        AccessSide side) {
  TlbHierarchy& tlb = resources.core.tlb;
  const PagingStructureCaches& psc = resources.core.psc;
  if (!tlb.has_plain_fill(side) || resources.costs.refill) return {};
  if (!psc.has(PagingLevel::kPde) && !psc.has(PagingLevel::kPdpte)) return {};
  return tlb.PlainArraysOf(side, resources.cpu.counters().tlb);
}

}  // namespace

AccessPath::AccessPath(const AccessResources& resources)
    : r_(resources),
      last_(resources.core.last_pages),
      tlb_counters_(resources.cpu.counters().tlb),
      walk_resources_{r_.core.psc,      r_.core.lines,    r_.l3,
                      r_.memory.tables, r_.memory.frames, r_.node,
                      &r_.core.prefetch},
      plain_{PlainArraysOf(resources, AccessSide::kInst),
             PlainArraysOf(resources, AccessSide::kData)} {
  LOOKASIDE_CHECK(r_.cpu.has_context());
  const ThreadSlot thread = r_.cpu.tlb_context().thread;
  if (last_.owner == thread) return;
  last_.Clear();
  last_.owner = thread;
}

size_t AccessPath::Play(std::span<const TraceEvent> events) {
  size_t done = 0;
  while (done < events.size()) {
    const size_t end = std::min(events.size(), done + kMostPending);
    // In a register: the loop below is the replay's hottest.
    uint64_t pending = 0;
    for (; done < end; ++done) {
      const TraceEvent& event = events[done];
      const uint64_t address = event.address.value();
      const uint64_t page = address >> kPageShift;
      const auto kind = static_cast<unsigned>(event.kind);
      if ((address & kOffsetMask) + event.size <= kPageBytes) [[likely]] {
        if (last_.page[kind] == page || HitsFirstLevel(event.kind, page)) {
          pending += uint64_t{1} << (kind * kPendingBits);
          continue;
        }
      }
      pending_ = pending;
      pending = 0;
      if (done + kPrefetchEvents < events.size()) {
        const TraceEvent& later = events[done + kPrefetchEvents];
        r_.core.prefetch.Prefetch(later.address.value() >> kPageShift);
      }
      if (!PlayMiss(event)) return done;
    }
    pending_ = pending;
    Settle();
  }
  return done;
}

// A hit that only moves its entry to the front, in the array that the side
// used last: worth as much as a repeat, and counted as one. Everything else
// is left to Translate. Measured by BM_ReplayDecoded.
inline bool AccessPath::HitsFirstLevel(EventKind kind, uint64_t page) {
  // Of the flags that matter to the kind, those that must be set.
  constexpr uint8_t kStoreFlags = kTlbUser | kTlbWritable | kTlbDirty;
  constexpr uint8_t kMatter[] = {kTlbUser | kTlbNoExecute | kTlbStale,
                                 kTlbUser | kTlbStale, kStoreFlags | kTlbStale,
                                 kStoreFlags | kTlbStale};
  constexpr uint8_t kWanted[] = {kTlbUser, kTlbUser, kStoreFlags, kStoreFlags};
  const auto number = static_cast<unsigned>(kind);
  const AccessSide side =
      kind == EventKind::kFetch ? AccessSide::kInst : AccessSide::kData;
  const uint8_t array = last_.array[static_cast<size_t>(side)];
  if (array != r_.core.tlb.only_first_4k(side)) return false;
  // An event that resumes after a fault must not begin anew.
  if (r_.cpu.translations_done() != 0) return false;
  Tlb& tlb = r_.core.tlb.array(array);
  const TlbContext& context = r_.cpu.tlb_context();
  const VirtPage virt_page(page & kVirtPageMask);
  const Tlb::Page sought(context.tag, virt_page);
  const uint32_t set = tlb.SetFor(context, virt_page);
  uint32_t slot = tlb.FindOwn(set, sought);
  if (slot == Tlb::kMiss && tlb.holds_globals()) {
    slot = tlb.Find(context, virt_page, PageSize::k4K);
  }
  if (slot == Tlb::kMiss) {
    missed_page_ = page;
    missed_.page = sought;
    missed_.first = set;
    return false;
  }
  const uint8_t flags = tlb.flags(slot);
  if ((flags & kMatter[number]) != kWanted[number]) return false;
  tlb.OnHit(slot);
  RememberPage(side, page, flags);
  return true;
}

bool AccessPath::Play(PageRun& run) {
  // Whole runs are booked together while their counts fit 16 bits.
  if (++runs_pending_ == kMostRunsPending) Settle();
  const std::array<TraceEvent, 2> heads = run.heads;
  const uint8_t count = run.head_count;
  for (uint8_t i = 0; i < count; ++i) {
    if (!PlayHead(heads[i])) {
      // Keep the other side's head too: `after` counts on its page.
      run.heads = {heads[i], heads[1 - i]};
      run.head_count = static_cast<uint8_t>(count - i);
      return false;
    }
    // Nothing came between the head and these: they cannot fault.
    if (i == 0) LOOKASIDE_CHECK(Repeat(heads[0], run.between));
  }
  run.head_count = 0;
  return Repeat(heads[0], run.after) && Repeat(heads[1], run.after);
}

bool AccessPath::PlayHead(const TraceEvent& event) {
  const uint64_t address = event.address.value();
  const uint64_t page = address >> kPageShift;
  const auto kind = static_cast<unsigned>(event.kind);
  if ((address & kOffsetMask) + event.size <= kPageBytes &&
      (last_.page[kind] == page || HitsFirstLevel(event.kind, page))) {
    pending_ += uint64_t{1} << (kind * kPendingBits);
    return true;
  }
  return PlayMiss(event);
}

// The events of `counts` that are on the side of `head`, all on its page.
// Unless a fault's handler has changed the TLBs since, none of them has
// anything to look up. Takes from `counts` what is done.
bool AccessPath::Repeat(const TraceEvent& head,
                        std::array<uint16_t, 4>& counts) {
  const bool fetches = head.kind == EventKind::kFetch;
  for (unsigned kind = fetches ? 0 : 1; kind < (fetches ? 1 : 4); ++kind) {
    if (counts[kind] == 0) continue;
    if (last_.page[kind] != head.address.value() >> kPageShift) {
      TraceEvent event = head;
      event.kind = static_cast<EventKind>(kind);
      if (!PlayEvent(event)) return false;
      --counts[kind];
    }
    pending_ += uint64_t{counts[kind]} << (kind * kPendingBits);
    counts[kind] = 0;
  }
  return true;
}

inline void AccessPath::CountEvent(EventKind kind) {
  CpuCounters& counters = r_.cpu.counters();
  uint64_t steps = r_.pacing == Pacing::kAccesses ? Accesses(kind) : 0;
  switch (kind) {
    case EventKind::kFetch:
      ++counters.ifetches;
      ++counters.instructions;
      steps = 1;
      break;
    case EventKind::kLoad:
      ++counters.loads;
      break;
    case EventKind::kStore:
      ++counters.stores;
      break;
    case EventKind::kModify:
      ++counters.loads;
      ++counters.stores;
      break;
    case EventKind::kCall:
      break;  // none gets here
  }
  r_.cpu.Charge(CostKind::kBase, r_.costs.instruction * steps);
}

// Books the repeats that the hot loop only counted.
void AccessPath::Settle() {
  runs_pending_ = 0;
  if (pending_ == 0) return;
  constexpr uint64_t kMask = kMostPending;
  const uint64_t fetches = pending_ & kMask;
  const uint64_t loads = (pending_ >> kPendingBits) & kMask;
  const uint64_t stores = (pending_ >> (2 * kPendingBits)) & kMask;
  const uint64_t modifies = pending_ >> (3 * kPendingBits);
  pending_ = 0;
  const uint64_t data = loads + stores + 2 * modifies;
  CpuCounters& counters = r_.cpu.counters();
  counters.ifetches += fetches;
  counters.instructions += fetches;
  counters.loads += loads + modifies;
  counters.stores += stores + modifies;
  counters.translation.l1_hits += fetches + data;
  const std::array<uint8_t, 2>& arrays = last_.array;
  tlb_counters_[arrays[0]].hits += fetches;
  tlb_counters_[arrays[1]].hits += data;
  const Cycles latency(r_.core.tlb.latency(arrays[0]) * fetches +
                       r_.core.tlb.latency(arrays[1]) * data);
  r_.cpu.Charge(CostKind::kL1Tlb, latency);
  const uint64_t steps =
      r_.pacing == Pacing::kInstructions ? fetches : fetches + data;
  r_.cpu.Charge(CostKind::kBase, r_.costs.instruction * steps);
}

inline void AccessPath::Remember(AccessSide side, uint64_t page,
                                 const TlbHierarchy::Found& found) {
  last_.array[static_cast<size_t>(side)] = found.array;
  if (r_.core.tlb.has_unified_first_level()) last_.Clear();
  if ((found.flags & kTlbStale) != 0) [[unlikely]]
    return last_.Clear(side);
  RememberPage(side, page, found.flags);
}

inline WalkRequest AccessPath::RequestFor(VirtPage page,
                                          WalkAccess access) const {
  return {.root = r_.cpu.space().root,
          .levels = r_.levels,
          .tag = r_.cpu.tlb_context().tag,
          .page = page,
          .access = access,
          .source = r_.cpu.tree().value()};
}

inline void AccessPath::TakeWalker(Cycles duration) {
  const Cycles now = r_.cpu.clock();
  const Cycles start = r_.core.walkers.Acquire(now, duration);
  if (start != now) r_.cpu.Charge(CostKind::kWalkWait, start - now);
}

[[gnu::always_inline]] inline void AccessPath::RunWalker(VirtPage page,
                                                         WalkAccess access,
                                                         WalkResult& walk) {
  if (!IsCanonical(StartOf(page), r_.levels)) [[unlikely]] {
    walk.fault = WalkFault::kNonCanonical;
    return;
  }
  r_.walker.Walk(RequestFor(page, access), walk_resources_, walk);
  if (r_.costs.refill) [[unlikely]]
    walk.cycles = *r_.costs.refill;
  TakeWalker(walk.cycles);
}

inline void AccessPath::CountWalk(const WalkResult& walk) {
  TranslationCounters& counters = r_.cpu.counters().translation;
  ++counters.walks;
  counters.walk_loads += walk.loads;
  for (uint32_t i = 0; i < walk.loads; ++i) {
    const WalkLoad& load = walk.load[i];
    ++counters.walk_loads_by_level[static_cast<size_t>(load.level)];
    ++counters.walk_loads_by_place[static_cast<size_t>(load.place)];
  }
  if (walk.psc_hit != PagingLevel::kPte) {
    ++counters.psc_hits[static_cast<size_t>(walk.psc_hit)];
  }
}

inline void AccessPath::CountWalk(const PlainWalk& walk) {
  TranslationCounters& counters = r_.cpu.counters().translation;
  ++counters.walks;
  ++counters.walk_loads;
  ++counters.walk_loads_by_level[Index(PagingLevel::kPte)];
  ++counters.walk_loads_by_place[Index(walk.pte)];
  if (!walk.loaded_pde) {
    ++counters.psc_hits[Index(PagingLevel::kPde)];
    return;
  }
  ++counters.walk_loads;
  ++counters.walk_loads_by_level[Index(PagingLevel::kPde)];
  ++counters.walk_loads_by_place[Index(walk.pde)];
  ++counters.psc_hits[Index(PagingLevel::kPdpte)];
}

// `denied`: there is an entry, but it does not permit the access.
[[gnu::always_inline]] inline bool AccessPath::Walk(AccessSide side,
                                                    VirtPage page, bool write,
                                                    bool denied) {
  const WalkAccess access = UserAccess(side, write);
  WalkResult walk;
  RunWalker(page, access, walk);
  if (walk.fault != WalkFault::kNone) [[unlikely]] {
    const WalkResult faulted = walk;  // leaves `walk` in registers
    Raise(faulted, page, access);
    return false;
  }
  r_.cpu.Charge(CostKind::kWalk, walk.cycles);
  CountWalk(walk);
  TlbHierarchy& tlb = r_.core.tlb;
  const TlbContext& context = r_.cpu.tlb_context();
  if (r_.stale.size() != 0 && (walk.size != PageSize::k4K || tlb.had_large()))
      [[unlikely]] {
    const WalkResult other = walk;
    CheckSizes(EntryOf(page, other), page);
  }
  if (walk.size != PageSize::k4K || walk.global || denied || walk.stale ||
      !tlb.has_plain_fill(side)) [[unlikely]] {
    const WalkResult other = walk;
    Remember(side, StartOf(page).value() >> kPageShift,
             Fill(side, page, write, other, denied));
    return true;
  }
  Remember(
      side, StartOf(page).value() >> kPageShift,
      tlb.FillPlain(side, context, page,
                    {walk.frame, FlagsOf(walk), walk.source}, tlb_counters_));
  return true;
}

// One page of one access. `page` is the whole of the address above the page
// offset: the hot loop compares it so.
[[gnu::always_inline]] inline bool AccessPath::Translate(AccessSide side,
                                                         uint64_t page,
                                                         bool write) {
  const VirtPage virt_page(page & kVirtPageMask);
  const TlbContext& context = r_.cpu.tlb_context();
  TlbHierarchy& tlb = r_.core.tlb;
  TlbHierarchy::Found found =
      missed_page_ == page && tlb.first_holds_only_4k(side)
          ? tlb.LookupSecond(side, context, virt_page, tlb_counters_)
          : tlb.Lookup(side, context, virt_page, tlb_counters_);
  missed_page_ = LastPages::kNone;
  const bool denied =
      found.level != 0 && !Permits(found.flags, UserAccess(side, write));
  if (found.level == 0 || denied) return Walk(side, virt_page, write, denied);
  if ((found.flags & kTlbStale) != 0) [[unlikely]] {
    UseStale(virt_page, write, found);
  }
  TranslationCounters& counters = r_.cpu.counters().translation;
  if (found.level == 1) {
    r_.cpu.Charge(CostKind::kL1Tlb, Cycles(tlb.latency(found.array)));
  } else {
    r_.cpu.Charge(CostKind::kStlb, Cycles(tlb.latency(found.second_array)));
  }
  if (write && (found.flags & kTlbDirty) == 0) {
    if (!AssistDirty(virt_page)) return false;
    found.flags |= kTlbDirty;
  }
  ++(found.level == 1 ? counters.l1_hits : counters.stlb_hits);
  tlb.CountHit(side, virt_page, found, tlb_counters_);
  Remember(side, page, found);
  return true;
}

bool AccessPath::TranslatePart(AccessSide side, uint64_t page, bool write) {
  return Translate(side, page, write);
}

// An event that is no hit of HitsFirstLevel's.
inline bool AccessPath::PlayMiss(const TraceEvent& event) {
  const uint64_t page = event.address.value() >> kPageShift;
  const size_t side = event.kind == EventKind::kFetch ? 0 : 1;
  return (missed_page_ == page && plain_[side] && PlayPlainMiss(event)) ||
         PlayEvent(event);
}

// One page, just missed by HitsFirstLevel, and nothing out of the ordinary in
// what follows: all that a random access costs (BM_UniformRandom). If it is
// not so, nothing is done, and PlayEvent begins anew.
[[gnu::noinline]] bool AccessPath::PlayPlainMiss(const TraceEvent& event) {
  if (event.kind == EventKind::kModify) return false;
  const bool write = event.kind == EventKind::kStore;
  const AccessSide side =
      event.kind == EventKind::kFetch ? AccessSide::kInst : AccessSide::kData;
  const TlbHierarchy::PlainArrays& arrays = plain_[static_cast<size_t>(side)];
  const VirtPage virt_page = PageOf(event.address);
  const TlbContext& context = r_.cpu.tlb_context();
  TlbHierarchy::PlainPlaces places = missed_;
  if (!arrays.Misses(context, virt_page, places)) return false;
  // Whatever is in a paging-structure cache is canonical.
  PlainWalk walk;
  if (!r_.walker.WalkPlain(RequestFor(virt_page, UserAccess(side, write)),
                           walk_resources_, walk)) {
    return false;
  }
  missed_page_ = LastPages::kNone;
  if (pending_ != 0 || runs_pending_ != 0) Settle();
  TakeWalker(walk.cycles);
  r_.cpu.Charge(CostKind::kWalk, walk.cycles);
  CountWalk(walk);
  const Tlb::Filling filling{walk.frame, walk.flags, r_.cpu.tree().value()};
  Remember(side, StartOf(virt_page).value() >> kPageShift,
           arrays.Fill(context, places, filling));
  CountEvent(event.kind);
  return true;
}

// An event that has something to look up. Most touch one page once.
bool AccessPath::PlayEvent(const TraceEvent& event) {
  if (pending_ != 0 || runs_pending_ != 0) Settle();
  const uint64_t address = event.address.value();
  if ((address & kOffsetMask) + event.size > kPageBytes ||
      event.kind == EventKind::kModify || r_.cpu.translations_done() != 0)
      [[unlikely]] {
    return PlayParts(event);
  }
  const AccessSide side =
      event.kind == EventKind::kFetch ? AccessSide::kInst : AccessSide::kData;
  if (!Translate(side, address >> kPageShift,
                 event.kind == EventKind::kStore)) {
    return false;
  }
  CountEvent(event.kind);
  return true;
}

// An event page by page; a modify does all its loads, then all its stores.
bool AccessPath::PlayParts(const TraceEvent& event) {
  const uint64_t first = event.address.value() >> kPageShift;
  const uint64_t pages =
      (((event.address.value() & kOffsetMask) + event.size - 1) >> kPageShift) +
      1;
  const bool modify = event.kind == EventKind::kModify;
  const AccessSide side =
      event.kind == EventKind::kFetch ? AccessSide::kInst : AccessSide::kData;
  const uint64_t translations = modify ? 2 * pages : pages;
  for (uint64_t i = r_.cpu.translations_done(); i < translations; ++i) {
    const bool write =
        event.kind == EventKind::kStore || (modify && i >= pages);
    const uint64_t page = first + (i >= pages ? i - pages : i);
    if (!TranslatePart(side, page, write)) {
      r_.cpu.set_translations_done(static_cast<uint8_t>(i));
      return false;
    }
  }
  r_.cpu.set_translations_done(0);
  CountEvent(event.kind);
  return true;
}

TlbHierarchy::Found AccessPath::Fill(AccessSide side, VirtPage page, bool write,
                                     const WalkResult& walk, bool denied) {
  const TlbContext& context = r_.cpu.tlb_context();
  TlbHierarchy& tlb = r_.core.tlb;
  tlb.CountMiss(side, page, walk.size, tlb_counters_);
  if (denied) {
    tlb.DropPage(context, page, true, tlb_counters_);
    ++r_.checks.spurious;
  }
  const TlbEntry entry = EntryOf(page, walk);
  if (tlb.is_inclusive() || denied) last_.Clear();
  TlbHierarchy::Found found = tlb.Fill(side, page, entry, tlb_counters_);
  if (walk.stale) UseStale(page, write, found);
  return found;
}

TlbEntry AccessPath::EntryOf(VirtPage page, const WalkResult& walk) const {
  const TlbContext& context = r_.cpu.tlb_context();
  TlbEntry entry;
  entry.page = AlignDown(page, walk.size);
  entry.frame = walk.frame;
  entry.context = walk.global ? context.global : context.tag;
  entry.size = walk.size;
  entry.origin = walk.size;
  entry.flags = FlagsOf(walk);
  entry.thread = context.thread;
  entry.source = walk.source;
  return entry;
}

// `filled` joins what the core holds: does a marked entry of another size say
// otherwise? Every change of size marks, so that no other entry can.
void AccessPath::CheckSizes(const TlbEntry& filled, VirtPage page) {
  const TlbContext& context = r_.cpu.tlb_context();
  const unsigned order = PageOrder(filled.size);
  for (const Tlb& array : r_.core.tlb.arrays()) {
    array.ForEachWithin(filled.page, order, [&](uint32_t slot) {
      const TlbEntry held = array.EntryAt(slot);
      if ((held.flags & kTlbStale) == 0 || held.size == filled.size) return;
      if (held.context != context.tag && held.context != context.global) return;
      if (!Contradict(held, filled)) return;
      r_.stale.OnOverlap(
          {.cpu = r_.cpu.id(), .page = page, .now = r_.cpu.clock()},
          held.source, r_.checks);
    });
  }
}

// A marked entry serves an access: is it right after all, and if not, had its
// end been promised?
void AccessPath::UseStale(VirtPage page, bool write,
                          TlbHierarchy::Found& found) {
  Tlb& array = r_.core.tlb.array(found.array);
  const TlbEntry entry = array.EntryAt(found.slot);
  const PageTable table(r_.cpu.space().root, r_.levels);
  const std::optional<Translation> now = table.Lookup(r_.memory.tables, page);
  const StaleEntries::Use use{.cpu = r_.cpu.id(),
                              .page = page,
                              .write = write,
                              .now_right = now && GivesNoMore(entry, *now),
                              .now = r_.cpu.clock()};
  const std::optional<TreeId> tree =
      r_.stale.OnUse(use, entry.source, r_.checks);
  if (!tree) return;
  array.SetStale(found.slot, false, tree->value());
  found.flags = array.flags(found.slot);
}

bool AccessPath::AssistDirty(VirtPage page) {
  const WalkAccess access = UserAccess(AccessSide::kData, true);
  WalkResult walk;
  RunWalker(page, access, walk);
  if (walk.fault != WalkFault::kNone) {
    Raise(walk, page, access);
    return false;
  }
  TranslationCounters& counters = r_.cpu.counters().translation;
  ++counters.dirty_assists;
  counters.dirty_assist_loads += walk.loads;
  r_.cpu.Charge(CostKind::kDirtyAssist, walk.cycles + r_.costs.dirty_assist);
  r_.core.tlb.SetDirty(r_.cpu.tlb_context(), page);
  return true;
}

void AccessPath::Raise(const WalkResult& walk, VirtPage page,
                       WalkAccess access) {
  TranslationCounters& counters = r_.cpu.counters().translation;
  ++counters.page_faults;
  counters.fault_walk_loads += walk.loads;
  r_.cpu.Charge(CostKind::kFault, walk.cycles);
  const TlbContext& context = r_.cpu.tlb_context();
  r_.core.tlb.DropPage(context, page, true, tlb_counters_);
  r_.core.psc.InvalidateAddress(context.tag, page);
  last_.Clear();
  fault_ = Fault{StartOf(page), walk.fault, access};
}

void AccessPath::TouchAsSupervisor(VirtPage page) {
  constexpr AccessSide kSide = AccessSide::kData;
  TlbHierarchy& tlb = r_.core.tlb;
  last_.Clear();
  const TlbHierarchy::Found found =
      tlb.Lookup(kSide, r_.cpu.tlb_context(), page, tlb_counters_);
  TranslationCounters& counters = r_.cpu.counters().translation;
  if (found.level != 0) {
    const bool first = found.level == 1;
    r_.cpu.Charge(
        first ? CostKind::kL1Tlb : CostKind::kStlb,
        Cycles(tlb.latency(first ? found.array : found.second_array)));
    ++(first ? counters.l1_hits : counters.stlb_hits);
    tlb.CountHit(kSide, page, found, tlb_counters_);
    return;
  }
  WalkResult walk;
  RunWalker(page, WalkAccess{}, walk);
  LOOKASIDE_CHECK(walk.fault == WalkFault::kNone);
  r_.cpu.Charge(CostKind::kWalk, walk.cycles);
  CountWalk(walk);
  Fill(kSide, page, /*write=*/false, walk, /*denied=*/false);
}

}  // namespace lookaside
