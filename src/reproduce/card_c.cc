// SPDX-License-Identifier: Apache-2.0
#include "lookaside/reproduce/card_c.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "lookaside/base/address.h"
#include "lookaside/base/ids.h"
#include "lookaside/base/status.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/kernel/operation.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/trace/trace_event.h"

namespace lookaside {
namespace {

constexpr uint64_t kEntries = 512;
constexpr uint64_t kPage = 4096;
constexpr VirtAddr kRegion{0x7000'0000'0000};

// What one flush of the experiment is made of.
struct Setting {
  std::string refill;  // as cost.refill_ns=17 or cost.refill_cycles=43
  std::string invlpg;
  std::string cr3;
};

VirtAddr At(uint64_t page) { return VirtAddr(kRegion.value() + page * kPage); }

absl::StatusOr<SimConfig> ConfigOf(const Setting& setting,
                                   const std::string& policy) {
  LOOKASIDE_ASSIGN_OR_RETURN(
      const LoadedConfig loaded,
      LoadConfig({.file = "",
                  .cpu = "textbook",
                  .sets = {fmt::format("tlb.dtlb_4k.entries={}", kEntries),
                           fmt::format("tlb.dtlb_4k.ways={}", kEntries),
                           "tlb.stlb.entries=0", setting.refill, setting.invlpg,
                           setting.cr3, "kernel.flush.policy=" + policy}}));
  return loaded.config;
}

absl::Status Touch(Simulation& simulation, uint64_t first, uint64_t count) {
  std::vector<TraceEvent> events;
  for (uint64_t page = first; page < first + count; ++page) {
    events.push_back({At(page), 8, EventKind::kLoad, 0, 0});
  }
  return simulation.Play(CpuId(0), events, Pacing::kAccesses);
}

Operation Over(OperationKind kind, uint64_t pages, bool write) {
  Operation operation;
  operation.kind = kind;
  operation.address = kRegion;
  operation.length = pages * kPage;
  operation.protection = {.read = true, .write = write, .exec = false};
  return operation;
}

// Of a map of all pages, touched: what flushing and refilling cost when the
// first `flushed` are protected and then `reused` of the others touched.
// Cycles are nanoseconds: textbook runs at 1 GHz.
class Experiment {
 public:
  static absl::StatusOr<Experiment> Create(const Setting& setting,
                                           const std::string& policy) {
    Experiment experiment;
    LOOKASIDE_ASSIGN_OR_RETURN(const SimConfig config,
                               ConfigOf(setting, policy));
    LOOKASIDE_ASSIGN_OR_RETURN(experiment.prepared_,
                               Simulation::Create(config));
    Simulation& simulation = *experiment.prepared_;
    LOOKASIDE_RETURN_IF_ERROR(Touch(simulation, kEntries, 1));
    LOOKASIDE_RETURN_IF_ERROR(
        simulation
            .RunOperation(CpuId(0), Over(OperationKind::kMmap, kEntries, true))
            .status());
    LOOKASIDE_RETURN_IF_ERROR(Touch(simulation, 0, kEntries));
    return experiment;
  }

  absl::StatusOr<uint64_t> Cost(uint64_t flushed, uint64_t reused) const {
    const std::unique_ptr<Simulation> simulation = prepared_->Clone();
    const CostLedger before = simulation->Results().totals.cycles;
    LOOKASIDE_RETURN_IF_ERROR(
        simulation
            ->RunOperation(CpuId(0),
                           Over(OperationKind::kMprotect, flushed, false))
            .status());
    LOOKASIDE_RETURN_IF_ERROR(Touch(*simulation, flushed, reused));
    CostLedger spent = simulation->Results().totals.cycles;
    spent -= before;
    return (spent[CostKind::kInvalidate] + spent[CostKind::kContext] +
            spent[CostKind::kWalk])
        .value();
  }

