// SPDX-License-Identifier: Apache-2.0
//
// The micro-benchmark of Linux's change to flush page by page: Alex Shi's
// mprotect.c (mail to LKML, 17 May 2012; its sibling munmap.c is mmtests'
// tlbflush). One region of shared anonymous memory, touched all over; `reads`
// offsets in it, drawn once; `readers` threads that read at these offsets
// round and round while the main thread calls mprotect on one block of `pages`
// pages after another. Without readers, the main thread itself reads all
// offsets after each call.
//
//   thread 0   mmap, a clone for each reader, a store to every page (the
//              set-up: setup_accesses), `calls` calls of mprotect
//   thread k   loads at the offsets, until thread 0 has made its last call
//
// There everything stops: what the end of the process costs is no part of it.
//
// A first pass over the region makes blocks read-only, the next one writable
// again, and so on. mprotect.c itself is lost; what the mails tell of it and
// its sibling stands in for it. Loads are of one byte; no instructions are
// fetched, so each load advances the clock by cost.instruction_cycles.
//
// Elapsed time * readers / loads is what the benchmark reports, the time of an
// access in each thread; without readers, the cycles of the kinds that
// accesses have (base, l1_tlb, stlb, walk) / loads.
//
// Its natural order is timed. Read gives an order for those who need one: each
// call, then one round of every reader. Constant memory. Deterministic: the
// same config and seed give the same streams. Not thread-safe.
#ifndef LOOKASIDE_WORKLOAD_MPROTECT_GENERATOR_H_
#define LOOKASIDE_WORKLOAD_MPROTECT_GENERATOR_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lookaside/base/address.h"
#include "lookaside/base/rng.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/thread_streams.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

struct MprotectConfig {
  uint64_t readers = 0;
  uint64_t reads = 512;                 // offsets
  uint64_t pages = 8;                   // of a call
  uint64_t calls = 0;                   // 0: until the region is exhausted once
  uint64_t region = uint64_t{1} << 30;  // bytes
  // Negative control: each round of reads is at newly drawn offsets.
  bool redraw = false;
  // The set-up leaves out pages that are neither read nor protected: nobody
  // will miss them, and it takes much less time.
  bool sparse = false;
};

class MprotectGenerator final : public TraceReader, public ThreadStreams {
 public:
  // REQUIRES: region is of whole pages; 1 <= pages <= those; reads >= 1.
  MprotectGenerator(std::string name, const MprotectConfig& config,
                    uint64_t seed);

  // TraceReader.
  size_t Read(std::span<TraceEvent> events) override;
  std::span<const MemoryCall> calls() const override { return read_calls_; }
  const absl::Status& status() const override { return status_; }
  TraceInfo info() const override;
  ThreadStreams* streams() override { return this; }

  // ThreadStreams.
  ThreadStep Next(uint32_t thread) override;
  bool Played(uint32_t thread, size_t events) override;
  void Returned(uint32_t thread) override;

 private:
  enum class Phase : uint8_t { kMap, kClone, kTouch, kProtect, kRead, kEnd };

  // One thread's reads.
  struct Round {
    Rng rng;
    std::vector<TraceEvent> loads;
    size_t next = 0;
  };

  size_t ReadStep(std::span<TraceEvent> events);
  uint64_t blocks() const;
  void FindUsedPages();
  uint64_t pages_to_touch() const;
  bool settled() const;
  void Draw(Round& round, uint32_t thread);
  ThreadStep NextReads(uint32_t thread);
  void PlayedReads(uint32_t thread, size_t events);
  void Touch();
  MemoryCall Call() const;
  MemoryCall Mprotect() const;

  std::string name_;
  MprotectConfig config_;
  uint64_t seed_;
  const absl::Status status_;

  // Of the main thread.
  Phase phase_ = Phase::kMap;
  uint64_t done_ = 0;  // pages, clones or calls of the phase
  MemoryCall call_;
  std::vector<uint64_t> used_pages_;  // if sparse; ascending
  std::vector<TraceEvent> touches_;
  size_t next_touch_ = 0;

  std::vector<Round> rounds_;  // by thread

  // Of Read.
  uint32_t turn_ = 0;       // the thread whose turn it is
  uint64_t turn_left_ = 0;  // reads of its round
  std::vector<MemoryCall> read_calls_;

  TraceInfo played_;  // counts
};

}  // namespace lookaside

#endif  // LOOKASIDE_WORKLOAD_MPROTECT_GENERATOR_H_
