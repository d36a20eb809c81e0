// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/call_operation.h"

namespace lookaside {
namespace {

Protection ProtectionOf(uint32_t prot) {
  return {.read = (prot & kProtRead) != 0,
          .write = (prot & kProtWrite) != 0,
          .exec = (prot & kProtExec) != 0};
}

std::optional<OperationKind> AdviceKind(int32_t advice) {
  switch (advice) {
    case kMadvDontNeed:
    case kMadvDontNeedLocked:
    case kMadvRemove:
      return OperationKind::kMadviseDontNeed;
    case kMadvFree:
      return OperationKind::kMadviseFree;
    case kMadvHugePage:
      return OperationKind::kMadviseHugePage;
    case kMadvNoHugePage:
      return OperationKind::kMadviseNoHugePage;
    case kMadvCollapse:
      return OperationKind::kMadviseCollapse;
    default:
      return std::nullopt;
  }
}

Operation MmapOf(const MemoryCall& call) {
  Operation operation;
  operation.kind = OperationKind::kMmap;
  operation.address = call.result;
  operation.length = call.length;
  operation.protection = ProtectionOf(call.prot);
  const uint32_t type = call.flags & kMapType;
  operation.shared = type == kMapShared || type == kMapSharedValidate;
  operation.hugetlb = (call.flags & kMapHugeTlb) != 0;
  return operation;
}

Operation MremapOf(const MemoryCall& call) {
  Operation operation;
  operation.kind = OperationKind::kMremap;
  operation.address = call.address;
  operation.length = call.length;
  operation.new_address = call.result;
  operation.new_length = call.new_length;
  operation.dont_unmap = (call.flags & kMremapDontUnmap) != 0;
  return operation;
}

Operation RangeOf(OperationKind kind, const MemoryCall& call) {
  Operation operation;
  operation.kind = kind;
  operation.address = call.address;
  operation.length = call.length;
  operation.protection = ProtectionOf(call.prot);
  return operation;
}

std::optional<Operation> BrkOf(const MemoryCall& call) {
  Operation operation;
  operation.kind = OperationKind::kBrk;
  operation.address = call.result;
  return operation;
}

}  // namespace

std::optional<Operation> OperationOf(const MemoryCall& call) {
  if (!call.succeeded()) return std::nullopt;
  Operation plain;
  switch (call.kind) {
    case CallKind::kMmap:
      return MmapOf(call);
    case CallKind::kMunmap:
      return RangeOf(OperationKind::kMunmap, call);
    case CallKind::kMprotect:
      if (call.length == 0) return std::nullopt;
      return RangeOf(OperationKind::kMprotect, call);
    case CallKind::kMremap:
      return MremapOf(call);
    case CallKind::kBrk:
      return BrkOf(call);
    case CallKind::kMadvise: {
      const std::optional<OperationKind> kind = AdviceKind(call.advice);
      if (!kind || call.length == 0) return std::nullopt;
      return RangeOf(*kind, call);
    }
    case CallKind::kClone:
      plain.kind = OperationKind::kCloneThread;
      return plain;
    case CallKind::kFork:
      plain.kind = OperationKind::kFork;
      return plain;
    case CallKind::kExecve:
      plain.kind = OperationKind::kExec;
      return plain;
    case CallKind::kExit:
    case CallKind::kExitGroup:
      plain.kind = OperationKind::kExit;
      return plain;
  }
  return std::nullopt;
}

}  // namespace lookaside
