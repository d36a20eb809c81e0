// SPDX-License-Identifier: Apache-2.0
//
// Records of DynamoRIO's drmemtrace "final" traces (trace_entry_t of
// clients/drcachesim/common/trace_entry.h, as of 2025; versions 2 to 7 and the
// header of version 1 that older files have). A record is 12 bytes, packed and
// little-endian: u16 type, u16 size, u64 value.
//
//   memory, instruction   size in bytes, value the address
//   bundle                size instructions behind the last; value their bytes
//   marker                size says which, value is the marker's
//   thread, its exit, pid value the number
//   encoding              size bytes of an instruction's code, value the bytes
//
// Leaves out: records of 8 bytes (of 32-bit targets), and raw traces, which
// drraw2trace has yet to make final.
#ifndef LOOKASIDE_TRACE_DRM_RECORD_H_
#define LOOKASIDE_TRACE_DRM_RECORD_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace lookaside {

// Names with no number follow the one before; those that nothing asks for by
// name are in DrmTypeName only.
enum DrmType : uint16_t {
  kDrmRead = 0,
  kDrmWrite = 1,
  kDrmInstr = 10,  // up to kDrmReturn: by what it does
  kDrmReturn = 16,
  kDrmBundle = 17,
  kDrmThread = 22,
  kDrmThreadExit = 23,
  kDrmPid = 24,
  kDrmHeader = 25,
  kDrmFooter = 26,
  kDrmMarker = 28,
  kDrmNoFetch = 29,  // one more round of a repeated string instruction
  kDrmSysenter = 31,
  kDrmEncoding = 47,
  kDrmTakenJump = 48,
  kDrmUntakenJump = 49,
};
inline constexpr uint16_t kDrmTypes = 51;

enum DrmMarker : uint16_t {
  kDrmTimestamp = 2,  // microseconds since 1601
  kDrmCpu = 3,
  kDrmFuncId = 4,
  kDrmFuncRetAddr = 5,
  kDrmFuncArg = 6,
  kDrmFuncRetVal = 7,  // of a system call: 1 it succeeded, 0 it did not
  kDrmFileType = 9,
  kDrmCacheLine = 10,
  kDrmVersion = 12,
  kDrmPageSize = 18,
  kDrmChunkInstrs = 20,
  kDrmChunkFooter = 21,  // value: number of the chunk
  kDrmRecordOrdinal = 22,
  kDrmSyscall = 25,
  kDrmSyscallTraceStart = 27,
  kDrmSyscallTraceEnd = 28,
  kDrmSyscallFailed = 30,  // value: errno
  kDrmSwitchStart = 34,
  kDrmSwitchEnd = 35,
};
inline constexpr uint16_t kDrmMarkers = 47;
inline constexpr uint16_t kDrmFirstUserMarker = 101;

// Of the marker kDrmFileType.
inline constexpr uint64_t kDrmInstructionOnly = 0x4;
inline constexpr uint64_t kDrmAarch64 = 0x8;
inline constexpr uint64_t kDrm32Bit = 0x10 | 0x20;
inline constexpr uint64_t kDrmFiltered = 0x1 | 0x80 | 0x100;
inline constexpr uint64_t kDrmCoreSharded = 0x10000;

inline constexpr uint64_t kDrmLegacyVersion = 1;
inline constexpr uint64_t kDrmLastVersion = 7;

// A system call's function id is this and its number.
inline constexpr uint64_t kDrmSyscallFunc = uint64_t{1} << 32;

struct DrmRecord {
  uint16_t type = 0;
  uint16_t size = 0;
  uint64_t value = 0;
};
inline constexpr size_t kDrmRecordBytes = 12;

// REQUIRES: kDrmRecordBytes bytes at `bytes`.
inline DrmRecord LoadDrmRecord(const char* bytes) {
  static_assert(std::endian::native == std::endian::little);
  DrmRecord record;
  std::memcpy(&record.type, bytes, 2);
  std::memcpy(&record.size, bytes + 2, 2);
  std::memcpy(&record.value, bytes + 4, 8);
  return record;
}

// In the plural: "prefetches into L1". REQUIRES: type < kDrmTypes.
std::string_view DrmTypeName(uint16_t type);
// "branch-target markers". REQUIRES: marker < kDrmMarkers.
std::string_view DrmMarkerName(uint16_t marker);

// Whether a file that begins so is a drmemtrace final trace, of whatever
// version, or one with records of 8 bytes.
bool LooksLikeDrm(std::string_view head);
bool LooksLikeDrm32(std::string_view head);
inline constexpr std::string_view kDrm32NotRead =
    "is a drmemtrace trace of a 32-bit program (records of 8 bytes), which is "
    "not read";

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_DRM_RECORD_H_
