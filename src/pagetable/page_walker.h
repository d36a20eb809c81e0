// SPDX-License-Identifier: Apache-2.0
//
// The hardware page walker: translates a page that no TLB holds by loading
// paging-structure entries from the tree (Intel SDM volume 3, 4.5 for the
// walk, 4.6 for access rights, 4.8 for accessed and dirty, 4.10.3 for the
// paging-structure caches).
//
// A walk begins at the table that the deepest paging-structure cache entry
// points to, else at the root. Each load is charged by where its line is
// (page_table_lines.h). A walk that ends well sets accessed on every entry it
// loaded and, for a store, dirty on the leaf, each only where clear, and
// enters the table entries it loaded into the paging-structure caches. A walk
// that ends in a fault changes no entry and no paging-structure cache; the
// lines it loaded stay. Dropping the address's cached entries then is part of
// delivering the fault (PagingStructureCaches::InvalidateAddress), and the
// caller's.
//
// A store that hits a clean TLB entry walks again, as a store, to set dirty:
// the dirty assist is this same Walk, which the caller counts and charges
// apart.
//
// cycles = base_cycles + the sum of the loads' latencies, less the fraction
// `walk.overlap` of it, rounded up.
//
// Rights as with CR0.WP and EFER.NXE set. Left out: SMEP, SMAP and protection
// keys; reserved bits; what setting accessed or dirty costs beyond the walk;
// speculative and prefetching walks.
//
// Thread-compatible. Walk changes only what WalkResources refers to; the
// PageWalker itself is constant and may serve every core.
//
//   PageWalker walker(config.walk, config.machine.mhz);
//   WalkResult result = walker.Walk(
//       {.root = root, .levels = 4, .tag = tag, .page = page,
//        .access = {.write = true, .user = true}},
//       {core.psc, core.lines, socket.l3, memory.tables, memory.frames, node});
//   if (result.fault == WalkFault::kNone) tlb.Fill(...);
#ifndef LOOKASIDE_PAGETABLE_PAGE_WALKER_H_
#define LOOKASIDE_PAGETABLE_PAGE_WALKER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lookaside/base/address.h"
#include "lookaside/base/check.h"
#include "lookaside/base/cycles.h"
#include "lookaside/base/ids.h"
#include "lookaside/base/permille.h"
#include "lookaside/pagetable/frame_allocator.h"
#include "lookaside/pagetable/page_table_lines.h"
#include "lookaside/pagetable/pte.h"
#include "lookaside/pagetable/pte_prefetch.h"
#include "lookaside/pagetable/table_memory.h"
#include "lookaside/pagetable/walk_config.h"
#include "lookaside/tlb/context_table.h"
#include "lookaside/tlb/paging_structure_caches.h"
#include "lookaside/tlb/tlb_entry.h"

namespace lookaside {

// What a load costs by the place of its line, in cycles of the core's clock.
class LoadLatency {
 public:
  LoadLatency(const WalkConfig& config, uint64_t mhz);

  Cycles operator[](LinePlace place) const { return by_place_[Index(place)]; }

 private:
  std::array<Cycles, kLinePlaces> by_place_;
};

// How the page is to be used. A fetch is no write.
struct WalkAccess {
  bool write = false;
  bool user = false;
  bool fetch = false;
};

struct WalkRequest {
  FrameNumber root;
  int levels = 4;  // 4 or 5
  ContextTag tag;  // of the paging-structure cache entries
  VirtPage page;
  WalkAccess access;
  uint32_t source = 0;  // the tree, as TreeId: TlbEntry::source
};

// What a walk uses: of its core, of its socket, and of the machine.
struct WalkResources {
  PagingStructureCaches& psc;
  CoreLineCaches& lines;
  PageTableLineCache& l3;
  TableMemory& tables;
  const FrameAllocator& frames;
  NodeId node;                      // of the walking CPU
  PtePrefetch* prefetch = nullptr;  // told of every walk that ends well
};

enum class WalkFault : uint8_t {
  kNone,
  kNotPresent,  // page-fault error code P = 0
  kProtection,  // P = 1
  // No page fault but #GP: the address is not canonical. The walker never
  // says so; its caller must not ask it for such a page.
  kNonCanonical,
};

constexpr std::string_view Name(WalkFault fault) {
  constexpr std::string_view kNames[] = {"none", "not_present", "protection",
                                         "non_canonical"};
  return kNames[static_cast<int>(fault)];
}

// One load of a walk: the level of the entry, and where its line was.
struct WalkLoad {
  PagingLevel level = PagingLevel::kPte;
  LinePlace place = LinePlace::kL1;

