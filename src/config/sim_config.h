// SPDX-License-Identifier: Apache-2.0
//
// Everything that shapes a simulation, as one value. The structs are defined
// by the modules that use them; config/config_key.h gives each field its key.
//
//   absl::StatusOr<SimConfig> config = LoadPreset("skylake-sp");
//   config->machine.sockets = 1;
//   absl::Status status = Validate(*config);
//
// A plain value: threads may share one that nobody changes.
#ifndef LOOKASIDE_CONFIG_SIM_CONFIG_H_
#define LOOKASIDE_CONFIG_SIM_CONFIG_H_

#include "absl/status/status.h"
#include "lookaside/config/replay_config.h"
#include "lookaside/cost/cost_model.h"
#include "lookaside/kernel/kernel_config.h"
#include "lookaside/machine/machine_config.h"
#include "lookaside/pagetable/walk_config.h"
#include "lookaside/tlb/psc_config.h"
#include "lookaside/tlb/tlb_config.h"

namespace lookaside {

struct SimConfig {
  TopologyConfig machine;
  TlbHierarchyConfig tlb;
  PscConfig psc;
  WalkConfig walk;
  PagingConfig paging;
  KernelConfig kernel;
  CostConfig cost;
  ReplayConfig replay;

  friend bool operator==(const SimConfig&, const SimConfig&) = default;
};

// Whether the machine of `config` could exist and the replay fits on it: each
// module's own Validate, then what concerns several. Errors begin with the
// key and its value.
absl::Status Validate(const SimConfig& config);

}  // namespace lookaside

#endif  // LOOKASIDE_CONFIG_SIM_CONFIG_H_
