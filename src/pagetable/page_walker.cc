// SPDX-License-Identifier: Apache-2.0
#include "lookaside/pagetable/page_walker.h"

#include "lookaside/base/check.h"

namespace lookaside {
namespace {

// What the levels so far allow: R/W, U/S and, inverted, XD, so that levels
// combine by "and".
constexpr uint64_t kRights = Pte::kWritable | Pte::kUser | Pte::kNoExecute;

uint64_t RightsOf(Pte pte) { return (pte.bits() ^ Pte::kNoExecute) & kRights; }

uint64_t RightsOf(const PscEntry& entry) {
  return (entry.writable ? Pte::kWritable : 0) | (entry.user ? Pte::kUser : 0) |
         (entry.nx ? 0 : Pte::kNoExecute);
}

uint64_t RightsNeeded(WalkAccess access) {
  return (access.write ? Pte::kWritable : 0) | (access.user ? Pte::kUser : 0) |
         (access.fetch ? Pte::kNoExecute : 0);
}

PagePermissions PermissionsOf(uint64_t rights) {
  return {(rights & Pte::kWritable) != 0, (rights & Pte::kUser) != 0,
          (rights & Pte::kNoExecute) == 0};
}

// The walk so far. The arrays hold something only for the levels loaded.
struct WalkPath {
  PagingLevel top;   // of the first load
  PagingLevel leaf;  // of the last load
  uint64_t rights;   // of all levels so far
  uint64_t cycles = 0;
  const Pte* entries;  // of the table loaded from last
  struct Step {
    uint64_t entry;   // address
    uint64_t bits;    // what it held
    uint64_t rights;  // down to it
  };
  std::array<Step, kPagingLevels> steps;
};

// Loads entries from `table` down to the leaf or to one that is not present;
// whether the leaf was reached.
bool LoadPath(FrameNumber table, VirtPage page, const LoadLatency& latency,
              const WalkResources& resources, WalkPath& path,
              WalkResult& result) {
  for (PagingLevel level = path.top;; level = Below(level)) {
    const unsigned index = EntryIndex(page, level);
    const PhysAddr entry = EntryAddress(table, index);
    // Before its line is looked up: the host fetches one while it searches the
    // other.
    path.entries = resources.tables.EntriesOf(table);
    const Pte pte = path.entries[index];
    const LinePlace place = LoadLine(entry, resources);
    path.cycles += latency[place].value();
    result.load[result.loads++] = {level, place};
    if (!pte.present()) return false;
    path.leaf = level;
    path.rights &= RightsOf(pte);
    path.steps[Index(level)] = {entry.value(), pte.bits(), path.rights};
    if (level == PagingLevel::kPte || pte.page_size()) return true;
    table = pte.frame();
  }
}

// Sets accessed and dirty where they are clear and fills the paging-structure
// caches.
void Commit(const WalkRequest& request, const WalkResources& resources,
            WalkPath& path, WalkResult& result) {
  for (PagingLevel level = path.top;; level = Below(level)) {
    WalkPath::Step& step = path.steps[Index(level)];
    const bool is_leaf = level == path.leaf;
    uint64_t wanted = step.bits | Pte::kAccessed;
    if (is_leaf && request.access.write) wanted |= Pte::kDirty;
    if (wanted != step.bits) {
      const uint64_t set = wanted ^ step.bits;
      if ((set & Pte::kAccessed) != 0) ++result.set_accessed;
      result.set_dirty = (set & Pte::kDirty) != 0;
      step.bits = wanted;
      resources.tables.Write(PhysAddr(step.entry), Pte(wanted));
    }
    if (is_leaf) return;
    const PagePermissions p = PermissionsOf(step.rights);
    resources.psc.FillAbsent(request.tag, request.page, level,
                             {Pte(step.bits).frame(), p.writable, p.user, p.nx,
                              result.stale, result.source});
  }
}

}  // namespace

LoadLatency::LoadLatency(const WalkConfig& config, uint64_t mhz)
    : by_place_{Cycles(config.l1.cycles), Cycles(config.l2.cycles),
                Cycles(config.l3.cycles),
                CyclesFromNs(config.local_memory_ns, mhz),
                CyclesFromNs(config.remote_memory_ns, mhz)} {}

WalkResult PageWalker::Walk(const WalkRequest& request,
                            const WalkResources& resources) const {
  LOOKASIDE_DCHECK(request.levels == 4 || request.levels == 5);
  WalkResult result;
  WalkPath path;
  path.top = static_cast<PagingLevel>(request.levels - 1);
  path.rights = kRights;
  FrameNumber table = request.root;
  result.source = request.source;
  const PscHit hit = resources.psc.Find(request.tag, request.page);
  if (hit.level != PagingLevel::kPte) {
    result.psc_hit = hit.level;
    path.top = Below(hit.level);
    path.rights = RightsOf(hit.entry);
    table = hit.entry.table;
    result.stale = hit.entry.stale;
    result.source = hit.entry.source;
  }

  const bool present =
      LoadPath(table, request.page, latency_, resources, path, result);
  result.cycles = Cycles(overlap_.Without(base_.value() + path.cycles));
  const uint64_t needed = RightsNeeded(request.access);
  if (!present || (path.rights & needed) != needed) {
    result.fault = present ? WalkFault::kProtection : WalkFault::kNotPresent;
    return result;
  }
  Commit(request, resources, path, result);
  if (resources.prefetch != nullptr) {
    resources.prefetch->Remember(request.page.value(), path.entries);
  }
  const Pte leaf(path.steps[Index(path.leaf)].bits);
  result.size = static_cast<PageSize>(path.leaf);
  result.dirty = leaf.dirty();
  result.global = leaf.global();
  result.permissions = PermissionsOf(path.rights);
  result.frame = leaf.frame();
  return result;
}

}  // namespace lookaside
