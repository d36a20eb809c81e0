// SPDX-License-Identifier: Apache-2.0
//
// Cached translations that the page table has gone away from.
//
// A write that narrows a present entry (takes a page or a right away, leads
// elsewhere, clears dirty) marks every copy of it, in TLBs and
// paging-structure caches, of the cores that ever loaded its tree. A marked
// copy names the change, so that copies of a copy do too. An access that hits
// a marked copy goes the slow way: if the tree says the same after all (a
// page went read-only and back), the mark is taken off; else the use is
// judged by what had been promised. Accesses that hit no marked copy cost
// nothing more, and checking is always on.
//
// A change belongs to an operation (munmap, mprotect, reclaim); the operation
// makes its promise when it returns to its caller. A use before that is what
// every kernel allows. Changes outside any operation are never promised.
//
// Left out: entries that deny what the tree has come to allow are not marked;
// hardware walks again where an entry denies, and that is counted `spurious`.
// Speculative uses: the result is a lower bound.
//
// Invariants: a change is kept as long as a copy names it, or its operation
// runs. A value: copies share nothing.
#ifndef LOOKASIDE_MACHINE_STALE_ENTRIES_H_
#define LOOKASIDE_MACHINE_STALE_ENTRIES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "lookaside/base/address.h"
#include "lookaside/base/cycles.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/ids.h"
#include "lookaside/base/lazy.h"
#include "lookaside/machine/check_counters.h"
#include "lookaside/machine/core.h"
#include "lookaside/pagetable/table_memory.h"
#include "lookaside/tlb/context_table.h"
#include "lookaside/tlb/tlb_hierarchy.h"

namespace lookaside {

struct OperationIdTag;
// An operation of some kernel, numbered from 1; 0 is none.
using OperationId = TypedInt<OperationIdTag, uint32_t>;

// Whether a change takes away what a copy of the old entry still gives.
bool IsNarrowing(const EntryChange& change);

// The hardware thread that can use what is tagged so on that core without a
// flush in between; none if nobody can.
using UserOfTag = absl::FunctionRef<std::optional<CpuId>(CoreId, ContextTag)>;

class StaleEntries {
 public:
  // The cores of the machine, some of them not made yet.
  using Cores = std::span<Lazy<Core>>;

  // The core has loaded the tree.
  void AddHolder(TreeId tree, CoreId core);

  // The operation that later changes belong to, by name, until its promise or
  // the next Begin or Continue.
  OperationId Begin(std::string name);
  // One that has begun and has promised nothing yet; 0: none.
  void Continue(OperationId operation) { writer_ = operation; }

  OperationId writer() const { return writer_; }

  // Marks the copies of what changed. `levels`: of the tree.
  void Mark(const EntryChange& change, int levels, Cycles now, Cores cores);

  // The operation has returned: what it took away may no longer be used.
  // `relaxed`: it declared that copies live on for a while; uses are exposed
  // until it is called again without.
  void Promise(OperationId operation, bool relaxed, Cores cores);

  // An access uses a marked entry whose `source` is given. `now_right`: the
  // tree gives the same translation after all; then the mark is to be taken
  // off, and the entry comes from the tree returned.
  struct Use {
    CpuId cpu;
    VirtPage page;
    bool write = false;
    bool now_right = false;
    Cycles now;
  };
  std::optional<TreeId> OnUse(const Use& use, uint32_t source,
                              CheckCounters& counters);

  // An entry joins the marked one of another size whose `source` is given, and
  // translates `use.page` or a page beside it differently.
  void OnOverlap(const Use& use, uint32_t source, CheckCounters& counters);

  // Frames that leaves mapped go back to the allocator: `frame` and those that
  // follow in a page of `size`, some of which may have had leaves of their own.
  void OnFrameFree(FrameNumber frame, PageSize size, Cycles now, Cores cores,
                   UserOfTag user_of, CheckCounters& counters);

  // A table goes back to the allocator that `tree` had.
  void OnTableFree(FrameNumber table, TreeId tree, Cycles now, Cores cores,
                   UserOfTag user_of, CheckCounters& counters);

  // A hardware thread of `core` loads `tree` under `tag` without a flush.
  struct Activation {
    CpuId cpu;
    CoreId core;
    ContextTag tag;
    TreeId tree;
    Cycles now;
  };
  void OnActivation(const Activation& activation, bool same_tree, Cores cores,
                    CheckCounters& counters) const;

  // Changes that some copy may still name.
  size_t size() const { return changes_.size(); }

  void AddTo(Digest& digest) const;

 private:
  struct Change {
    EntryChange entry;
    VirtPage page;  // the first it covers, canonical
    OperationId operation;
    Cycles time;
    bool promised = false;
    bool relaxed = false;
  };
  using ChangeNumber = uint32_t;

  // Calls visit(core, entry) for each copy that names the change.
  template <typename Visit>
  void ForEachCopy(ChangeNumber number, const Change& change, Cores cores,
                   Visit visit) const;
  bool HasCopy(ChangeNumber number, const Change& change, Cores cores) const;
  std::vector<ChangeNumber> NamedChanges(Cores cores) const;
  void Forget(ChangeNumber number);
  // Counts as exposed or as a violation what a promise rules out.
  void Judge(Check check, const Change& change, const Use& use,
             CheckCounters& counters) const;
  CheckExample Example(Check check, const Change& change, CpuId cpu,
                       VirtPage page, Cycles now) const;

  std::map<TreeId, std::vector<CoreId>> holders_;  // in order, each once
  std::map<ChangeNumber, Change> changes_;
  std::map<FrameNumber, std::vector<ChangeNumber>> by_frame_;
  std::map<OperationId, std::string> operations_;  // that changes name
  ChangeNumber last_change_ = 0;
  uint32_t last_operation_ = 0;
  OperationId writer_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_MACHINE_STALE_ENTRIES_H_
