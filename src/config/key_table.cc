// SPDX-License-Identifier: Apache-2.0
//
// The rows of the table of keys.
#include <fmt/format.h>

#include "lookaside/config/config_key.h"
#include "lookaside/config/cost_keys.h"
#include "lookaside/config/kernel_keys.h"
#include "lookaside/config/key_rows.h"

namespace lookaside {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
// Bounds that keep every sum and product of a model in 64 bits, far above
// anything that exists.
constexpr uint64_t kMaxEntries = uint64_t{1} << 20;
constexpr uint64_t kMaxPscEntries = uint64_t{1} << 16;
constexpr uint64_t kMaxCycles = 1'000'000;

const char kNoPcidLimit[] = "unlimited";

using SimRows = Rows<SimConfig>;
using ArrayRows = Rows<TlbConfig>;

void AddMachine(SimRows& rows) {
  constexpr auto kMachine = &SimConfig::machine;
  using T = TopologyConfig;
  rows.Integer<kMachine, &T::sockets>("machine.sockets", 1, kMaxCpus, "",
                                      "Sockets of the machine");
  rows.Integer<kMachine, &T::cores_per_socket>(
      "machine.cores_per_socket", 1, kMaxCpus, "", "Cores of each socket");
  rows.Integer<kMachine, &T::threads_per_core>(
      "machine.threads_per_core", 1, 8, "",
      "Hardware threads of each core; they share its TLBs");
  rows.Integer<kMachine, &T::mhz>("machine.mhz", 1, 100'000, "MHz",
                                  "Clock of every core: what turns "
                                  "nanoseconds into cycles");
  rows.Integer<kMachine, &T::numa>("machine.numa", 1, 8, "",
                                   "Memory nodes of each socket");
  rows.Word<ApicMode, kMachine, &T::apic>(
      "machine.apic",
      "How interrupts are addressed: one write for each target (flat), or for "
      "each cluster of up to 16 hardware threads (x2APIC cluster mode)");
}

std::optional<ConfigValue> GetFeatures(const SimConfig& config) {
  const CpuFeatures& features = config.machine.features;
  std::vector<std::string> names;
  if (features.pcid) names.emplace_back("pcid");
  if (features.invpcid) names.emplace_back("invpcid");
  if (features.invlpgb) names.emplace_back("invlpgb");
  return names;
}

void SetFeatures(SimConfig& config, const ConfigValue& value) {
  CpuFeatures& features = config.machine.features;
  features = CpuFeatures();
  for (const auto& name : std::get<std::vector<std::string>>(value)) {
    features.pcid |= name == "pcid";
    features.invpcid |= name == "invpcid";
    features.invlpgb |= name == "invlpgb";
  }
}

void AddProcessor(SimRows& rows) {
  rows.Integer<&SimConfig::machine, &TopologyConfig::model>(
      "machine.model", 0, 0xffffff, "",
      "CPUID family * 256 + model, which Linux 3.6 asks for; 0: none");
  rows.WordList("machine.features", {"pcid", "invpcid", "invlpgb"},
                &GetFeatures, &SetFeatures,
                "What the processor offers a kernel");
}

void AddTlb(SimRows& rows) {
  rows.Word<TlbInclusion, &SimConfig::tlb, &TlbHierarchyConfig::inclusion>(
      "tlb.inclusion",
      "Whether the second level holds what the first does (inclusive), never "
      "does (exclusive), or neither is enforced (none)");
}

void AddPsc(SimRows& rows) {
  constexpr auto kPsc = &SimConfig::psc;
  using P = PscConfig;
  const auto integer = [&rows]<auto kField>(std::string_view name,
                                            std::string_view doc) {
    rows.Integer<kPsc, kField>(name, 0, kMaxPscEntries, "entries", doc);
  };
  integer.operator()<&P::pml5e>("psc.pml5e",
                                "PML5E cache, fully associative; 0: none");
  integer.operator()<&P::pml4e>("psc.pml4e",
                                "PML4E cache, fully associative; 0: none");
  integer.operator()<&P::pdpte>("psc.pdpte",
                                "PDPTE cache, fully associative; 0: none");
  integer.operator()<&P::pde>("psc.pde", "PDE cache; 0: none");
  rows.Integer<kPsc, &P::pde_ways>("psc.pde_ways", 0, kMaxPscEntries, "ways",
                                   "Ways of the PDE cache; 0: fully "
                                   "associative");
  rows.Word<InvlpgScope, kPsc, &P::invlpg_scope>(
      "psc.invlpg_scope",
      "What INVLPG drops here: all entries of the running PCID, or those of "
      "the address");
}

template <auto kLevel>
void AddLineCache(SimRows& rows, std::string_view level,
                  std::string_view cache) {
  constexpr auto kWalk = &SimConfig::walk;
  using L = LineCacheConfig;
  rows.Integer<kWalk, kLevel, &L::lines>(
      fmt::format("walk.{}_lines", level), 0, kMaxEntries, "lines",
      fmt::format("64-byte page-table lines that the {} keeps; 0: none",
                  cache));
  rows.Integer<kWalk, kLevel, &L::ways>(fmt::format("walk.{}_ways", level), 0,
                                        kMaxEntries, "ways",
                                        "Ways of these lines");
  rows.Integer<kWalk, kLevel, &L::cycles>(fmt::format("walk.{}_cycles", level),
                                          0, kMaxCycles, "cycles",
                                          "A walk's load that hits there");
}

void AddWalk(SimRows& rows) {
  constexpr auto kWalk = &SimConfig::walk;
  using W = WalkConfig;
  rows.Integer<kWalk, &W::base_cycles>("walk.base_cycles", 0, kMaxCycles,
                                       "cycles", "A walk without its loads");
  rows.Integer<kWalk, &W::walkers>(
      "walk.walkers", 1, 64, "",
      "Walks that a core can have in flight, all threads together");
  rows.Fraction<kWalk, &W::overlap>(
      "walk.overlap",
      "Part of a walk's cycles that out-of-order execution hides");
  rows.Fraction<kWalk, &W::data_pressure>(
      "walk.data_pressure",
      "How much the program's data crowds page-table lines out of the caches");
  AddLineCache<&W::l1>(rows, "l1", "L1 of a core");
  AddLineCache<&W::l2>(rows, "l2", "L2 of a core");
  AddLineCache<&W::l3>(rows, "l3", "L3 of a socket");
  rows.Integer<kWalk, &W::local_memory_ns>(
      "walk.local_memory_ns", 0, kMaxCycles, "ns",
      "A walk's load from the nearest memory node");
  rows.Integer<kWalk, &W::remote_memory_ns>(
      "walk.remote_memory_ns", 0, kMaxCycles, "ns",
      "A walk's load from any other memory node");
}

std::optional<ConfigValue> GetNodeMemory(const SimConfig& config) {
  return SizeToString(config.paging.node_memory);
}

void SetNodeMemory(SimConfig& config, const ConfigValue& value) {
  config.paging.node_memory =
      ParseSize(std::get<std::string>(value)).value_or(0);
}

void AddPaging(SimRows& rows) {
  constexpr auto kPaging = &SimConfig::paging;
  using P = PagingConfig;
  rows.Integer<kPaging, &P::levels>("paging.levels", 4, 5, "",
                                    "Levels of the page tables");
  rows.Word<ThpPolicy, kPaging, &P::thp>(
      "paging.thp", "Transparent huge pages: where 2M pages are used");
  rows.Other({{"paging.node_memory",
               KeyKind::kSize,
               kGiB,
               kGiB << 22,
               {},
               "bytes",
               "Physical memory of each node; a multiple of 1G"},
              &GetNodeMemory,
              &SetNodeMemory});
}

void AddReplay(SimRows& rows) {
  constexpr auto kReplay = &SimConfig::replay;
  using R = ReplayConfig;
  rows.Integer<kReplay, &R::cpu>(
      "replay.cpu", 0, kMaxCpus - 1, "",
      "Hardware thread of the recording's first thread, from 0");
  rows.Word<ReplayPlacement, kReplay, &R::placement>(
      "replay.placement",
      "Where further threads run: next to each other (pack), far apart "
      "(spread), a core each (round_robin), or as recorded, which is "
      "round_robin where the recording does not tell");
  rows.Word<ReplayOperations, kReplay, &R::operations>(
      "replay.operations",
      "Whether memory-management calls of a recording are applied, or only "
      "its accesses played");
  rows.Word<ReplayOrder, kReplay, &R::order>(
      "replay.order",
      "What orders different threads: the record, or the clocks of their CPUs "
      "(timed); auto: recorded for recordings, timed for generators");
  rows.Integer<kReplay, &R::slice_us>(
      "replay.slice_us", 1, 10'000'000, "us",
      "How long a thread of timed order, or one of several recordings, runs "
      "while others wait for its turn; 3000 is a default, about Linux's");
  rows.Integer<kReplay, &R::lookahead>(
      "replay.lookahead", 1, uint64_t{1} << 32, "events",
      "Of timed order: how far ahead in a recording a thread's next event is "
      "looked for before the thread counts as asleep");
  rows.Integer<kReplay, &R::foresight>(
      "replay.foresight", 1, uint64_t{1} << 32, "events",
      "How far ahead kernel.flush.policy = clairvoyant knows what will be used "
      "again, at 16 bytes of memory each");
  rows.Integer<kReplay, &R::warmup>("replay.warmup", 0, ~uint64_t{0} >> 1,
                                    "accesses",
                                    "Accesses that run before counting starts");
  rows.Bool<kReplay, &R::strict>(
      "replay.strict",
      "Whether an access outside every known mapping is an error");
}

std::vector<Key<SimConfig>> MakeSimKeys() {
  SimRows rows;
  AddMachine(rows);
  AddProcessor(rows);
  AddTlb(rows);
  AddPsc(rows);
  AddWalk(rows);
  AddPaging(rows);
  AddKernelKeys(rows);
  AddCostKeys(rows);
  AddReplay(rows);
  return rows.Take();
}

std::optional<ConfigValue> GetPcidSlots(const TlbConfig& array) {
  if (array.pcid_slots == TlbConfig::kNoPcidLimit)
    return std::string(kNoPcidLimit);
  return uint64_t{array.pcid_slots};
}

void SetPcidSlots(TlbConfig& array, const ConfigValue& value) {
  const uint64_t* const slots = std::get_if<uint64_t>(&value);
  array.pcid_slots =
      slots ? static_cast<uint32_t>(*slots) : TlbConfig::kNoPcidLimit;
}

std::vector<Key<TlbConfig>> MakeArrayKeys() {
  using T = TlbConfig;
  ArrayRows rows;
  rows.Integer<&T::level>("level", 1, 2, "", "1, or 2 behind the first");
  rows.Word<TlbSide, &T::side>("side", "Which accesses look here");
  rows.PageSizes<&T::pages>("pages", "Page sizes that it holds");
  rows.Integer<&T::entries>("entries", 0, kMaxEntries, "entries",
                            "Entries in all, but of each thread when "
                            "replicated; 0 removes the array");
  rows.Integer<&T::ways>("ways", 1, kMaxEntries, "ways",
                         "Ways; as many as entries: fully associative");
  rows.Word<TlbReplacement, &T::replacement>("replacement",
                                             "Which entry of a set gives way");
  rows.Word<TlbHash, &T::hash>("hash", "How a page number becomes a set");
  rows.Word<TlbSmt, &T::smt>(
      "smt", "How the hardware threads of a core share the capacity");
  rows.Integer<&T::latency>("latency", 0, kMaxCycles, "cycles",
                            "What a hit adds to the access");
  rows.Other({{"pcid_slots",
               KeyKind::kLimit,
               0,
               4096,
               {kNoPcidLimit},
               "PCIDs",
               "PCIDs that may have entries at once, the running one included; "
               "0 or "
               "1: entries do not survive the load of another PCID"},
              &GetPcidSlots,
              &SetPcidSlots})
      .required = false;
  rows.Bool<&T::fracture>("fracture",
                          "Whether a page of a size that no array of this "
                          "level and side lists is held here in pieces");
  rows.last().required = false;
  return rows.Take();
}

}  // namespace

std::span<const Key<SimConfig>> SimKeys() {
  static const std::vector<Key<SimConfig>> kKeys = MakeSimKeys();
  return kKeys;
}

std::span<const Key<TlbConfig>> ArrayKeys() {
  static const std::vector<Key<TlbConfig>> kKeys = MakeArrayKeys();
  return kKeys;
}

}  // namespace lookaside
