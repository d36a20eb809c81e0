// SPDX-License-Identifier: Apache-2.0
#include "lookaside/pagetable/page_walker.h"

#include "lookaside/base/check.h"

namespace lookaside {
namespace {

// The entries a walk loaded, by level; permissions of all levels down to each.
struct WalkPath {
  PagingLevel top;   // of the first load
  PagingLevel leaf;  // of the last load
  std::array<Pte, kPagingLevels> ptes;
  std::array<PhysAddr, kPagingLevels> addresses;
  std::array<PagePermissions, kPagingLevels> permissions;
};

bool Allows(PagePermissions permissions, WalkAccess access) {
  return (permissions.writable || !access.write) &&
         (permissions.user || !access.user) &&
         !(permissions.nx && access.fetch);
}

// Loads entries from `table` down to the leaf or to one that is not present;
// whether the leaf was reached.
bool LoadPath(FrameNumber table, PagePermissions permissions, VirtPage page,
              const WalkResources& resources, WalkPath& path,
              WalkResult& result) {
  for (PagingLevel level = path.top;; level = Below(level)) {
    const size_t i = Index(level);
    const PhysAddr address = EntryAddress(table, EntryIndex(page, level));
    const LinePlace place = LoadLine(address, resources);
    ++result.loads;
    ++result.loads_by_level[i];
    ++result.loads_by_place[Index(place)];
    const Pte pte = resources.tables.Read(address);
    if (!pte.present()) return false;
    permissions = Combine(permissions, pte.permissions());
    path.leaf = level;
    path.ptes[i] = pte;
    path.addresses[i] = address;
    path.permissions[i] = permissions;
    if (level == PagingLevel::kPte || pte.page_size()) return true;
    table = pte.frame();
  }
}

// Sets accessed and dirty where they are clear and fills the paging-structure
// caches.
void Commit(const WalkRequest& request, const WalkResources& resources,
            WalkPath& path, WalkResult& result) {
  for (PagingLevel level = path.top;; level = Below(level)) {
    const size_t i = Index(level);
    const bool is_leaf = level == path.leaf;
    Pte& pte = path.ptes[i];
    const Pte before = pte;
    if (!pte.accessed()) {
      pte = pte.WithAccessed(true);
      ++result.set_accessed;
    }
    if (is_leaf && request.access.write && !pte.dirty()) {
      pte = pte.WithDirty(true);
      result.set_dirty = true;
    }
    if (pte != before) resources.tables.Write(path.addresses[i], pte);
    if (is_leaf) return;
    const PagePermissions& p = path.permissions[i];
    resources.psc.Fill(request.tag, request.page, level,
                       {pte.frame(), p.writable, p.user, p.nx});
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
  FrameNumber table = request.root;
  PagePermissions permissions{.writable = true, .user = true, .nx = false};
  const PscHit hit = resources.psc.Find(request.tag, request.page);
  if (hit.level != PagingLevel::kPte) {
    result.psc_hit = hit.level;
    path.top = Below(hit.level);
    table = hit.entry.table;
    permissions = {hit.entry.writable, hit.entry.user, hit.entry.nx};
  }

  const bool present =
      LoadPath(table, permissions, request.page, resources, path, result);
  uint64_t cycles = base_.value();
  for (size_t place = 0; place < kLinePlaces; ++place) {
    cycles += latency_[static_cast<LinePlace>(place)].value() *
              result.loads_by_place[place];
  }
  result.cycles = Cycles(overlap_.Without(cycles));
  if (!present) {
    result.fault = WalkFault::kNotPresent;
    return result;
  }
  const size_t leaf = Index(path.leaf);
  if (!Allows(path.permissions[leaf], request.access)) {
    result.fault = WalkFault::kProtection;
    return result;
  }
  Commit(request, resources, path, result);
  result.size = static_cast<PageSize>(path.leaf);
  result.dirty = path.ptes[leaf].dirty();
  result.global = path.ptes[leaf].global();
  result.permissions = path.permissions[leaf];
  result.frame = path.ptes[leaf].frame();
  return result;
}

}  // namespace lookaside
