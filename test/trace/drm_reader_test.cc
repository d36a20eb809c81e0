// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/drm_reader.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lookaside/test/trace/compress.h"
#include "lookaside/test/trace/drm_bytes.h"
#include "lookaside/test/trace/read_all.h"
#include "lookaside/trace/open_trace.h"

namespace lookaside {
namespace {

WholeTrace ReadBytes(std::string_view bytes, size_t buffer = 3) {
  return ReadAll(OpenTraceFromMemory("mem", bytes), buffer);
}

TraceEvent Event(EventKind kind, uint64_t address, uint16_t size,
                 uint32_t thread = 0) {
  return {VirtAddr(address), size, kind, 0, thread};
}

TraceEvent Fetch(uint64_t address, uint16_t size = 4, uint32_t thread = 0) {
  return Event(EventKind::kFetch, address, size, thread);
}

DrmBytes Begun(uint64_t version = 7, uint64_t file_type = 0x40) {
  DrmBytes bytes;
  bytes.Begin(version, file_type).Time(1000);
  return bytes;
}

// The trace, with something before its end.
std::string Ended(DrmBytes bytes) { return bytes.Instr(0x400000).End().text(); }

TEST(DrmReader, ReadsEveryVersion) {
  for (uint64_t version = 1; version <= 7; ++version) {
    const WholeTrace whole = ReadBytes(Begun(version)
                                           .Instr(0x400000)
                                           .Load(0x7fff0000, 8)
                                           .Store(0x7fff0008, 16)
                                           .End()
                                           .text());
    EXPECT_EQ(whole.error, "") << version;
    EXPECT_EQ(whole.events,
              (std::vector<TraceEvent>{
                  Fetch(0x400000), Event(EventKind::kLoad, 0x7fff0000, 8),
                  Event(EventKind::kStore, 0x7fff0008, 16)}));
    EXPECT_EQ(whole.info.format, "drmemtrace");
    EXPECT_EQ(whole.info.threads, 1u);
    EXPECT_EQ(whole.info.accesses, 3u);
  }
}

TEST(DrmReader, OtherVersionsAreRefused) {
  EXPECT_EQ(ReadBytes(Ended(Begun(8))).error,
            "mem: byte 0: version 8 is not read; read are 1 (legacy) to 7");
  const std::string marker =
      DrmBytes().Add(kDrmHeader, 0, 7).Marker(kDrmVersion, 0).text();
  EXPECT_EQ(ReadBytes(marker).error,
            "mem: byte 12: version 0 is not read; read are 1 (legacy) to 7");
}

TEST(DrmReader, EveryTypeBecomesAnEventOrIsCounted) {
  const std::set<uint16_t> fetches = {10, 11, 12, 13, 14, 15, 16, 31, 48, 49};
  // Threads, headers, footers, markers and bundles have tests of their own.
  const std::set<uint16_t> others = {17, 22, 23, 24, 25, 26, 28};
  for (uint16_t type = 0; type < kDrmTypes; ++type) {
    if (others.contains(type)) continue;
    const WholeTrace whole =
        ReadBytes(Ended(Begun().Instr(0x1000).Add(type, 8, 0x5000)));
    EXPECT_EQ(whole.error, "") << type;
    if (type <= 1 || fetches.contains(type)) {
      const EventKind kind = type == 0   ? EventKind::kLoad
                             : type == 1 ? EventKind::kStore
                                         : EventKind::kFetch;
      ASSERT_EQ(whole.events.size(), 3u) << type;
      EXPECT_EQ(whole.events[1], Event(kind, 0x5000, 8)) << type;
    } else {
      const std::string name(DrmTypeName(type));
      EXPECT_EQ(whole.events.size(), 2u) << type;
      EXPECT_EQ(whole.Skipped(name), 1u) << name;
      EXPECT_TRUE(whole.Warns(name + " (1)")) << name;
    }
  }
}

TEST(DrmReader, UnknownTypesAreErrors) {
  EXPECT_EQ(ReadBytes(Begun().Add(51, 0, 0).text()).error,
            "mem: byte 84: a record of the unknown type 51; 50 is the last");
  EXPECT_EQ(ReadBytes(Begun().Add(65535, 0, 0).text()).error,
            "mem: byte 84: a record of the unknown type 65535; 50 is the last");
}

TEST(DrmReader, EveryMarkerIsActedOnOrCounted) {
  // Acted on: see the tests below.
  const std::set<uint16_t> used = {
      kDrmFuncId,   kDrmFuncRetAddr, kDrmFuncArg,     kDrmFuncRetVal,
      kDrmFileType, kDrmCacheLine,   kDrmVersion,     kDrmPageSize,
      kDrmSyscall,  kDrmChunkInstrs, kDrmChunkFooter, kDrmRecordOrdinal};
  for (uint16_t marker = 0; marker < kDrmMarkers; ++marker) {
    if (used.contains(marker)) continue;
    const WholeTrace with =
        ReadBytes(Ended(Begun().Instr(0x1000).Marker(marker, 5)));
    const WholeTrace without = ReadBytes(Ended(Begun().Instr(0x1000)));
    const std::string name(DrmMarkerName(marker));
    EXPECT_EQ(with.error, "") << name;
    EXPECT_EQ(with.Skipped(name), without.Skipped(name) + 1) << name;
  }
  const WholeTrace whole = ReadBytes(Ended(Begun()
                                               .Marker(47, 0)
                                               .Marker(100, 0)
                                               .Marker(101, 0)
                                               .Marker(65535, 0)
                                               .Marker(kDrmCacheLine, 64)
                                               .Marker(kDrmChunkInstrs, 10)
                                               .Marker(kDrmRecordOrdinal, 3)));
  EXPECT_EQ(whole.Skipped("reserved markers"), 2u);
  EXPECT_EQ(whole.Skipped("user-defined markers"), 2u);
  EXPECT_EQ(whole.info.skipped.size(), 4u);  // timestamp and cpu
}

TEST(DrmReader, BundlesAreExpanded) {
  const WholeTrace whole = ReadBytes(Begun(2)
                                         .Instr(0x400000, 3)
                                         .Add(kDrmBundle, 3, 0x050102)
                                         .Load(0x7000)
                                         .Add(kDrmBundle, 1, 0x04)
                                         .End()
                                         .text(),
                                     2);
  EXPECT_EQ(whole.error, "");
  EXPECT_EQ(whole.events,
            (std::vector<TraceEvent>{Fetch(0x400000, 3), Fetch(0x400003, 2),
                                     Fetch(0x400005, 1), Fetch(0x400006, 5),
                                     Event(EventKind::kLoad, 0x7000, 8),
                                     Fetch(0x40000b, 4)}));
}

TEST(DrmReader, ImpossibleBundlesAreErrors) {
  const auto error = [](uint16_t size, uint64_t lengths) {
    return ReadBytes(
               Begun().Instr(0x1000).Add(kDrmBundle, size, lengths).text())
        .error;
  };
  EXPECT_EQ(error(0, 1),
            "mem: byte 96: a bundle of 0 instructions; 1 to 8 fit");
  EXPECT_EQ(error(9, 1),
            "mem: byte 96: a bundle of 9 instructions; 1 to 8 fit");
  EXPECT_EQ(error(2, 1),
            "mem: byte 96: an instruction of a bundle has no bytes");
  EXPECT_EQ(ReadBytes(Begun().Add(kDrmBundle, 1, 1).text()).error,
            "mem: byte 84: a bundle has no instruction before it");
}

TEST(DrmReader, AccessesOfUnknownSizeAreOneByteAndAWarning) {
  const WholeTrace whole =
      ReadBytes(Ended(Begun().Load(0x7000, 0).Store(0x7001, 0)));
  EXPECT_EQ(whole.events[0], Event(EventKind::kLoad, 0x7000, 1));
  EXPECT_EQ(whole.events[1], Event(EventKind::kStore, 0x7001, 1));
  EXPECT_TRUE(whole.Warns("2 accesses of size 0"));
}

TEST(DrmReader, ImpossibleAddressesAreErrors) {
  for (const uint64_t address :
       {uint64_t{1} << 56, uint64_t{0x00ffffffffffffff}, ~uint64_t{0}}) {
    const WholeTrace whole = ReadBytes(Ended(Begun().Load(address, 8)));
    EXPECT_TRUE(whole.error.starts_with("mem: byte 84: an access of 8 bytes"))
        << whole.error;
    EXPECT_TRUE(whole.error.ends_with(
        "reaches outside the canonical addresses of 57 bits"));
  }
  // The vsyscall page.
  EXPECT_EQ(ReadBytes(Ended(Begun().Load(0xffffffffff600000, 8))).error, "");
}

TEST(DrmReader, CallsStandWhereTheyReturn) {
  const WholeTrace whole = ReadBytes(Begun()
                                         .Instr(0x1000)
                                         .Call(11, 0x7000, 4096)
                                         .Return(11, 1)
                                         .Instr(0x1004)
                                         .Call(10, 0x8000, 4096, 1)
                                         .Return(10, 0)
                                         .Marker(kDrmSyscallFailed, 13)
                                         .Call(28, 0x8000, 4096, 4)
                                         .Return(28, 0)
                                         .Instr(0x1008)
                                         .Marker(kDrmSyscall, 60)
                                         .End()
                                         .text(),
                                     1);
  EXPECT_EQ(whole.error, "");
  ASSERT_EQ(whole.calls.size(), 4u);
  EXPECT_EQ(ToString(whole.calls[0]), "munmap(0x7000, 4096) = 0");
  EXPECT_EQ(ToString(whole.calls[1]),
            "mprotect(0x8000, 4096, PROT_READ) = -1 EACCES");
  EXPECT_EQ(whole.calls[2].error, kMostErrno);  // nothing says why
  EXPECT_EQ(whole.calls[3].kind, CallKind::kExit);
  EXPECT_EQ(whole.events[1].kind, EventKind::kCall);
  EXPECT_EQ(whole.events[2], Fetch(0x1004));
  EXPECT_EQ(whole.info.calls[static_cast<size_t>(CallKind::kExit)], 1u);
  EXPECT_EQ(whole.info.failed_calls, 2u);
  EXPECT_EQ(whole.Skipped("system-call-failed markers"), 0u);
}

TEST(DrmReader, CallsThatSayTooLittleAreNamed) {
  const WholeTrace whole = ReadBytes(Ended(Begun()
                                               .Marker(kDrmSyscall, 9)
                                               .Marker(kDrmSyscall, 9)
                                               .Marker(kDrmSyscall, 1)
                                               .Call(11, 0x7000, 4096)
                                               .Call(9, 0, 4096, 3, 0x22)
                                               .Return(9, 1)
                                               .Marker(kDrmSyscall, 56)));
  EXPECT_TRUE(whole.calls.empty());
  EXPECT_EQ(whole.Skipped("argumentless mmap calls"), 2u);
  EXPECT_EQ(whole.Skipped("argumentless clone calls"), 1u);
  EXPECT_EQ(whole.Skipped("resultless munmap calls"), 1u);
  EXPECT_EQ(whole.Skipped("mmap calls without the address of the result"), 1u);
  EXPECT_EQ(whole.Skipped("other system calls"), 1u);
  EXPECT_TRUE(whole.Warns("calls left out (2 mmap, 1 clone), without arg"));
  EXPECT_TRUE(whole.Warns("calls left out (1 munmap), without a result"));
}

TEST(DrmReader, CallsWithoutASystemCallMarkerAreFound) {
  const WholeTrace whole =
      ReadBytes(Ended(Begun(3)
                          .Marker(kDrmFuncId, kDrmSyscallFunc + 11)
                          .Marker(kDrmFuncArg, 0x7000)
                          .Marker(kDrmFuncArg, 4096)
                          .Return(11, 1)));
  ASSERT_EQ(whole.calls.size(), 1u);
  EXPECT_EQ(ToString(whole.calls[0]), "munmap(0x7000, 4096) = 0");
}

TEST(DrmReader, TracedFunctionsAreNoSystemCalls) {
  const WholeTrace whole = ReadBytes(Ended(Begun()
                                               .Marker(kDrmFuncId, 11)
                                               .Marker(kDrmFuncRetAddr, 0x1000)
                                               .Marker(kDrmFuncArg, 0x7000)
                                               .Marker(kDrmFuncRetVal, 1)));
  EXPECT_TRUE(whole.calls.empty());
  EXPECT_EQ(whole.Skipped("markers of traced functions"), 4u);
}

TEST(DrmReader, SectionsOfTheKernelAreCountedNotPlayed) {
  const WholeTrace whole = ReadBytes(Ended(Begun(7, 0x1040)
                                               .Instr(0x1000)
                                               .Marker(kDrmSyscallTraceStart, 1)
                                               .Instr(0xffffffff81000000)
                                               .Load(0xffff888000000000)
                                               .Store(0xffff888000000000)
                                               .Marker(kDrmSyscallTraceEnd, 1)
                                               .Load(0x7000)
                                               .Marker(kDrmSwitchStart, 2)
                                               .Instr(0xffffffff81000000)
                                               .Marker(kDrmSwitchEnd, 2)));
  EXPECT_EQ(whole.error, "");
  EXPECT_EQ(whole.events.size(), 3u);
  EXPECT_EQ(whole.Skipped("kernel instructions"), 2u);
  EXPECT_EQ(whole.Skipped("kernel accesses"), 2u);
  EXPECT_EQ(whole.Skipped("starts of context switches"), 1u);
}

TEST(DrmReader, LegacyFilesInterleaveTheirThreads) {
  DrmBytes bytes = Begun(1);
  bytes.Instr(0x1000).Thread(101, 100).Instr(0x2000);
  bytes.Add(kDrmThread, 4, 100).Instr(0x1004);
  bytes.Add(kDrmThreadExit, 4, 101);
  // The same number: another thread.
  bytes.Add(kDrmThread, 4, 101).Instr(0x3000);
  const WholeTrace whole = ReadBytes(bytes.End().text());
  EXPECT_EQ(whole.error, "");
  EXPECT_EQ(whole.events,
            (std::vector<TraceEvent>{Fetch(0x1000), Fetch(0x2000, 4, 1),
                                     Fetch(0x1004), Fetch(0x3000, 4, 2)}));
  EXPECT_EQ(whole.info.threads, 3u);
  EXPECT_EQ(whole.info.processes, 1u);
}

TEST(DrmReader, SeveralProcessesAreAWarning) {
  const WholeTrace whole =
      ReadBytes(Ended(Begun().Instr(0x1000).Thread(200, 200).Instr(0x1000)));
  EXPECT_EQ(whole.info.processes, 2u);
  EXPECT_TRUE(whole.Warns("2 processes are in one trace"));
}

TEST(DrmReader, CoreShardedFilesRepeatHeadersAndFooters) {
  DrmBytes bytes = Begun(7, 0x10e40);
  bytes.Instr(0x1000).End();
  bytes.Begin(7, 0x10e40, 101).Instr(0x2000).End(101);
  const WholeTrace whole = ReadBytes(bytes.text());
  EXPECT_EQ(whole.error, "");
  EXPECT_EQ(whole.info.threads, 2u);
  DrmBytes others = Begun();
  others.Instr(0x1000).End().Instr(0x1004);
  EXPECT_EQ(ReadBytes(others.text()).error,
            "mem: byte 120: records follow the footer");
}

TEST(DrmReader, KindsOfTracesAreWarnings) {
  EXPECT_TRUE(ReadBytes(Ended(Begun(7, 0x44))).Warns("no data accesses"));
  EXPECT_TRUE(ReadBytes(Ended(Begun(7, 0x140))).Warns("was filtered"));
  EXPECT_TRUE(ReadBytes(Ended(Begun().Marker(kDrmPageSize, 65536)))
                  .Warns("pages of 65536 bytes"));
  EXPECT_FALSE(
      ReadBytes(Ended(Begun().Marker(kDrmPageSize, 4096))).Warns("pages of"));
  EXPECT_EQ(ReadBytes(Ended(Begun().Marker(kDrmPageSize, 5000))).error,
            "mem: byte 84: pages of 5000 bytes; a power of two from 4096 on is "
            "possible");
}

TEST(DrmReader, PlainFileCutAnywhereIsAnError) {
  const std::string bytes = Ended(Begun().Instr(0x1000).Load(0x7000));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(ReadBytes(std::string_view(bytes).substr(0, size)).error, "")
        << size;
  }
  EXPECT_EQ(ReadBytes(bytes.substr(0, bytes.size() - 12)).error,
            "mem: byte 132: the trace ends without its footer: it is "
            "truncated");
  EXPECT_EQ(ReadBytes(bytes.substr(0, bytes.size() - 5)).error,
            "mem: byte 132: the trace ends within a record: it is truncated");
}

TEST(DrmReader, TraceWithoutEventsIsAnError) {
  EXPECT_EQ(ReadBytes(Begun().End().text()).error,
            "mem: holds no events, only records of other kinds");
}

TEST(DrmReader, ReadsEveryCompression) {
  const std::string bytes = Ended(Begun().Load(0x7000));
  const WholeTrace plain = ReadBytes(bytes);
  for (const Compression compression : kCompressed) {
    const WholeTrace whole = ReadBytes(Compress(bytes, compression));
    EXPECT_EQ(whole.error, "");
    EXPECT_EQ(whole.events, plain.events);
    EXPECT_EQ(whole.info.format,
              "drmemtrace+" + std::string(Suffix(compression)));
  }
  EXPECT_EQ(ReadBytes(Compress(bytes.substr(0, 100), Compression::kGzip)).error,
            "mem: byte 96 unpacked: the trace ends within a record: it is "
            "truncated");
}

// Chunk 0 and 1 of a zip.
std::string FirstChunk() {
  return Begun().Instr(0x1000).Marker(kDrmChunkFooter, 0).text();
}
std::string LastChunk() {
  return Ended(DrmBytes()
                   .Marker(kDrmRecordOrdinal, 7)
                   .Time(1000)
                   .Add(kDrmEncoding, 4, 0));
}

TEST(DrmReader, ReadsTheChunksOfAZip) {
  const WholeTrace whole = ReadBytes(
      Zip({{"chunk.0000", FirstChunk()}, {"chunk.0001", LastChunk()}}));
  EXPECT_EQ(whole.error, "");
  EXPECT_EQ(whole.events,
            (std::vector<TraceEvent>{Fetch(0x1000), Fetch(0x400000)}));
  EXPECT_EQ(whole.info.format, "drmemtrace+zip");
}

TEST(DrmReader, BadChunksOfAZipAreErrors) {
  const auto error = [](const std::string& first, const std::string& last) {
    return ReadBytes(Zip({{"chunk.0000", first}, {"chunk.0001", last}})).error;
  };
  const std::string first = FirstChunk();
  EXPECT_EQ(error(first.substr(0, first.size() - 12), LastChunk()),
            "mem: chunk.0000: byte 96 unpacked: chunk.0000 ends without a "
            "chunk footer: it is truncated");
  EXPECT_EQ(error(first.substr(0, first.size() - 4), LastChunk()),
            "mem: chunk.0000: byte 96 unpacked: the trace ends within a "
            "record: it is truncated");
  EXPECT_EQ(error(first + DrmBytes().Instr(0x1004).text(), LastChunk()),
            "mem: chunk.0000: byte 96 unpacked: records follow the footer of a "
            "chunk");
  EXPECT_EQ(error(Begun().Marker(kDrmChunkFooter, 3).text(), LastChunk()),
            "mem: chunk.0000: byte 84 unpacked: the footer of chunk 3 is in "
            "chunk 0");
  const std::string last = LastChunk();
  EXPECT_EQ(error(first, last.substr(0, last.size() - 12)),
            "mem: chunk.0001: byte 72 unpacked: the trace ends without its "
            "footer: it is truncated");
}

TEST(DrmReader, BuffersCutNothing) {
  DrmBytes bytes = Begun();
  for (uint64_t i = 0; i < 12000; ++i) {
    bytes.Instr(0x1000 + 4 * i).Add(kDrmEncoding, 4, 0).Load(0x7000 + 8 * i);
    bytes.Call(11, i, 1).Return(11, 0).Marker(kDrmSyscallFailed, 22);
  }
  const std::string text = bytes.End().text();
  const WholeTrace one = ReadBytes(text, 1);
  const WholeTrace many = ReadBytes(Compress(text, Compression::kLz4), 100000);
  EXPECT_EQ(one.error, "");
  EXPECT_EQ(one.events.size(), 36000u);
  EXPECT_TRUE(one.events == many.events);
  EXPECT_TRUE(one.calls == many.calls);
  for (const MemoryCall& call : one.calls) ASSERT_EQ(call.error, 22);
}

TEST(DrmReader, FormatOverrulesContent) {
  TraceOptions options;
  options.format = TraceFormat::kDrmemtrace;
  EXPECT_EQ(
      ReadAll(OpenTraceFromMemory("mem", " L 1000,8\n S 2000,8\n", options))
          .error,
      "mem: byte 0: a record of type 19488 is where a trace has its "
      "header (25)");
  options.format = TraceFormat::kLackey;
  EXPECT_TRUE(ReadAll(OpenTraceFromMemory("mem", Ended(Begun()), options))
                  .error.starts_with("mem: line 1: "));
}

TEST(DrmReader, TracesOf32BitProgramsAreNamed) {
  const std::string bytes("\x19\0\0\0\x04\0\0\0\x1c\0\x0c\0\x04\0\0\0", 16);
  EXPECT_EQ(ReadBytes(bytes).error,
            "mem: is a drmemtrace trace of a 32-bit program (records of 8 "
            "bytes), which is not read");
}

}  // namespace
}  // namespace lookaside
