// SPDX-License-Identifier: Apache-2.0
#include "lookaside/config/cost_keys.h"

#include <fmt/format.h>

#include "lookaside/cost/cost_model.h"

namespace lookaside {
namespace {

// Keeps every sum of a model in 64 bits, far above anything that exists.
constexpr uint64_t kMaxCost = 1'000'000'000;

using SimRows = Rows<SimConfig>;

template <auto kCost, CostUnit kUnit>
std::optional<ConfigValue> GetCost(const SimConfig& config) {
  const std::optional<CostAmount> cost = config.cost.*kCost;
  if (!cost || cost->unit != kUnit) return std::nullopt;
  return cost->amount;
}

template <auto kCost, CostUnit kUnit>
void SetCost(SimConfig& config, const ConfigValue& value) {
  config.cost.*kCost = CostAmount{std::get<uint64_t>(value), kUnit};
}

template <auto kCost>
void AddCost(SimRows& rows, std::string_view name, std::string_view doc) {
  const auto add = [&]<CostUnit kUnit>(std::string_view unit) {
    rows.Other({{fmt::format("cost.{}_{}", name, unit),
                 KeyKind::kInteger,
                 0,
                 kMaxCost,
                 {},
                 std::string(unit),
                 std::string(doc)},
                &GetCost<kCost, kUnit>,
                &SetCost<kCost, kUnit>});
  };
  add.template operator()<CostUnit::kNanoseconds>("ns");
  add.template operator()<CostUnit::kCycles>("cycles");
}

void AddMachineCosts(SimRows& rows) {
  using C = CostConfig;
  AddCost<&C::instruction>(rows, "instruction",
                           "Every instruction (every access, where a "
                           "recording has no instruction fetches)");
  AddCost<&C::refill>(rows, "refill",
                      "When set: every walk, instead of the model of walk.*");
  AddCost<&C::dirty_assist>(rows, "dirty_assist",
                            "A store to a clean entry, beside its walk");
  AddCost<&C::fault_entry>(rows, "fault_entry",
                           "Delivery of a page fault and the return from it");
  AddCost<&C::minor_fault>(rows, "minor_fault",
                           "The kernel's handling of a minor fault, entry "
                           "excluded");
  AddCost<&C::invlpg>(rows, "invlpg", "INVLPG of one page");
  AddCost<&C::invpcid>(rows, "invpcid",
                       "INVPCID of one address or of one PCID");
  AddCost<&C::cr3_flush>(rows, "cr3_flush", "MOV to CR3 that flushes");
  AddCost<&C::cr3_noflush>(rows, "cr3_noflush",
                           "MOV to CR3 with bit 63 set, which keeps entries");
  AddCost<&C::cr4_pge>(rows, "cr4_pge",
                       "Clearing and setting CR4.PGE, which drops all entries");
}

void AddKernelCosts(SimRows& rows) {
  using C = CostConfig;
  AddCost<&C::ipi_send>(rows, "ipi_send",
                        "One write of the interrupt command register");
  AddCost<&C::ipi_handler>(
      rows, "ipi_handler",
      "Entry to an interrupt handler and the return from it");
  AddCost<&C::ipi_latency_core>(
      rows, "ipi_latency_core",
      "From that write to the handler, on a sibling thread");
  AddCost<&C::ipi_latency_socket>(
      rows, "ipi_latency_socket",
      "From that write to the handler, on another core of the socket");
  AddCost<&C::ipi_latency_remote>(
      rows, "ipi_latency_remote",
      "From that write to the handler, on another socket");
  AddCost<&C::ipi_wake>(rows, "ipi_wake",
                        "What waking a halted hardware thread adds to that");
  AddCost<&C::ack_core>(
      rows, "ack_core",
      "From an acknowledgement to the sender, of a sibling thread");
  AddCost<&C::ack_socket>(
      rows, "ack_socket",
      "From an acknowledgement to the sender, of another core of the socket");
  AddCost<&C::ack_remote>(
      rows, "ack_remote",
      "From an acknowledgement to the sender, of another socket");
  AddCost<&C::syscall>(rows, "syscall",
                       "A system call without work: entry and return");
  AddCost<&C::vma>(rows, "vma",
                   "Work on one mapping: find, split, merge or remove it");
  AddCost<&C::pte>(rows, "pte",
                   "Work on one page-table entry: read and change it");
  AddCost<&C::page_free>(rows, "page_free",
                         "Giving one page or page table back");
  AddCost<&C::page_copy>(rows, "page_copy", "Copying a page of 4 KiB");
  AddCost<&C::page_clear>(rows, "page_clear",
                          "Clearing each further 4 KiB of a page of 2M at its "
                          "first touch (cost.minor_fault has the first)");
  AddCost<&C::major_fault>(rows, "major_fault",
                           "Waiting for a device to read a page");
  AddCost<&C::context_switch>(rows, "context_switch",
                              "Switching tasks, writes of CR3 excluded");
  AddCost<&C::ipi_target>(rows, "ipi_target",
                          "The sender's work for each target of a flush: the "
                          "cache lines of its request");
  AddCost<&C::invlpgb>(rows, "invlpgb", "One INVLPGB, of at most 8 pages");
  AddCost<&C::tlbsync>(rows, "tlbsync",
                       "TLBSYNC: waiting until INVLPGBs are done everywhere");
  AddCost<&C::abis_insert>(rows, "abis_insert",
                           "Filling a TLB entry through a second mapping at a "
                           "fault, under abis");
  AddCost<&C::abis_check>(rows, "abis_check",
                          "Telling from one entry which threads may have it, "
                          "under abis");
  AddCost<&C::latr_save>(rows, "latr_save",
                         "Leaving a flush to other threads' ticks, under latr");
  AddCost<&C::latr_sweep>(rows, "latr_sweep",
                          "Finding one such flush at a tick or a context "
                          "switch, its invalidations excluded");
}

}  // namespace

void AddCostKeys(SimRows& rows) {
  AddMachineCosts(rows);
  AddKernelCosts(rows);
}

}  // namespace lookaside