  friend bool operator==(const WalkLoad&, const WalkLoad&) = default;
};

struct WalkResult {
  WalkFault fault = WalkFault::kNone;
  // The level of the paging-structure cache entry it began from; kPte: none,
  // it began at the root.
  PagingLevel psc_hit = PagingLevel::kPte;

  // Of a walk without fault:
  PageSize size = PageSize::k4K;
  bool dirty = false;  // after the walk
  bool global = false;
  bool set_dirty = false;       // the walk set it
  uint8_t set_accessed = 0;     // entries in which the walk set accessed
  PagePermissions permissions;  // of all levels combined
  FrameNumber frame;            // of the first 4 KiB of the page

  // As kTlbStale and TlbEntry::source: a walk that began at a stale
  // paging-structure entry found what is stale too.
  bool stale = false;
  uint32_t source = 0;

  // Of any walk:
  uint8_t loads = 0;
  std::array<WalkLoad, kPagingLevels> load{};  // the first `loads`, in order
  Cycles cycles;

  int LoadsAt(PagingLevel level) const {
    int n = 0;
    for (uint8_t i = 0; i < loads; ++i) n += load[i].level == level;
    return n;
  }
  int LoadsFrom(LinePlace place) const {
    int n = 0;
    for (uint8_t i = 0; i < loads; ++i) n += load[i].place == place;
    return n;
  }

  friend bool operator==(const WalkResult&, const WalkResult&) = default;
};

// What is to be said of a plain walk: WalkPlain.
struct PlainWalk {
  LinePlace pde = LinePlace::kL1;  // where its line was, if it was loaded
  LinePlace pte = LinePlace::kL1;
  bool loaded_pde = false;  // began at a PDPTE's cached entry, else at a PDE's
  uint8_t flags = 0;        // TlbFlag
  FrameNumber frame;
  Cycles cycles;
};

// Loads the line of `address` through the caches of core and socket, which
// all hold it afterwards, and says where it was.
[[gnu::always_inline]] inline LinePlace LoadLine(
    PhysAddr address, const WalkResources& resources) {
  const LineKey line(address);
  if (resources.lines.l1.Load(line)) return LinePlace::kL1;
  if (resources.lines.l2.Load(line)) return LinePlace::kL2;
  if (resources.l3.Load(line)) return LinePlace::kL3;
  const FrameNumber frame(address.value() >> kPageShift);
  return resources.frames.OnSocketOf(frame, resources.node)
             ? LinePlace::kLocalMemory
             : LinePlace::kRemoteMemory;
}

class PageWalker {
 public:
  // REQUIRES: Validate(config) is ok.
  PageWalker(const WalkConfig& config, uint64_t mhz)
      : base_(config.base_cycles),
        overlap_(config.overlap),
        latency_(config, mhz) {}

  // REQUIRES: request.levels is 4 or 5; request.root is a table.
  WalkResult Walk(const WalkRequest& request,
                  const WalkResources& resources) const {
    WalkResult result;
    Walk(request, resources, result);
    return result;
  }
  // The same, to a result that is new. Inlined, so that the result stays in
  // registers (BM_UniformRandom).
  void Walk(const WalkRequest& request, const WalkResources& resources,
            WalkResult& result) const;

  // Walk for the user, where it has nothing to do but what most walks of a busy
  // machine do (BM_UniformRandom): it begins at a paging-structure cache entry
  // of a PDPTE or PDE that is not stale, ends well at a 4 KiB page that is not
  // global, and has no accessed or dirty bit to set. False if it is not so;
  // then nothing has changed but what Walk, which the caller is to call
  // instead, changes first: the recency of that entry.
  bool WalkPlain(const WalkRequest& request, const WalkResources& resources,
                 PlainWalk& walk) const;

  const LoadLatency& latency() const { return latency_; }

