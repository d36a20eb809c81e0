// SPDX-License-Identifier: Apache-2.0
//
// The library in one header. A configuration makes a simulation, a trace or
// events of your own run on it, and counters come out:
//
//   lookaside::SimConfig config = lookaside::LoadPreset("skylake-sp").value();
//   auto simulation = lookaside::Simulation::Create(config).value();
//   auto reader = lookaside::OpenTrace("program.lackey").value();
//   lookaside::RunResult result =
//       lookaside::Replay(*simulation, *reader, {}).value();
//   std::cout << lookaside::TextReport(result, "skylake-sp");
//
// docs/extending.md goes on from here; examples/count_misses.cc is a program.
#ifndef LOOKASIDE_LOOKASIDE_H_
#define LOOKASIDE_LOOKASIDE_H_

// IWYU pragma: begin_exports
#include "lookaside/base/address.h"
#include "lookaside/base/cycles.h"
#include "lookaside/base/ids.h"
#include "lookaside/config/config_edit.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/config/config_show.h"
#include "lookaside/config/sim_config.h"
#include "lookaside/cost/cost_ledger.h"
#include "lookaside/kernel/flush_policy.h"
#include "lookaside/kernel/operation.h"
#include "lookaside/machine/machine.h"
#include "lookaside/replay/replayer.h"
#include "lookaside/replay/run_result.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/report/host_info.h"
#include "lookaside/report/result_json.h"
#include "lookaside/report/text_report.h"
#include "lookaside/report/trace_summary.h"
#include "lookaside/report/version.h"
#include "lookaside/trace/open_trace.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/trace_reader.h"
// IWYU pragma: end_exports

#endif  // LOOKASIDE_LOOKASIDE_H_
