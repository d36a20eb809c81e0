// SPDX-License-Identifier: Apache-2.0
#include "lookaside/report/result_json.h"

#include <cstddef>

#include "lookaside/config/config_edit.h"
#include "lookaside/report/config_to_json.h"
#include "lookaside/report/json_text.h"
#include "lookaside/report/result_to_json.h"
#include "lookaside/report/version.h"

namespace lookaside {
namespace {

Json TlbToJson(const CpuCounters& counters, const SimConfig& config) {
  Json json = Json::object();
  for (size_t i = 0; i < counters.tlb.size(); ++i) {
    const TlbCounters& tlb = counters.tlb[i];
    json[config.tlb.arrays[i].name] = {
        {"lookups", tlb.lookups()},   {"hits", tlb.hits},
        {"misses", tlb.misses},       {"fills", tlb.fills},
        {"evictions", tlb.evictions}, {"invalidated", tlb.invalidated}};
  }
  return json;
}

// Of the root's level first.
Json LevelsToJson(const std::array<uint64_t, kPagingLevels>& counts,
                  PagingLevel first, PagingLevel last) {
  Json json = Json::object();
  for (size_t i = Index(first) + 1; i-- > Index(last);) {
    json[std::string(Name(static_cast<PagingLevel>(i)))] = counts[i];
  }
  return json;
}

Json PlacesToJson(const std::array<uint64_t, kLinePlaces>& counts) {
  Json json = Json::object();
  for (size_t i = 0; i < counts.size(); ++i) {
    json[std::string(Name(static_cast<LinePlace>(i)))] = counts[i];
  }
  return json;
}

Json TranslationToJson(const TranslationCounters& counters,
                       const SimConfig& config) {
  const PagingLevel root =
      config.paging.levels == 5 ? PagingLevel::kPml5e : PagingLevel::kPml4e;
  return {{"l1_hits", counters.l1_hits},
          {"stlb_hits", counters.stlb_hits},
          {"walks", counters.walks},
          {"walk_loads", counters.walk_loads},
          {"walk_loads_by_level",
           LevelsToJson(counters.walk_loads_by_level, root, PagingLevel::kPte)},
          {"walk_loads_by_place", PlacesToJson(counters.walk_loads_by_place)},
          {"psc_hits", LevelsToJson(counters.psc_hits, PagingLevel::kPml5e,
                                    PagingLevel::kPde)},
          {"dirty_assists", counters.dirty_assists},
          {"dirty_assist_loads", counters.dirty_assist_loads},
          {"fault_walk_loads", counters.fault_walk_loads}};
}

Json FaultsToJson(const FaultCounters& faults) {
  return {{"minor", faults.minor},   {"major", faults.major},
          {"cow", faults.cow},       {"spurious", faults.spurious},
          {"denied", faults.denied}, {"thp_fallback", faults.thp_fallback}};
}

Json FlushesToJson(const FlushCounters& flushes) {
  return {{"requests", flushes.requests},
          {"pages", flushes.pages},
          {"invlpg", flushes.invlpg},
          {"full_local", flushes.full_local},
          {"full_remote", flushes.full_remote},
          {"ipis", flushes.ipis},
          {"ipis_avoided", flushes.ipis_avoided},
          {"interrupts", flushes.interrupts},
          {"broadcasts", flushes.broadcasts},
          {"skipped", flushes.skipped},
          {"deferred", flushes.deferred},
          {"swept", flushes.swept},
          {"wait_cycles", flushes.wait_cycles}};
}

Json CyclesByKindToJson(const CostLedger& ledger) {
  Json json = Json::object();
  for (size_t i = 0; i < kCostKinds; ++i) {
    const auto kind = static_cast<CostKind>(i);
    json[std::string(Name(kind))] = ledger[kind].value();
  }
  return json;
}

Json ChecksToJson(const CheckCounters& checks) {
  Json json = {{"violations", checks.violations()},
               {"exposed", checks.exposed},
               {"dormant", checks.dormant},
               {"spurious", checks.spurious}};
  for (size_t i = 0; i < kChecks; ++i) {
    json[std::string(Name(static_cast<Check>(i)))] = checks.by_check[i];
  }
  Json examples = Json::array();
  for (const CheckExample& example : checks.examples) {
    examples.push_back({{"check", std::string(Name(example.check))},
                        {"cpu", example.cpu.value()},
                        {"address", StartOf(example.page).value()},
                        {"age_cycles", example.age.value()},
                        {"operation", example.operation}});
  }
  json["examples"] = std::move(examples);
  return json;
}

// `tables` belong to the machine: null for one hardware thread.
void AddCounters(const CpuResult& result, const SimConfig& config,
                 const TableCounters* tables, Json& json) {
  json["instructions"] = result.counters.instructions;
  json["loads"] = result.counters.loads;
  json["stores"] = result.counters.stores;
  json["ifetches"] = result.counters.ifetches;
  json["tlb"] = TlbToJson(result.counters, config);
  json["translation"] = TranslationToJson(result.counters.translation, config);
  json["faults"] = FaultsToJson(result.faults);
  json["flush"] = FlushesToJson(result.flushes);
  if (tables != nullptr) {
    json["tables"] = {{"allocated", tables->allocated},
                      {"freed", tables->freed}};
  }
  json["cycles"] = result.cycles.Total().value();
  json["elapsed_cycles"] = result.elapsed.value();
  json["cycles_by_kind"] = CyclesByKindToJson(result.cycles);
}

Json TracesToJson(const std::vector<TraceInfo>& traces) {
  Json json = Json::array();
  for (const TraceInfo& trace : traces) {
    Json skipped = Json::object();
    for (const SkippedRecords& records : trace.skipped) {
      skipped[records.kind] = records.count;
    }
    json.push_back({{"name", trace.name},
                    {"format", trace.format},
                    {"xxh3", trace.xxh3},
                    {"events", trace.events},
                    {"accesses", trace.accesses},
                    {"skipped", std::move(skipped)}});
  }
  return json;
}

Json CpusToJson(const RunResult& result) {
  Json json = Json::array();
  for (const UsedCpu& used : result.cpus) {
    Json cpu = {{"cpu", used.cpu.value()}};
    AddCounters(used.result, result.config, nullptr, cpu);
    json.push_back(std::move(cpu));
  }
  return json;
}

}  // namespace

Json HostToJson(const HostInfo& host) {
  return {{"compiler", host.compiler},
          {"commit", host.commit},
          {"wall_s", host.wall_s},
          {"accesses_per_s", host.accesses_per_s},
          {"peak_rss_bytes", host.peak_rss_bytes}};
}

Json ResultToJson(const RunResult& result) {
  Json json = {{"schema_version", kSchemaVersion},
               {"tool", {{"name", "lookaside"}, {"version", kVersion}}},
               {"config", ConfigToJson(result.config)},
               {"config_hash", ConfigHash(result.config)},
               {"trace", TracesToJson(result.traces)},
               {"seed", result.seed},
               {"warnings", result.warnings}};
  Json totals = Json::object();
  AddCounters(result.totals, result.config, &result.tables, totals);
  json["totals"] = std::move(totals);
  json["checks"] = ChecksToJson(result.checks);
  json["cpus"] = CpusToJson(result);
  return json;
}

std::string ResultJson(const RunResult& result, const HostInfo& host) {
  Json json = ResultToJson(result);
  json["host"] = HostToJson(host);
  return JsonText(json);
}

std::string ConfigJson(const SimConfig& config) {
  return JsonText({{"schema_version", kSchemaVersion},
                   {"config", ConfigToJson(config)},
                   {"config_hash", ConfigHash(config)}});
}

}  // namespace lookaside
