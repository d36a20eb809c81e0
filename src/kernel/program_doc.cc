// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/program_doc.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "lookaside/kernel/programs.h"

namespace lookaside {
namespace {

constexpr std::string_view kIntroduction =
    R"(# Operations of the kernel

<!-- Generated from the programs (src/kernel) by test/kernel/kernel_ops_doc_test.
     Do not edit. -->

What the simulated kernel does is programs of named steps. A step makes at most
one access to a shared cell, with the fence that goes with it; nothing else that
it does can be seen by another CPU. Steps marked *range* do one entry after the
other; an explorer may stop between any two of them. A step that calls another
program goes on when that has returned. Waiting for a lock or for
acknowledgements is a state: the CPU takes interrupts meanwhile.

The replay runs an operation on to its end and charges time; what a step costs
is in [cost_model.md](cost_model.md).
)";

constexpr std::string_view kFixes = R"(
## Fixes that `kernel.unfixed` takes out

Where a removal trips: *replay*, in recorded order; *races*, when steps of several CPUs
interleave (test/kernel/kernel_race_test.cc, timed order, an explorer).

| name | the step that changes | the race | trips |
|---|---|---|---|
| `eb66ae030829` | mremap: flush_locked, flush_late | CVE-2018-18281: the old translation is in use when the page is already found at its new place | C1, C2: races |
| `3ea277194daa` | flush_batched_pending of every program | an entry that reclaim has cleared is taken to be flushed | C1, C6: races |
| `99baac21e458` | tlb_flush_mmu: check_nested | another gather has cleared the entries and not yet flushed | C1: races |
| `71b3c126e611` | switch_mm: set_mask | CVE-2016-2069: without its fence the table is read before the cpumask is written | nothing: no step changes; it takes an explorer that models store buffers |
| `fea4e317f9e7` | flush_tlb_mm_range (6.15): filter | CVE-2025-37964: a CPU between two address spaces is spared | C1: races |
| `b956575bed91` | flush_tlb_mm_range (5.13, 6.15): filter | a lazy CPU walks tables that are freed | C3: replay |
| `d86564a2f085` | tlb_flush_mmu: check_nested | tables are freed before they are invalidated | C3: replay |
| `no_gap` | flush_tlb_func: flush | pages are flushed alone although an earlier flush is missing | C5: replay of threads, races |
| `no_overclaim` | flush_tlb_func: flush | a generation is claimed of which only some pages were flushed | C5: races |
| `asid_recycle` | switch_mm_irqs_off: load_cr3 | an ASID's entries are left to its next user | C4: replay |
| `user_pcid_flush` | flush_tlb_func: flush | page-table isolation: the user half keeps its translations | C1, C4: replay |
| `global_asid_rollover` | flush_tlb_mm_range (6.15): consider_global_asid | a global ASID comes back while TLBs hold its former owner's entries | C4: replay |

Known fixes without a step, because the simulated kernel has no such operation:
`97113eb39fa7` (mremap moves whole tables), `6ce64428d620` (userfaultfd write
protection), `b67fbebd4cf9` (mappings of frames that a driver owns).
)";

std::string VersionsOf(const KernelSteps* program) {
  std::string versions;
  for (size_t i = 0; i < std::size(kKernelVersionNames); ++i) {
    const auto version = static_cast<KernelVersion>(i);
    const KernelPrograms programs =
        ProgramsOf(KernelRules::From({.version = version}, {}, {}));
    if (std::ranges::find(programs, program) == programs.end()) continue;
    if (!versions.empty()) versions += ", ";
    versions += Name(version);
  }
  return versions;
}

std::string Section(const KernelSteps& program) {
  std::string text = fmt::format("\n## {}\n\n{}. In {}.\n\n", program.name,
                                 program.text, VersionsOf(&program));
  text += "| step | cell | access | fence | what |\n|---|---|---|---|---|\n";
  for (const KernelStep& step : program.steps) {
    text += fmt::format("| {}{} | {} | {} | {} | {} |\n", step.name,
                        step.splittable ? " (*range*)" : "", step.cell,
                        Name(step.access), Name(step.fence), step.text);
  }
  return text;
}

}  // namespace

std::string KernelOpsDoc() {
  std::string text(kIntroduction);
  std::vector<const KernelSteps*> shown;
  for (size_t id = 0; id < kKernelPrograms; ++id) {
    for (size_t i = 0; i < std::size(kKernelVersionNames); ++i) {
      const KernelSteps* const program = ProgramsOf(KernelRules::From(
          {.version = static_cast<KernelVersion>(i)}, {}, {}))[id];
      if (std::ranges::find(shown, program) != shown.end()) continue;
      shown.push_back(program);
      text += Section(*program);
    }
  }
  return text + std::string(kFixes);
}

}  // namespace lookaside
