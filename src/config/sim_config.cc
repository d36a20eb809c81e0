// SPDX-License-Identifier: Apache-2.0
#include "lookaside/config/sim_config.h"

#include "lookaside/base/status.h"
#include "lookaside/kernel/kernel_rules.h"
#include "lookaside/tlb/validate_tlb.h"

namespace lookaside {

absl::Status Validate(const SimConfig& config) {
  LOOKASIDE_RETURN_IF_ERROR(Validate(config.machine));
  LOOKASIDE_RETURN_IF_ERROR(
      Validate(config.tlb, config.machine.threads_per_core));
  LOOKASIDE_RETURN_IF_ERROR(Validate(config.psc));
  LOOKASIDE_RETURN_IF_ERROR(Validate(config.walk));
  LOOKASIDE_RETURN_IF_ERROR(Validate(config.paging));
  LOOKASIDE_RETURN_IF_ERROR(Validate(config.kernel, config.machine));
  const uint32_t cpus = config.machine.cpus();
  if (config.replay.cpu >= cpus) {
    return InvalidArgument(
        "replay.cpu = {}: the machine has hardware threads 0 to {}",
        config.replay.cpu, cpus - 1);
  }
  if (config.kernel.flush_policy == FlushPolicyKind::kClairvoyant &&
      config.replay.order == ReplayOrder::kTimed) {
    return InvalidArgument(
        "kernel.flush.policy = \"clairvoyant\" has to know what comes next: "
        "replay.order must be recorded, not timed");
  }
  return absl::OkStatus();
}

}  // namespace lookaside
