// SPDX-License-Identifier: Apache-2.0
#include "lookaside/report/text_report.h"

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <vector>

#include "lookaside/kernel/flush_counters.h"
#include "lookaside/report/advice.h"
#include "lookaside/report/check_lines.h"
#include "lookaside/report/format_number.h"
#include "lookaside/report/text_table.h"
#include "lookaside/report/trace_summary.h"
#include "lookaside/report/wrap_text.h"

namespace lookaside {
namespace {

std::string Join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += ", ";
    text += part;
  }
  return text;
}

std::string TraceLines(const RunResult& result) {
  std::string text;
  for (const TraceInfo& trace : result.traces) {
    std::vector<std::string> parts = {
        fmt::format("{} ({})", trace.name, trace.format),
        Counted(trace.events, "event", "events")};
    for (const SkippedRecords& skipped : trace.skipped) {
      parts.push_back(SkippedText(skipped) + " skipped");
    }
    text += WrapText("trace     ", Join(parts));
  }
  return text;
}

std::string AccessLine(const CpuCounters& counters) {
  return WrapText("accesses  ",
                  fmt::format("{}: {}, {}, {}", Grouped(counters.accesses()),
                              Counted(counters.ifetches, "instruction fetch",
                                      "instruction fetches"),
                              Counted(counters.loads, "load", "loads"),
                              Counted(counters.stores, "store", "stores")));
}

// Misses per thousand instructions; accesses, where a trace has no fetches.
std::string TlbTable(const RunResult& result) {
  const CpuCounters& counters = result.totals.counters;
  const bool per_instruction = counters.instructions > 0;
  const uint64_t base =
      per_instruction ? counters.instructions : counters.accesses();
  TextTable table({"TLB", "entries", "lookups", "misses", "miss rate",
                   per_instruction ? "MPKI" : "per 1000 accesses"});
  for (size_t i = 0; i < counters.tlb.size(); ++i) {
    const TlbConfig& array = result.config.tlb.arrays[i];
    const TlbCounters& tlb = counters.tlb[i];
    table.AddRow({array.name, Grouped(array.entries), Grouped(tlb.lookups()),
                  Grouped(tlb.misses), Percent(tlb.misses, tlb.lookups()),
                  tlb.lookups() == 0
                      ? "-"
                      : Ratio(1000 * static_cast<double>(tlb.misses), base)});
  }
  return table.ToString();
}

std::string Shares(std::span<const uint64_t> counts, uint64_t whole,
                   std::string (*name)(size_t)) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    parts.push_back(fmt::format("{} {}", name(i), Percent(counts[i], whole)));
  }
  return Join(parts);
}

std::string LevelName(size_t i) {
  return std::string(Name(static_cast<PagingLevel>(i)));
}

std::string PlaceName(size_t i) {
  const auto place = static_cast<LinePlace>(i);
  const bool memory =
      place == LinePlace::kLocalMemory || place == LinePlace::kRemoteMemory;
  return fmt::format("{}{}", Name(place), memory ? " memory" : "");
}

// Where walks began: at an entry of a paging-structure cache, or at the root.
std::string BeginLine(const TranslationCounters& counters) {
  uint64_t hits = 0;
  for (uint64_t count : counters.psc_hits) hits += count;
  std::string shares = Shares(counters.psc_hits, counters.walks, LevelName);
  if (!shares.empty()) shares += ", ";
  shares += "root " + Percent(counters.walks - hits, counters.walks);
  return WrapText("  begun at                ", shares);
}

std::string WalkLines(const TranslationCounters& counters) {
  std::string text = WrapText(
      "walks     ", fmt::format("{}: {} loads each", Grouped(counters.walks),
                                Ratio(static_cast<double>(counters.walk_loads),
                                      counters.walks)));
  if (counters.walks > 0) {
    text += BeginLine(counters);
    text += WrapText(
        "  loads by level          ",
        Shares(counters.walk_loads_by_level, counters.walk_loads, LevelName));
    text += WrapText(
        "  loads by place          ",
        Shares(counters.walk_loads_by_place, counters.walk_loads, PlaceName));
  }
  return text + WrapText("  dirty assists           ",
                         Grouped(counters.dirty_assists));
}

// Nothing, if nothing was flushed.
std::string FlushLine(const FlushCounters& flushes) {
  if (flushes.requests == 0) return "";
  return WrapText(
      "flushes   ",
      fmt::format("{}: {} pages one by one, {} whole here, {} whole elsewhere, "
                  "{} interrupts",
                  Grouped(flushes.requests), Grouped(flushes.invlpg),
                  Grouped(flushes.full_local), Grouped(flushes.full_remote),
                  Grouped(flushes.ipis)));
}

std::string FaultLine(const FaultCounters& faults) {
  return WrapText(
      "faults    ",
      fmt::format("{} minor, {} major, {} copy-on-write, {} spurious, "
                  "{} denied",
                  Grouped(faults.minor), Grouped(faults.major),
                  Grouped(faults.cow), Grouped(faults.spurious),
                  Grouped(faults.denied)));
}

std::string CycleLines(const CpuResult& totals) {
  const CpuCounters& counters = totals.counters;
  const uint64_t cycles = totals.cycles.Total().value();
  const auto cycles_real = static_cast<double>(cycles);
  std::string head = fmt::format("{}: {} per access", Grouped(cycles),
                                 Ratio(cycles_real, counters.accesses()));
  if (counters.instructions > 0) {
    head += fmt::format(", {} per instruction",
                        Ratio(cycles_real, counters.instructions));
  }
  TextTable table({"", "", ""});
  for (size_t i = 0; i < kCostKinds; ++i) {
    const auto kind = static_cast<CostKind>(i);
    const uint64_t spent = totals.cycles[kind].value();
    if (kind == CostKind::kIdle || spent == 0) continue;
    table.AddRow(
        {std::string(Name(kind)), Grouped(spent), Percent(spent, cycles)});
  }
  return WrapText("cycles    ", head) + table.ToString();
}

std::string WarningLines(const RunResult& result) {
  std::string text;
  for (const std::string& warning : result.warnings) {
    text += WrapText("warning   ", warning);
  }
  for (const std::string& advice : Advice(result)) {
    text += WrapText("note      ", advice);
  }
  return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string TextReport(const RunResult& result, std::string_view machine) {
  return TraceLines(result) + WrapText("machine   ", machine) +
         WrapText("seed      ", fmt::format("{}", result.seed)) +
         AccessLine(result.totals.counters) + "\n" + TlbTable(result) + "\n" +
         WalkLines(result.totals.counters.translation) +
         FaultLine(result.totals.faults) + FlushLine(result.totals.flushes) +
         CheckLines(result.checks) + "\n" + CycleLines(result.totals) +
         WarningLines(result);
}

}  // namespace lookaside
