// SPDX-License-Identifier: Apache-2.0
//
// drmemtrace traces built record by record, for tests.
//
//   DrmBytes bytes;
//   bytes.Begin(7).Instr(0x400000, 4).Load(0x7000, 8).End();
//   Use(bytes.text());
#ifndef LOOKASIDE_TEST_TRACE_DRM_BYTES_H_
#define LOOKASIDE_TEST_TRACE_DRM_BYTES_H_

#include <cstdint>
#include <string>
#include <utility>

#include "lookaside/trace/drm_record.h"

namespace lookaside {

class DrmBytes {
 public:
  DrmBytes& Add(uint16_t type, uint16_t size, uint64_t value) {
    Append(type, 2);
    Append(size, 2);
    Append(value, 8);
    return *this;
  }
  DrmBytes& Marker(uint16_t marker, uint64_t value) {
    return Add(kDrmMarker, marker, value);
  }

  // What a file of a thread begins with.
  DrmBytes& Begin(uint64_t version, uint64_t file_type = 0x40,
                  uint64_t tid = 100, uint64_t pid = 100) {
    Add(kDrmHeader, 0, version);
    if (version > kDrmLegacyVersion) {
      Marker(kDrmVersion, version).Marker(kDrmFileType, file_type);
    }
    return Thread(tid, pid);
  }
  DrmBytes& Thread(uint64_t tid, uint64_t pid) {
    return Add(kDrmThread, 4, tid).Add(kDrmPid, 4, pid);
  }
  DrmBytes& Time(uint64_t timestamp) {
    return Marker(kDrmTimestamp, timestamp).Marker(kDrmCpu, 0);
  }
  DrmBytes& Instr(uint64_t address, uint16_t size = 4) {
    return Add(kDrmInstr, size, address);
  }
  DrmBytes& Load(uint64_t address, uint16_t size = 8) {
    return Add(kDrmRead, size, address);
  }
  DrmBytes& Store(uint64_t address, uint16_t size = 8) {
    return Add(kDrmWrite, size, address);
  }
  // A system call of x86-64 with these arguments, up to its return.
  template <typename... Arguments>
  DrmBytes& Call(uint64_t number, Arguments... arguments) {
    Marker(kDrmSyscall, number).Marker(kDrmFuncId, kDrmSyscallFunc + number);
    (Marker(kDrmFuncArg, static_cast<uint64_t>(arguments)), ...);
    return *this;
  }
  DrmBytes& Return(uint64_t number, uint64_t value) {
    return Marker(kDrmFuncId, kDrmSyscallFunc + number)
        .Marker(kDrmFuncRetVal, value);
  }
  DrmBytes& End(uint64_t tid = 100) {
    return Add(kDrmThreadExit, 4, tid).Add(kDrmFooter, 0, 0);
  }

  const std::string& text() const { return text_; }

 private:
  void Append(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      text_ += static_cast<char>((value >> (8 * i)) & 0xff);
    }
  }

  std::string text_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TEST_TRACE_DRM_BYTES_H_
