// SPDX-License-Identifier: Apache-2.0
#include "lookaside/report/trace_summary.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "lookaside/base/address.h"
#include "lookaside/base/status.h"
#include "lookaside/report/format_number.h"
#include "lookaside/report/json_text.h"
#include "lookaside/report/result_json.h"
#include "lookaside/report/wrap_text.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"

namespace lookaside {
namespace {

constexpr size_t kBuffer = 65536;  // events

// Distinct pages of one side.
class PageSet {
 public:
  void Add(const TraceEvent& event) {
    const uint64_t first = event.address.value() >> kPageShift;
    const uint64_t last =
        (event.address.value() + event.size - 1) >> kPageShift;
    if (first == last && first == newest_) return;
    newest_ = last;
    for (uint64_t page = first; page <= last; ++page) pages_.insert(page);
  }
  uint64_t size() const { return pages_.size(); }

 private:
  absl::flat_hash_set<uint64_t> pages_;
  uint64_t newest_ = ~uint64_t{0};
};

// Every kind, also those that there are none of.
Json CallsToJson(const TraceInfo& info) {
  Json json = Json::object();
  for (size_t i = 0; i < kCallKinds; ++i) {
    json[std::string(Name(static_cast<CallKind>(i)))] = info.calls[i];
  }
  return json;
}

std::string CallsLine(const TraceInfo& info) {
  const uint64_t calls = AllCalls(info);
  if (calls == 0) return "";
  std::string text = Grouped(calls) + ":";
  for (size_t i = 0; i < kCallKinds; ++i) {
    if (info.calls[i] == 0) continue;
    text += fmt::format("{} {} {}", text.ends_with(':') ? "" : ",",
                        Grouped(info.calls[i]), Name(static_cast<CallKind>(i)));
  }
  if (info.failed_calls > 0) {
    text += fmt::format("; {} of them failed", Grouped(info.failed_calls));
  }
  return WrapText("calls     ", text);
}

std::string ThreadsLine(const TraceInfo& info) {
  std::string text = Grouped(info.threads);
  if (info.processes > 1) {
    text += fmt::format(", of {} processes", Grouped(info.processes));
  }
  return WrapText("threads   ", text);
}

Json ToJson(const TraceSummary& summary) {
  const TraceInfo& info = summary.info;
  Json skipped = Json::object();
  for (const SkippedRecords& records : info.skipped) {
    skipped[records.kind] = records.count;
  }
  return {{"name", info.name},
          {"format", info.format},
          {"xxh3", info.xxh3},
          {"bytes", info.bytes},
          {"events", info.events},
          {"accesses", info.accesses},
          {"fetches", summary.by_kind[0]},
          {"loads", summary.by_kind[1]},
          {"stores", summary.by_kind[2]},
          {"modifies", summary.by_kind[3]},
          {"calls", CallsToJson(info)},
          {"failed_calls", info.failed_calls},
          {"threads", info.threads},
          {"processes", info.processes},
          {"instruction_pages", summary.instruction_pages},
          {"data_pages", summary.data_pages},
          {"skipped", std::move(skipped)},
          {"warnings", info.warnings}};
}

}  // namespace

absl::StatusOr<TraceSummary> SummarizeTrace(TraceReader& reader) {
  TraceSummary summary;
  PageSet instruction_pages;
  PageSet data_pages;
  std::vector<TraceEvent> buffer(kBuffer);
  while (const size_t n = reader.Read(buffer)) {
    for (size_t i = 0; i < n; ++i) {
      const TraceEvent& event = buffer[i];
      if (event.kind == EventKind::kCall) continue;
      ++summary.by_kind[static_cast<size_t>(event.kind)];
      const bool fetch = event.kind == EventKind::kFetch;
      (fetch ? instruction_pages : data_pages).Add(event);
    }
  }
  LOOKASIDE_RETURN_IF_ERROR(reader.status());
  summary.info = reader.info();
  summary.instruction_pages = instruction_pages.size();
  summary.data_pages = data_pages.size();
  return summary;
}

std::string SkippedText(const SkippedRecords& skipped) {
  std::string_view one = skipped.kind;  // every kind is a plural
  if (one.ends_with('s')) one.remove_suffix(1);
  return Counted(skipped.count, one, skipped.kind);
}

std::string TraceSummaryText(const TraceSummary& summary) {
  const TraceInfo& info = summary.info;
  const auto& [fetches, loads, stores, modifies] = summary.by_kind;
  std::string text = WrapText(
      "trace     ", fmt::format("{} ({}), {} bytes, xxh3 {}", info.name,
                                info.format, Grouped(info.bytes), info.xxh3));
  text += WrapText(
      "events    ",
      fmt::format("{}: {}, {}, {}, {}", Grouped(info.events),
                  Counted(fetches, "instruction fetch", "instruction fetches"),
                  Counted(loads, "load", "loads"),
                  Counted(stores, "store", "stores"),
                  Counted(modifies, "modify", "modifies")));
  text +=
      WrapText("accesses  ", fmt::format("{} (a modify is a load and a store)",
                                         Grouped(info.accesses)));
  text += CallsLine(info) + ThreadsLine(info);
  text += WrapText("4K pages  ", fmt::format("{} of instructions, {} of data",
                                             Grouped(summary.instruction_pages),
                                             Grouped(summary.data_pages)));
  for (const SkippedRecords& records : info.skipped) {
    text += WrapText("skipped   ", SkippedText(records));
  }
  for (const std::string& warning : info.warnings) {
    text += WrapText("warning   ", warning);
  }
  return text;
}

std::string TraceSummariesJson(std::span<const TraceSummary> summaries) {
  Json traces = Json::array();
  for (const TraceSummary& summary : summaries) {
    traces.push_back(ToJson(summary));
  }
  Json json = {{"schema_version", kSchemaVersion}};
  json["traces"] = std::move(traces);
  return JsonText(json);
}

}  // namespace lookaside