 private:
  std::unique_ptr<Simulation> prepared_;
};

struct Arms {
  Experiment pages;
  Experiment full;
  Experiment ceiling;  // Linux's 33
};

absl::StatusOr<Arms> MakeArms(const Setting& setting) {
  LOOKASIDE_ASSIGN_OR_RETURN(Experiment pages,
                             Experiment::Create(setting, "never_full"));
  LOOKASIDE_ASSIGN_OR_RETURN(Experiment full,
                             Experiment::Create(setting, "always_full"));
  LOOKASIDE_ASSIGN_OR_RETURN(Experiment ceiling,
                             Experiment::Create(setting, "ceiling"));
  return Arms{std::move(pages), std::move(full), std::move(ceiling)};
}

uint64_t Reused(uint64_t flushed, uint64_t percent) {
  return (kEntries - flushed) * percent / 100;
}

// The most pages that are no dearer one by one than all at once, when that
// share of the others is used again. The difference grows with the pages.
absl::StatusOr<uint64_t> BreakEven(const Arms& arms, uint64_t percent) {
  uint64_t low = 0;
  uint64_t high = kEntries;
  while (high - low > 1) {
    const uint64_t pages = (low + high) / 2;
    LOOKASIDE_ASSIGN_OR_RETURN(const uint64_t one_by_one,
                               arms.pages.Cost(pages, Reused(pages, percent)));
    LOOKASIDE_ASSIGN_OR_RETURN(const uint64_t all,
                               arms.full.Cost(pages, Reused(pages, percent)));
    (one_by_one <= all ? low : high) = pages;
  }
  return low;
}

// The most that a ceiling of 33 takes above the better of the two, looking at
// the sizes on both sides of it and at the largest.
absl::StatusOr<uint64_t> WorstLoss(const Arms& arms) {
  uint64_t worst = 0;
  for (const uint64_t percent : {0u, 100u}) {
    for (const uint64_t pages : {1u, 33u, 34u, 511u}) {
      const uint64_t reused = Reused(pages, percent);
      LOOKASIDE_ASSIGN_OR_RETURN(const uint64_t a,
                                 arms.pages.Cost(pages, reused));
      LOOKASIDE_ASSIGN_OR_RETURN(const uint64_t b,
                                 arms.full.Cost(pages, reused));
      LOOKASIDE_ASSIGN_OR_RETURN(const uint64_t chosen,
                                 arms.ceiling.Cost(pages, reused));
      worst = std::max(worst, chosen - std::min(a, b));
    }
  }
  return worst;
}

constexpr std::array<uint64_t, 5> kShares = {10, 25, 50, 75, 100};  // percent

enum Number : size_t { kEqual, kIvyBridge, kLoss, kFirstShare };

absl::StatusOr<Measured> Simulate(const std::vector<uint64_t>& values,
                                  uint64_t) {
  LOOKASIDE_ASSIGN_OR_RETURN(
      const Arms equal, MakeArms({"cost.refill_ns=100", "cost.invlpg_ns=100",
                                  "cost.cr3_flush_ns=0"}));
  LOOKASIDE_ASSIGN_OR_RETURN(
      const Arms measured,
      MakeArms({"cost.refill_cycles=43", "cost.invlpg_cycles=253",
                "cost.cr3_flush_cycles=96"}));
  LOOKASIDE_ASSIGN_OR_RETURN(
      const Arms drawn,
      MakeArms({fmt::format("cost.refill_ns={}", values[0]),
                fmt::format("cost.invlpg_ns={}", values[1]),
                fmt::format("cost.cr3_flush_ns={}", values[2])}));
  LOOKASIDE_ASSIGN_OR_RETURN(const uint64_t even, BreakEven(equal, 100));
  LOOKASIDE_ASSIGN_OR_RETURN(const uint64_t ivy, BreakEven(measured, 100));
  LOOKASIDE_ASSIGN_OR_RETURN(const uint64_t loss, WorstLoss(drawn));
  Measured numbers = {static_cast<double>(even), static_cast<double>(ivy),
                      static_cast<double>(loss)};
  for (const uint64_t share : kShares) {
    LOOKASIDE_ASSIGN_OR_RETURN(const uint64_t pages, BreakEven(drawn, share));
    numbers.push_back(static_cast<double>(pages));
  }
  return numbers;
}

std::string Pages(double pages) { return fmt::format("{:.0f} pages", pages); }

std::span<const double> BreakEvens(const Measured& numbers) {
  return std::span<const double>(numbers).subspan(kFirstShare);
}

}  // namespace

Card CardC() {
  return {
      .id = "C",
      .title = "One page at a time, or everything",
      .source =
          "Alex Shi, Linux e7b52ffd45a6 (2012); Dave Hansen, Linux "
          "a5102476a24b (2014)",
      .inputs = {{"cost.refill_ns", 17, 8, 40},
                 {"cost.invlpg_ns", 80, 40, 150},
                 {"cost.cr3_flush_ns", 50, 35, 150}},
      .figures = {{"break-even of 512 entries, both costs 100 ns", "256 pages",
                   [](const Measured& m) { return Pages(m[kEqual]); },
                   [](const Measured& m) { return m[kEqual] == 256; },
                   "256 pages exactly"},
                  {"break-even at Ivy Bridge's costs, 43 and 253 cycles",
                   "85 pages",
                   [](const Measured& m) { return Pages(m[kIvyBridge]); },
                   [](const Measured& m) {
                     return std::abs(m[kIvyBridge] - 85) <= 85 * 0.25;
                   },
                   "within 25 % of 85 pages"},
                  {"break-even with 10, 25, 50, 75 and 100 % used again",
                   "grows",
                   [](const Measured& m) {
                     return fmt::format("{:.0f} pages",
                                        fmt::join(BreakEvens(m), ", "));
                   },
                   [](const Measured& m) {
                     return std::ranges::is_sorted(BreakEvens(m)) &&
                            BreakEvens(m).front() < BreakEvens(m).back();
                   },
                   "never falls, and ends higher than it begins"},
                  {"most that a ceiling of 33 loses on one flush", "3 us",
                   [](const Measured& m) {
                     return fmt::format("{:.1f} us", m[kLoss] / 1000);
                   },
                   [](const Measured& m) { return m[kLoss] <= 3300; },
                   "at most 3.3 us"}},
      .simulate = &Simulate};
}

}  // namespace lookaside