 private:
  // What the levels so far allow: R/W, U/S and, inverted, XD, so that levels
  // combine by "and".
  static constexpr uint64_t kRights =
      Pte::kWritable | Pte::kUser | Pte::kNoExecute;

  static constexpr uint64_t kAllow = Pte::kWritable | Pte::kUser;
  // Bits of a loaded entry that its cached one has not: it is cached only where
  // they are as they should be.
  static constexpr uint64_t kNotCached =
      Pte::kPresent | Pte::kAccessed | Pte::kDirty;

  // TlbFlag of a plain walk, by shifts: `dirty` of `all` is the leaf's.
  static uint8_t PlainFlags(uint64_t all, uint64_t any) {
    static_assert(Pte::kWritable >> 1 == kTlbWritable &&
                  Pte::kUser >> 1 == kTlbUser &&
                  Pte::kDirty >> 3 == kTlbDirty &&
                  Pte::kNoExecute >> 61 == kTlbNoExecute);
    return static_cast<uint8_t>((all >> 1 & (kTlbWritable | kTlbUser)) |
                                (all >> 3 & kTlbDirty) |
                                (any >> 61 & kTlbNoExecute));
  }
  static uint64_t RightsOf(Pte pte) {
    return (pte.bits() ^ Pte::kNoExecute) & kRights;
  }
  static uint64_t RightsNeeded(WalkAccess access) {
    return (access.write ? Pte::kWritable : 0) |
           (access.user ? Pte::kUser : 0) |
           (access.fetch ? Pte::kNoExecute : 0);
  }
  static PagePermissions PermissionsOf(uint64_t rights) {
    return {(rights & Pte::kWritable) != 0, (rights & Pte::kUser) != 0,
            (rights & Pte::kNoExecute) == 0};
  }

  // An entry loaded, by level.
  struct Step {
    uint64_t entry;   // address
    uint64_t bits;    // what it held
    uint64_t rights;  // down to it
  };
  using Steps = std::array<Step, kPagingLevels>;

  struct BitsSet {
    uint8_t accessed = 0;  // entries
    bool dirty = false;
  };
  static BitsSet SetBits(const Steps& steps, PagingLevel top, PagingLevel leaf,
                         bool write, TableMemory& tables);

