// SPDX-License-Identifier: Apache-2.0
//
// How an interrupt gets from one hardware thread to others, and how long an
// answer takes to come back.
//
// The sender writes its interrupt command register: once for each target in
// flat (and physical) mode; in x2APIC cluster mode once for each cluster, of
// at most 16 threads whose APIC ids share all but the last four bits (SDM
// volume 3, 11.12.10; Linux arch/x86/kernel/apic/x2apic_cluster.c). APIC ids
// number threads, cores and sockets in bit fields of their own, so a cluster
// never spans two sockets. Each write takes time, so the last target hears
// later than the first.
//
// From the write to the handler's first instruction passes a latency by
// distance, and more if the target is halted. The answer is a cache line that
// the target wrote and the sender reads. All numbers are costs of
// cost/cost_model.h.
//
// Left out: contention on the interconnect, polling for delivery in xAPIC
// mode beyond its cost, shorthand addressing of all threads.
//
// A constant value; knows no clock.
//
//   Interconnect interconnect(topology, costs);
//   interconnect.ForEachWrite(targets, [&](const CpuSet& reached) { ... });
#ifndef LOOKASIDE_MACHINE_INTERCONNECT_H_
#define LOOKASIDE_MACHINE_INTERCONNECT_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "lookaside/base/cpu_set.h"
#include "lookaside/base/cycles.h"
#include "lookaside/base/ids.h"
#include "lookaside/cost/cost_model.h"
#include "lookaside/machine/topology.h"

namespace lookaside {

class Interconnect {
 public:
  Interconnect(const Topology& topology, const CostModel& costs);

  // Calls `visit` with the targets that each write reaches, in order.
  void ForEachWrite(const CpuSet& targets,
                    absl::FunctionRef<void(const CpuSet&)> visit) const;

  // What one write costs the sender.
  Cycles write() const { return write_; }

  // From the end of the write to the handler's start.
  Cycles Latency(CpuId from, CpuId to, bool halted) const;

  // From the target's store of its acknowledgement to the sender's load of it.
  Cycles Acknowledgement(CpuId from, CpuId to) const;

  // The x2APIC cluster of a hardware thread.
  uint32_t ClusterOf(CpuId cpu) const;

 private:
  struct ByDistance {
    Cycles core;
    Cycles socket;
    Cycles remote;
  };
  Cycles At(const ByDistance& costs, CpuId a, CpuId b) const;

  Topology topology_;
  Cycles write_;
  Cycles wake_;
  ByDistance latency_;
  ByDistance acknowledgement_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_MACHINE_INTERCONNECT_H_
