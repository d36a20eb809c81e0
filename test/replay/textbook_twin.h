// SPDX-License-Identifier: Apache-2.0
//
// The textbook machine in a hundred obvious lines: one CPU, two fully
// associative first levels of 32 entries, a second level of 1024 in 4 ways,
// all LRU; no paging-structure caches; every page is mapped on first touch.
// It knows nothing of the simulator but the trace.
#ifndef LOOKASIDE_TEST_REPLAY_TEXTBOOK_TWIN_H_
#define LOOKASIDE_TEST_REPLAY_TEXTBOOK_TWIN_H_

#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "lookaside/trace/trace_event.h"

namespace lookaside {

struct TextbookTwin {
  // One array: each set a list of pages, most recently used first.
  struct Array {
    Array(size_t sets, size_t set_ways) : ways(set_ways), lists(sets) {}
    bool Lookup(uint64_t page) {
      std::list<uint64_t>& list = lists[page % lists.size()];
      for (auto it = list.begin(); it != list.end(); ++it) {
        if (*it != page) continue;
        list.splice(list.begin(), list, it);
        return true;
      }
      return false;
    }
    void Fill(uint64_t page) {
      std::list<uint64_t>& list = lists[page % lists.size()];
      list.push_front(page);
      ++fills;
      if (list.size() <= ways) return;
      list.pop_back();
      ++evictions;
    }
    size_t ways;
    std::vector<std::list<uint64_t>> lists;
    uint64_t hits = 0;
    uint64_t misses = 0;
    uint64_t fills = 0;
    uint64_t evictions = 0;
  };
  // A page, and what the TLB entries and the page table know of its dirtiness.
  struct Page {
    bool dirty = false;
    std::map<Array*, bool> entry_dirty;
  };

  Array itlb{1, 32};
  Array dtlb{1, 32};
  Array stlb{256, 4};
  std::map<uint64_t, Page> pages;
  uint64_t instructions = 0;
  uint64_t loads = 0;
  uint64_t stores = 0;
  uint64_t faults = 0;
  uint64_t walks = 0;
  uint64_t dirty_assists = 0;

  void Play(const TraceEvent& event) {
    const bool fetch = event.kind == EventKind::kFetch;
    const bool modify = event.kind == EventKind::kModify;
    instructions += fetch;
    if (event.kind == EventKind::kLoad || modify) {
      ++loads;
      Touch(dtlb, event, false);
    }
    if (event.kind == EventKind::kStore || modify) {
      ++stores;
      Touch(dtlb, event, true);
    }
    if (fetch) Touch(itlb, event, false);
  }

  void Touch(Array& first, const TraceEvent& event, bool write) {
    const uint64_t begin = event.address.value() / 4096;
    const uint64_t end = (event.address.value() + event.size - 1) / 4096;
    for (uint64_t page = begin; page <= end; ++page) {
      Translate(first, page, write);
    }
  }

  void Translate(Array& first, uint64_t number, bool write) {
    const auto [it, untouched] = pages.try_emplace(number);
    Page& page = it->second;
    if (untouched) {
      ++faults;
      page.dirty = write;  // the kernel marks a page first touched by a store
    }
    if (first.Lookup(number)) {
      ++first.hits;
    } else {
      ++first.misses;
      if (stlb.Lookup(number)) {
        ++stlb.hits;
      } else {
        ++stlb.misses;
        ++walks;
        page.dirty |= write;
        page.entry_dirty[&stlb] = page.dirty;
        stlb.Fill(number);
      }
      page.entry_dirty[&first] = page.entry_dirty[&stlb];
      first.Fill(number);
    }
    if (!write || page.entry_dirty[&first]) return;
    ++dirty_assists;
    page.dirty = true;
    page.entry_dirty[&dtlb] = true;
    page.entry_dirty[&stlb] = true;
  }
};

}  // namespace lookaside

#endif  // LOOKASIDE_TEST_REPLAY_TEXTBOOK_TWIN_H_