  Cycles base_;
  Permille overlap_;
  LoadLatency latency_;
};

// ---------------------------------------------------------------------------
// Implementation, inlined into the path of a miss: BM_UniformRandom.

// Both entries are read and judged before anything is changed.
[[gnu::always_inline]] inline bool PageWalker::WalkPlain(
    const WalkRequest& request, const WalkResources& resources,
    PlainWalk& walk) const {
  PagingStructureCaches& psc = resources.psc;
  const VirtPage page = request.page;
  const WalkAccess access = request.access;
  LOOKASIDE_DCHECK(access.user);
  PscBits cached = 0;
  if (!psc.FindAt(request.tag, page, PagingLevel::kPde, cached)) {
    if (!psc.FindAt(request.tag, page, PagingLevel::kPdpte, cached)) {
      return false;
    }
    walk.loaded_pde = true;
  }

  uint64_t all = cached | kNotCached;  // bits that every entry has
  uint64_t any = cached;               // bits that some entry has
  FrameNumber table = Pte(cached).frame();
  const PhysAddr pde_at =
      EntryAddress(table, EntryIndex(page, PagingLevel::kPde));
  PscBits pde = cached;  // what a PDE's cached entry is to say
  if (walk.loaded_pde) {
    const Pte entry = resources.tables.Read(pde_at);
    all &= entry.bits() | Pte::kDirty;
    any |= entry.bits();
    table = entry.frame();
    pde = (entry.bits() & Pte::kFrameMask) | (all & kAllow) |
          (any & Pte::kNoExecute);
  }
  const unsigned index = EntryIndex(page, PagingLevel::kPte);
  const Pte* const entries = resources.tables.EntriesOf(table);
  const Pte pte = entries[index];
  all &= pte.bits();
  any |= pte.bits();
  const uint64_t needed = Pte::kPresent | Pte::kAccessed | Pte::kUser |
                          (access.write ? Pte::kWritable | Pte::kDirty : 0);
  const uint64_t forbidden = Pte::kPageSize | Pte::kGlobal | kPscStale |
                             (access.fetch ? Pte::kNoExecute : 0);
  if ((all & needed) != needed || (any & forbidden) != 0) return false;

  uint64_t cycles = base_.value();
  if (walk.loaded_pde) {
    walk.pde = LoadLine(pde_at, resources);
    cycles += latency_[walk.pde].value();
    psc.FillAbsent(request.tag, page, PagingLevel::kPde, pde, request.source);
  }
  walk.pte = LoadLine(EntryAddress(table, index), resources);
  cycles += latency_[walk.pte].value();
  walk.cycles = Cycles(overlap_.Without(cycles));
  if (resources.prefetch != nullptr) {
    resources.prefetch->Remember(page.value(), entries);
  }
  walk.flags = PlainFlags(all, any);
  walk.frame = pte.frame();
  return true;
}

[[gnu::always_inline]] inline void PageWalker::Walk(
    const WalkRequest& request, const WalkResources& resources,
    WalkResult& result) const {
  LOOKASIDE_DCHECK(request.levels == 4 || request.levels == 5);
  auto top = static_cast<PagingLevel>(request.levels - 1);
  uint64_t rights = kRights;
  FrameNumber table = request.root;
  PscBits cached = 0;
  result.psc_hit = resources.psc.FindBits(request.tag, request.page, cached);
  if (result.psc_hit != PagingLevel::kPte) {
    top = Below(result.psc_hit);
    rights = RightsOf(Pte(cached));
    table = Pte(cached).frame();
  }
  const PscBits stale = cached & kPscStale;
  uint32_t source = request.source;
  if (stale != 0) [[unlikely]] {
    source = resources.psc.SourceAt(request.tag, request.page, result.psc_hit);
    result.stale = true;
  }
  result.source = source;

  // Down to the leaf or to an entry that is not present.
  Steps steps;
  uint64_t cycles = base_.value();
  uint64_t in_all = ~uint64_t{0};  // bits that every entry has
  PagingLevel level = top;
  const Pte* entries;
  Pte pte;
  for (;; level = Below(level)) {
    const unsigned index = EntryIndex(request.page, level);
    const PhysAddr entry = EntryAddress(table, index);
    // Before its line is looked up: the host fetches one while it searches the
    // other.
    entries = resources.tables.EntriesOf(table);
    pte = entries[index];
    const LinePlace place = LoadLine(entry, resources);
    cycles += latency_[place].value();
    result.load[result.loads++] = {level, place};
    in_all &= pte.bits();
    rights &= RightsOf(pte);
    steps[Index(level)] = {entry.value(), pte.bits(), rights};
    if (!pte.present() || level == PagingLevel::kPte || pte.page_size()) break;
    table = pte.frame();
  }

  result.cycles = Cycles(overlap_.Without(cycles));
  const uint64_t needed = RightsNeeded(request.access);
  if (!pte.present() || (rights & needed) != needed) [[unlikely]] {
    result.fault =
        pte.present() ? WalkFault::kProtection : WalkFault::kNotPresent;
    return;
  }
  if ((in_all & Pte::kAccessed) == 0 || (request.access.write && !pte.dirty()))
      [[unlikely]] {
    const BitsSet set =
        SetBits(steps, top, level, request.access.write, resources.tables);
    result.set_accessed = set.accessed;
    result.set_dirty = set.dirty;
    pte = pte.WithAccessed(true).WithDirty(pte.dirty() || request.access.write);
  }
  for (PagingLevel above = top; above != level; above = Below(above)) {
    const Step& step = steps[Index(above)];
    resources.psc.FillAbsent(
        request.tag, request.page, above,
        (step.bits & Pte::kFrameMask) | (step.rights ^ Pte::kNoExecute) | stale,
        source);
  }
  if (resources.prefetch != nullptr) {
    resources.prefetch->Remember(request.page.value(), entries);
  }
  result.size = static_cast<PageSize>(level);
  result.dirty = pte.dirty();
  result.global = pte.global();
  result.permissions = PermissionsOf(rights);
  result.frame = pte.frame();
}

}  // namespace lookaside

#endif  // LOOKASIDE_PAGETABLE_PAGE_WALKER_H_
