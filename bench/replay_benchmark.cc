// SPDX-License-Identifier: Apache-2.0
//
// Accesses per second of whole replays; `items_per_second` counts accesses.
//
//   BM_ReplayDecoded/PRESET   the bundled recording, from events in memory,
//                             each event on its own, everything counted
//   BM_ReplayFolded/PRESET    the same from page runs, folding not timed
//   BM_Fold                   folding alone
//   BM_ReadRecording          decompressing and parsing it, not simulating
//   BM_UniformRandom/PRESET   loads of random pages of 1 GiB, all mapped before
//   BM_FirstTouch/PRESET      a store to each page of 256 MiB, unmapped before
//   BM_IdleCpus/SOCKETS       as BM_ReplayDecoded, on a machine of that many
//                             sockets of 64 hardware threads, all but one idle
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lookaside/base/check.h"
#include "lookaside/base/rng.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/replay/replayer.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/testdata/demo_recording.h"
#include "lookaside/trace/open_trace.h"
#include "lookaside/trace/page_run.h"

namespace lookaside {
namespace {

std::unique_ptr<TraceReader> OpenRecording() {
  return OpenTraceFromMemory("demo", DemoRecording().front().contents).value();
}

// Its accesses.
const std::vector<TraceEvent>& Recording() {
  static const std::vector<TraceEvent>* const events = [] {
    auto* all = new std::vector<TraceEvent>;
    std::vector<TraceEvent> buffer(kBufferEvents);
    const std::unique_ptr<TraceReader> reader = OpenRecording();
    while (const size_t n = reader->Read(buffer)) {
      std::copy_if(
          buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(n),
          std::back_inserter(*all),
          [](const TraceEvent& e) { return e.kind != EventKind::kCall; });
    }
    LOOKASIDE_CHECK(reader->status().ok());
    return all;
  }();
  return *events;
}

uint64_t AccessesOf(std::span<const TraceEvent> events) {
  uint64_t accesses = 0;
  for (const TraceEvent& event : events) accesses += Accesses(event.kind);
  return accesses;
}

std::vector<PageRun> FoldAll(std::span<const TraceEvent> events) {
  std::vector<PageRun> runs;
  RunFolder folder;
  LOOKASIDE_CHECK(folder.Fold(events, runs) == events.size());
  folder.Finish(runs);
  return runs;
}

std::unique_ptr<Simulation> NewSimulation(const std::string& preset) {
  return Simulation::Create(LoadPreset(preset).value()).value();
}

std::unique_ptr<Simulation> NewManyCpus(uint32_t sockets) {
  SimConfig config = LoadPreset("skylake-sp").value();
  config.machine.sockets = sockets;
  config.machine.cores_per_socket = 32;
  config.machine.threads_per_core = 2;
  return Simulation::Create(config).value();
}

void PlayAll(Simulation& simulation, std::span<const TraceEvent> events,
             Pacing pacing) {
  for (size_t i = 0; i < events.size(); i += kBufferEvents) {
    const size_t n = std::min(kBufferEvents, events.size() - i);
    LOOKASIDE_CHECK(
        simulation.Play(CpuId(0), events.subspan(i, n), pacing).ok());
  }
}

void CountItems(benchmark::State& state, uint64_t items) {
  state.SetItemsProcessed(
      static_cast<int64_t>(items * static_cast<uint64_t>(state.iterations())));
}

void BM_ReplayDecoded(benchmark::State& state, const std::string& preset) {
  const std::vector<TraceEvent>& events = Recording();
  for (auto _ : state) {
    const std::unique_ptr<Simulation> simulation = NewSimulation(preset);
    PlayAll(*simulation, events, Pacing::kInstructions);
  }
  CountItems(state, AccessesOf(events));
}
BENCHMARK_CAPTURE(BM_ReplayDecoded, skylake_sp, "skylake-sp");
BENCHMARK_CAPTURE(BM_ReplayDecoded, textbook, "textbook");
BENCHMARK_CAPTURE(BM_ReplayDecoded, zen4, "zen4");

void BM_ReplayFolded(benchmark::State& state, const std::string& preset) {
  const std::vector<PageRun> runs = FoldAll(Recording());
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<PageRun> used_up = runs;
    state.ResumeTiming();
    const std::unique_ptr<Simulation> simulation = NewSimulation(preset);
    LOOKASIDE_CHECK(simulation->PlayRuns(CpuId(0), used_up).ok());
  }
  CountItems(state, AccessesOf(Recording()));
}
BENCHMARK_CAPTURE(BM_ReplayFolded, skylake_sp, "skylake-sp");

void BM_Fold(benchmark::State& state) {
  const std::vector<TraceEvent>& events = Recording();  // read before the clock
  for (auto _ : state) {
    benchmark::DoNotOptimize(FoldAll(events));
  }
  CountItems(state, AccessesOf(Recording()));
}
BENCHMARK(BM_Fold);

void BM_ReadRecording(benchmark::State& state) {
  std::vector<TraceEvent> buffer(kBufferEvents);
  for (auto _ : state) {
    const std::unique_ptr<TraceReader> reader = OpenRecording();
    while (reader->Read(buffer) != 0) {
    }
  }
  CountItems(state, AccessesOf(Recording()));
}
BENCHMARK(BM_ReadRecording);

TraceEvent At(EventKind kind, uint64_t page) {
  TraceEvent event;
  event.kind = kind;
  event.address = VirtAddr((uint64_t{1} << 32) + (page << kPageShift));
  event.size = 8;
  return event;
}

std::vector<TraceEvent> Sweep(EventKind kind, uint64_t pages) {
  std::vector<TraceEvent> events;
  for (uint64_t i = 0; i < pages; ++i) events.push_back(At(kind, i));
  return events;
}

void BM_UniformRandom(benchmark::State& state, const std::string& preset) {
  constexpr uint64_t kPages = (uint64_t{1} << 30) / kPageBytes;
  const std::unique_ptr<Simulation> simulation = NewSimulation(preset);
  PlayAll(*simulation, Sweep(EventKind::kStore, kPages), Pacing::kAccesses);
  Rng rng(1);
  std::vector<TraceEvent> events;
  for (int i = 0; i < 1'000'000; ++i) {
    events.push_back(At(EventKind::kLoad, rng.Below(kPages)));
  }
  for (auto _ : state) PlayAll(*simulation, events, Pacing::kAccesses);
  CountItems(state, events.size());
}
BENCHMARK_CAPTURE(BM_UniformRandom, skylake_sp, "skylake-sp");
BENCHMARK_CAPTURE(BM_UniformRandom, textbook, "textbook");

void BM_FirstTouch(benchmark::State& state, const std::string& preset) {
  const std::vector<TraceEvent> events =
      Sweep(EventKind::kStore, (uint64_t{256} << 20) / kPageBytes);
  for (auto _ : state) {
    const std::unique_ptr<Simulation> simulation = NewSimulation(preset);
    PlayAll(*simulation, events, Pacing::kAccesses);
  }
  CountItems(state, events.size());
}
BENCHMARK_CAPTURE(BM_FirstTouch, skylake_sp, "skylake-sp");

void BM_IdleCpus(benchmark::State& state) {
  const std::vector<TraceEvent>& events = Recording();
  for (auto _ : state) {
    const std::unique_ptr<Simulation> simulation =
        NewManyCpus(static_cast<uint32_t>(state.range(0)));
    PlayAll(*simulation, events, Pacing::kInstructions);
  }
  CountItems(state, AccessesOf(events));
}
BENCHMARK(BM_IdleCpus)->Arg(1)->Arg(64);

}  // namespace
}  // namespace lookaside

BENCHMARK_MAIN();
