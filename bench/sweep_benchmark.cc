// SPDX-License-Identifier: Apache-2.0
//
// What a sweep of the flush threshold costs beside one replay, on skylake-sp,
// one host thread. `lanes` counts the different ways in which the points
// behaved; `time` is of all of them.
//
//   BM_ReplayRecording   one replay of the bundled recording, decoding included
//   BM_SweepRecording    kernel.flush.ceiling=0..63, decoding included
//   BM_ReplayEvents      one replay, from events and calls in memory
//   BM_SweepEvents       kernel.flush.ceiling=0..63, likewise
#include <benchmark/benchmark.h>

#include <cstddef>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "lookaside/base/check.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/replay/replayer.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/sweep/sweep.h"
#include "lookaside/sweep/vary.h"
#include "lookaside/testdata/demo_recording.h"
#include "lookaside/trace/open_trace.h"
#include "lookaside/trace/vector_reader.h"

namespace lookaside {
namespace {

std::unique_ptr<TraceReader> OpenRecording() {
  return OpenTraceFromMemory("demo", DemoRecording().front().contents).value();
}

VectorReader Decode() {
  const std::unique_ptr<TraceReader> reader = OpenRecording();
  std::vector<TraceEvent> events;
  std::vector<MemoryCall> calls;
  std::vector<TraceEvent> buffer(kBufferEvents);
  while (const size_t n = reader->Read(buffer)) {
    events.insert(events.end(), buffer.begin(),
                  buffer.begin() + static_cast<std::ptrdiff_t>(n));
    calls.insert(calls.end(), reader->calls().begin(), reader->calls().end());
  }
  LOOKASIDE_CHECK(reader->status().ok());
  return VectorReader("demo", std::move(events), std::move(calls));
}

std::vector<SweepPoint> Points() {
  const LoadedConfig loaded =
      LoadConfig({.file = "", .cpu = "skylake-sp", .sets = {}}).value();
  const Vary vary = ParseVary("kernel.flush.ceiling=0..63").value();
  return MakeGrid(loaded, {&vary, 1}).value();
}

void ReplayOnce(const SimConfig& config, TraceReader& reader) {
  const std::unique_ptr<Simulation> simulation =
      Simulation::Create(config).value();
  benchmark::DoNotOptimize(Replay(*simulation, reader, {}).value());
}

size_t SweepOnce(const std::vector<SweepPoint>& points, TraceReader& reader) {
  const SweepResult sweep = RunSweep(points, reader, {}).value();
  return std::set<size_t>(sweep.lanes.begin(), sweep.lanes.end()).size();
}

void BM_ReplayRecording(benchmark::State& state) {
  const SimConfig config = LoadPreset("skylake-sp").value();
  for (auto _ : state) ReplayOnce(config, *OpenRecording());
}
BENCHMARK(BM_ReplayRecording)->Unit(benchmark::kMillisecond);

void BM_SweepRecording(benchmark::State& state) {
  const std::vector<SweepPoint> points = Points();
  size_t lanes = 0;
  for (auto _ : state) lanes = SweepOnce(points, *OpenRecording());
  state.counters["lanes"] = static_cast<double>(lanes);
}
BENCHMARK(BM_SweepRecording)->Unit(benchmark::kMillisecond);

void BM_ReplayEvents(benchmark::State& state) {
  const SimConfig config = LoadPreset("skylake-sp").value();
  VectorReader reader = Decode();
  for (auto _ : state) {
    reader.Rewind();
    ReplayOnce(config, reader);
  }
}
BENCHMARK(BM_ReplayEvents)->Unit(benchmark::kMillisecond);

void BM_SweepEvents(benchmark::State& state) {
  const std::vector<SweepPoint> points = Points();
  VectorReader reader = Decode();
  size_t lanes = 0;
  for (auto _ : state) {
    reader.Rewind();
    lanes = SweepOnce(points, reader);
  }
  state.counters["lanes"] = static_cast<double>(lanes);
}
BENCHMARK(BM_SweepEvents)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lookaside

BENCHMARK_MAIN();
