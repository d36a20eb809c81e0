// SPDX-License-Identifier: Apache-2.0
#include "lookaside/machine/stale_entries.h"

#include <algorithm>
#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/pagetable/page_table.h"

namespace lookaside {
namespace {

// Levels of paging-structure entries that hold what was read at `level`.
constexpr PagingLevel kCachedLevels[] = {PagingLevel::kPde, PagingLevel::kPdpte,
                                         PagingLevel::kPml4e,
                                         PagingLevel::kPml5e};

}  // namespace

bool IsNarrowing(const EntryChange& change) {
  constexpr uint64_t kGiven =
      Pte::kPresent | Pte::kWritable | Pte::kUser | Pte::kDirty;
  const uint64_t old = change.old.bits();
  const uint64_t now = change.now.bits();
  if ((old & ~now & kGiven) != 0) return true;
  if ((now & ~old & Pte::kNoExecute) != 0) return true;
  constexpr uint64_t kPlace = Pte::kFrameMask | Pte::kPageSize |
                              Pte::kCacheDisable | Pte::kWriteThrough;
  return ((old ^ now) & kPlace) != 0;
}

void StaleEntries::AddHolder(TreeId tree, CoreId core) {
  std::vector<CoreId>& cores = holders_[tree];
  const auto place = std::lower_bound(cores.begin(), cores.end(), core);
  if (place == cores.end() || *place != core) cores.insert(place, core);
}

OperationId StaleEntries::Begin(std::string name) {
  const OperationId operation(++last_operation_);
  operations_.emplace(operation, std::move(name));
  writer_ = operation;
  return operation;
}

template <typename Visit>
void StaleEntries::ForEachCopy(ChangeNumber number, const Change& change,
                               Cores cores, Visit visit) const {
  const auto holders = holders_.find(change.entry.tree);
  if (holders == holders_.end()) return;
  const unsigned order = SpanOrder(change.entry.level);
  for (const CoreId id : holders->second) {
    Core& core = *cores[id.value()];
    for (uint8_t i = 0; i < core.tlb.arrays().size(); ++i) {
      const Tlb& array = core.tlb.arrays()[i];
      array.ForEachWithin(change.page, order, [&](uint32_t slot) {
        const TlbEntry entry = array.EntryAt(slot);
        if ((entry.flags & kTlbStale) != 0 && entry.source == number) {
          visit(id, entry.context);
        }
      });
    }
    for (const PagingLevel level : kCachedLevels) {
      if (level > change.entry.level) break;
      core.psc.ForEachWithin(
          change.page, order, level,
          [&](ContextTag tag, PscBits& bits, uint32_t& source) {
            if ((bits & kPscStale) != 0 && source == number) {
              visit(id, tag);
            }
          });
    }
  }
}

bool StaleEntries::HasCopy(ChangeNumber number, const Change& change,
                           Cores cores) const {
  bool found = false;
  ForEachCopy(number, change, cores, [&](CoreId, ContextTag) { found = true; });
  return found;
}

void StaleEntries::Mark(const EntryChange& entry, int levels, Cycles now,
                        Cores cores) {
  if (!IsNarrowing(entry)) return;
  const auto holders = holders_.find(entry.tree);
  if (holders == holders_.end()) return;
  const ChangeNumber number = last_change_ + 1;
  const VirtPage page = CanonicalPage(entry.first, levels);
  const unsigned order = SpanOrder(entry.level);
  const uint32_t tree = entry.tree.value();
  bool marked = false;
  for (const CoreId id : holders->second) {
    Core& core = *cores[id.value()];
    for (uint8_t i = 0; i < core.tlb.arrays().size(); ++i) {
      Tlb& array = core.tlb.array(i);
      array.ForEachWithin(page, order, [&](uint32_t slot) {
        if ((array.flags(slot) & kTlbStale) != 0) return;  // the first counts
        if (array.source(slot) != tree) return;
        array.SetStale(slot, true, number);
        marked = true;
      });
    }
    for (const PagingLevel level : kCachedLevels) {
      if (level > entry.level) break;
      core.psc.ForEachWithin(page, order, level,
                             [&](ContextTag, PscBits& bits, uint32_t& source) {
                               if ((bits & kPscStale) != 0 || source != tree) {
                                 return;
                               }
                               bits |= kPscStale;
                               source = number;
                               marked = true;
                             });
    }
    core.last_pages.Clear();
  }
  if (!marked) return;
  last_change_ = number;
  changes_.emplace(number, Change{entry, page, writer_, now});
  if (IsLeaf(entry.old, entry.level)) {
    by_frame_[entry.old.frame()].push_back(number);
  }
}

void StaleEntries::Forget(ChangeNumber number) {
  const auto change = changes_.find(number);
  const auto frame = by_frame_.find(change->second.entry.old.frame());
  if (frame != by_frame_.end()) {
    std::erase(frame->second, number);
    if (frame->second.empty()) by_frame_.erase(frame);
  }
  changes_.erase(change);
}

// All that some copy names, in order: for many changes far cheaper than to
// look for the copies of each.
std::vector<StaleEntries::ChangeNumber> StaleEntries::NamedChanges(
    Cores cores) const {
  std::vector<ChangeNumber> named;
  for (Lazy<Core>& lazy : cores) {
    if (!lazy.has_value()) continue;
    for (const Tlb& array : lazy->tlb.arrays()) {
      for (uint32_t slot = 0; slot < array.slots(); ++slot) {
        if ((array.flags(slot) & kTlbStale) != 0) {
          named.push_back(array.source(slot));
        }
      }
    }
    for (const PagingLevel level : kCachedLevels) {
      lazy->psc.ForEachWithin(VirtPage(0), kVirtPageBits, level,
                              [&](ContextTag, PscBits& bits, uint32_t& source) {
                                if ((bits & kPscStale) != 0) {
                                  named.push_back(source);
                                }
                              });
    }
  }
  std::ranges::sort(named);
  return named;
}

void StaleEntries::Promise(OperationId operation, bool relaxed, Cores cores) {
  // A search for the copies of one page looks at a set of each array, of a
  // larger span at every slot, which this many sets make up.
  constexpr size_t kAllSlots = 16;
  size_t searches = 0;
  for (const auto& [number, change] : changes_) {
    searches += change.entry.level == PagingLevel::kPte ? 1 : kAllSlots;
    if (searches > kAllSlots) break;
  }
  const bool few = searches <= kAllSlots;
  const std::vector<ChangeNumber> all =
      few ? std::vector<ChangeNumber>() : NamedChanges(cores);
  const auto is_named = [&](ChangeNumber number, const Change& change) {
    return few ? HasCopy(number, change, cores)
               : std::ranges::binary_search(all, number);
  };
  std::vector<ChangeNumber> gone;
  bool named = false;
  for (auto& [number, change] : changes_) {
    // What other operations left is looked at too, so that nothing is kept
    // that no copy names.
    if (change.operation == operation) {
      change.promised = true;
      change.relaxed = relaxed;
    }
    if (change.promised && !is_named(number, change)) {
      gone.push_back(number);
    } else if (change.operation == operation) {
      named = true;
    }
  }
  for (const ChangeNumber number : gone) Forget(number);
  if (!named) operations_.erase(operation);
  if (writer_ == operation) writer_ = OperationId();
}

CheckExample StaleEntries::Example(Check check, const Change& change, CpuId cpu,
                                   VirtPage page, Cycles now) const {
  const auto operation = operations_.find(change.operation);
  return {check, cpu, page, now > change.time ? now - change.time : Cycles(),
          operation == operations_.end() ? std::string("an operation")
                                         : operation->second};
}

std::optional<TreeId> StaleEntries::OnUse(const Use& use, uint32_t source,
                                          CheckCounters& counters) {
  const auto found = changes_.find(source);
  LOOKASIDE_CHECK(found != changes_.end());
  const Change& change = found->second;
  if (use.now_right) return change.entry.tree;
  Judge(use.write ? Check::kC6 : Check::kC1, change, use, counters);
  return std::nullopt;
}

void StaleEntries::OnOverlap(const Use& use, uint32_t source,
                             CheckCounters& counters) {
  const auto found = changes_.find(source);
  LOOKASIDE_CHECK(found != changes_.end());
  Judge(Check::kC11, found->second, use, counters);
}

void StaleEntries::Judge(Check check, const Change& change, const Use& use,
                         CheckCounters& counters) const {
  if (!change.promised) return;
  if (change.relaxed) {
    ++counters.exposed;
  } else {
    counters.Add(Example(check, change, use.cpu, use.page, use.now));
  }
}

void StaleEntries::OnFrameFree(FrameNumber frame, PageSize size, Cycles now,
                               Cores cores, UserOfTag user_of,
                               CheckCounters& counters) {
  const FrameNumber end(frame.value() + PagesIn(size));
  std::vector<ChangeNumber> numbers;
  for (auto i = by_frame_.lower_bound(frame);
       i != by_frame_.end() && i->first < end; ++i) {
    numbers.insert(numbers.end(), i->second.begin(), i->second.end());
  }
  for (const ChangeNumber number : numbers) {
    const Change& change = changes_.at(number);
    std::optional<CpuId> user;
    ForEachCopy(number, change, cores, [&](CoreId core, ContextTag tag) {
      if (const std::optional<CpuId> cpu = user_of(core, tag)) {
        user = cpu;
      } else {
        ++counters.dormant;
      }
    });
    if (user) {
      counters.Add(Example(Check::kC2, change, *user, change.page, now));
    }
  }
}

void StaleEntries::OnTableFree(FrameNumber table, TreeId tree, Cycles now,
                               Cores cores, UserOfTag user_of,
                               CheckCounters& counters) {
  const auto holders = holders_.find(tree);
  if (holders == holders_.end()) return;
  for (const CoreId id : holders->second) {
    for (const PagingLevel level : kCachedLevels) {
      cores[id.value()]->psc.ForEachWithin(
          VirtPage(0), kVirtPageBits, level,
          [&](ContextTag tag, PscBits& bits, uint32_t& source) {
            if (EntryOf(bits).table != table) return;
            const std::optional<CpuId> cpu = user_of(id, tag);
            if (!cpu) {
              ++counters.dormant;
              return;
            }
            const auto change = (bits & kPscStale) != 0 ? changes_.find(source)
                                                        : changes_.end();
            if (change == changes_.end()) {
              counters.Add({Check::kC3, *cpu, VirtPage(0), Cycles(),
                            "a table that is still hooked in"});
            } else {
              counters.Add(Example(Check::kC3, change->second, *cpu,
                                   change->second.page, now));
            }
          });
    }
  }
}

void StaleEntries::OnActivation(const Activation& activation, bool same_tree,
                                Cores cores, CheckCounters& counters) const {
  if (same_tree && changes_.empty()) return;
  const Core& core = *cores[activation.core.value()];
  for (const Tlb& array : core.tlb.arrays()) {
    for (uint32_t slot = 0; slot < array.slots(); ++slot) {
      const TlbEntry entry = array.EntryAt(slot);
      if (entry.context != activation.tag) continue;
      if ((entry.flags & kTlbStale) == 0) {
        if (entry.source == activation.tree.value()) continue;
        counters.Add({Check::kC4, activation.cpu, entry.page, Cycles(),
                      "a tree that had the same PCID"});
        return;
      }
      const Change& change = changes_.at(entry.source);
      if (!change.promised || change.relaxed) continue;
      counters.Add(Example(Check::kC4, change, activation.cpu, entry.page,
                           activation.now));
      return;
    }
  }
}

void StaleEntries::AddTo(Digest& digest) const {
  digest.Add(changes_.size());
  for (const auto& [number, change] : changes_) {
    digest.Add(change.page);
    digest.Add(change.entry.level);
    digest.Add(change.entry.old.bits());
    digest.Add(change.promised);
    digest.Add(change.relaxed);
  }
}

}  // namespace lookaside
