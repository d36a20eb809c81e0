// SPDX-License-Identifier: Apache-2.0
#include "lookaside/config/kernel_keys.h"

#include <iterator>

#include "lookaside/kernel/kernel_config.h"

namespace lookaside {
namespace {

using SimRows = Rows<SimConfig>;

const char kAuto[] = "auto";
// Far more pages than one flush can have with five levels of tables.
constexpr uint64_t kMaxPages = uint64_t{1} << 30;

// A number, or "auto" where the kernel decides.
template <auto kField>
std::optional<ConfigValue> GetOptional(const SimConfig& config) {
  const std::optional<uint32_t>& field = config.kernel.*kField;
  if (!field) return std::string(kAuto);
  return uint64_t{*field};
}

template <auto kField>
void SetOptional(SimConfig& config, const ConfigValue& value) {
  std::optional<uint32_t>& field = config.kernel.*kField;
  field.reset();
  if (const uint64_t* const number = std::get_if<uint64_t>(&value)) {
    field = static_cast<uint32_t>(*number);
  }
}

template <auto kField>
void AddOptional(SimRows& rows, std::string_view name, uint64_t max,
                 std::string_view unit, std::string_view doc) {
  rows.Other({{std::string(name),
               KeyKind::kLimit,
               0,
               max,
               {kAuto},
               std::string(unit),
               std::string(doc)},
              &GetOptional<kField>,
              &SetOptional<kField>});
}

std::optional<ConfigValue> GetUnfixed(const SimConfig& config) {
  std::vector<std::string> names;
  for (size_t i = 0; i < kKernelFixes; ++i) {
    const auto fix = static_cast<KernelFix>(i);
    if (config.kernel.unfixed.Has(fix)) names.emplace_back(Name(fix));
  }
  return names;
}

void SetUnfixed(SimConfig& config, const ConfigValue& value) {
  config.kernel.unfixed = KernelFixSet();
  for (const auto& name : std::get<std::vector<std::string>>(value)) {
    for (size_t i = 0; i < kKernelFixes; ++i) {
      const auto fix = static_cast<KernelFix>(i);
      if (name == Name(fix)) config.kernel.unfixed.Add(fix);
    }
  }
}

}  // namespace

void AddKernelKeys(SimRows& rows) {
  constexpr auto kKernel = &SimConfig::kernel;
  using K = KernelConfig;
  rows.Word<KernelVersion, kKernel, &K::version>(
      "kernel.version",
      "The kernel whose programs run, and whose defaults hold below");
  rows.Bool<kKernel, &K::pcid>(
      "kernel.pcid",
      "Whether PCIDs are used, where version and processor have them");
  rows.Bool<kKernel, &K::kpti>(
      "kernel.kpti",
      "Page-table isolation: user and kernel halves under PCIDs of their own");
  rows.Word<LazyMode, kKernel, &K::lazy>(
      "kernel.lazy",
      "What an idle thread does with the last address space: leaves it (off), "
      "keeps it until a flush arrives (ipi), or is spared by flushes (skip); "
      "auto: the version's");
  rows.Integer<kKernel, &K::tick_us>(
      "kernel.tick_us", 100, 100'000, "us",
      "Between two scheduler ticks of a CPU (1 / HZ), at which flushes that "
      "were put off are made good");
  rows.Word<RemoteFlushKind, kKernel, &K::remote_flush>(
      "kernel.remote_flush",
      "How a flush reaches other threads: by interrupts (ipi), or for programs "
      "with a global ASID by broadcast (invlpgb: 6.15, on processors that have "
      "it); auto: what both have");
  AddOptional<&K::global_asids>(
      rows, "kernel.global_asids", 4088, "",
      "How many global ASIDs there are; auto: all PCIDs but those of the "
      "dynamic ones, and half with page-table isolation");
  rows.Integer<kKernel, &K::footprint>(
      "kernel.footprint", 0, 512, "pages",
      "Pages of its own data that the kernel touches on each entry from a "
      "program, which take room in the TLBs. The default is a lower bound, "
      "unsourced; plausible: 0 to 32");
  rows.Bool<kKernel, &K::footprint_2m>("kernel.footprint_2m",
                                       "Whether these are 2M pages, as those "
                                       "of the direct map are, or 4K pages");
  rows.WordList("kernel.unfixed",
                {std::begin(kKernelFixNames), std::end(kKernelFixNames)},
                &GetUnfixed, &SetUnfixed,
                "Fixes of known races that are taken out, by commit or rule");
  rows.Word<FlushPolicyKind, kKernel, &K::flush_policy>(
      "kernel.flush.policy",
      "When a flush is full: always, above active entries >> shift, above the "
      "ceiling, or never. The ceiling too, but: early_ack acknowledges before "
      "the flush where no table is freed; abis spares threads that accessed "
      "bits tell cannot have the pages; latr leaves munmap, MADV_DONTNEED and "
      "NUMA hints to others' next tick. Two are no policies but yardsticks: "
      "bound is never full, at the cost of full flushes where those are "
      "cheaper; clairvoyant takes for each flush what is cheaper, knowing "
      "which entries will be used again. auto: the version's");
  AddOptional<&K::flush_ceiling>(
      rows, "kernel.flush.ceiling", kMaxPages, "pages",
      "A flush of at most this many 4K pages goes page by page; auto: 33");
  AddOptional<&K::flush_shift>(
      rows, "kernel.flush.shift", 31, "",
      "Of the policy shift; auto: as Linux 3.6 has it for machine.model");
  rows.Bool<kKernel, &K::flush_in_context>(
      "kernel.flush.in_context",
      "With page-table isolation: the user half's pages are flushed by INVLPG "
      "on the next return to it, instead of by INVPCID at once");
}

}  // namespace lookaside
