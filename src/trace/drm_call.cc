// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/drm_call.h"

#include <iterator>
#include <span>

#include "lookaside/base/address.h"
#include "lookaside/base/check.h"

namespace lookaside {
namespace {

struct Number {
  uint64_t number;
  CallKind kind;
};

// arch/x86/entry/syscalls/syscall_64.tbl; clone3 is told by its number alone.
constexpr Number kX86Numbers[] = {
    {9, CallKind::kMmap},     {10, CallKind::kMprotect},
    {11, CallKind::kMunmap},  {12, CallKind::kBrk},
    {25, CallKind::kMremap},  {28, CallKind::kMadvise},
    {56, CallKind::kClone},   {57, CallKind::kFork},
    {58, CallKind::kFork},    {59, CallKind::kExecve},
    {60, CallKind::kExit},    {231, CallKind::kExitGroup},
    {322, CallKind::kExecve}, {435, CallKind::kClone},
};
constexpr uint64_t kX86Vfork = 58;

// include/uapi/asm-generic/unistd.h.
constexpr Number kAarch64Numbers[] = {
    {93, CallKind::kExit},      {94, CallKind::kExitGroup},
    {214, CallKind::kBrk},      {215, CallKind::kMunmap},
    {216, CallKind::kMremap},   {220, CallKind::kClone},
    {221, CallKind::kExecve},   {222, CallKind::kMmap},
    {226, CallKind::kMprotect}, {233, CallKind::kMadvise},
    {281, CallKind::kExecve},   {435, CallKind::kClone},
};
constexpr uint64_t kClone3 = 435;  // its arguments are in memory

// How many arguments it takes to know what was asked.
size_t Needed(CallKind kind) {
  switch (kind) {
    case CallKind::kMmap:
    case CallKind::kMremap:
      return 4;
    case CallKind::kMprotect:
    case CallKind::kMadvise:
      return 3;
    case CallKind::kMunmap:
      return 2;
    case CallKind::kBrk:
    case CallKind::kClone:
      return 1;
    default:
      return 0;
  }
}

bool IsPageAddress(uint64_t value) {
  return value != 0 && value % kPageBytes == 0 &&
         IsCanonical(VirtAddr(value), 5);
}

uint32_t Low(uint64_t value) { return static_cast<uint32_t>(value); }

}  // namespace

std::optional<CallKind> DrmCallKind(uint64_t number, DrmArch arch) {
  if (arch == DrmArch::kUnknown) return std::nullopt;
  const std::span<const Number> numbers =
      arch == DrmArch::kX86 ? std::span<const Number>(kX86Numbers)
                            : std::span<const Number>(kAarch64Numbers);
  for (const Number& known : numbers) {
    if (known.number == number) return known.kind;
  }
  return std::nullopt;
}

void DrmCall::Begin(uint64_t number, DrmArch arch) {
  begun_ = true;
  number_ = number;
  kind_ = DrmCallKind(number, arch);
  argument_count_ = 0;
  arguments_ = {};
  call_ = MemoryCall();
}

void DrmCall::AddArgument(uint64_t value) {
  if (argument_count_ < arguments_.size()) {
    arguments_[argument_count_++] = value;
  }
}

// False where they are too few.
bool DrmCall::SetArguments() {
  if (number_ == kClone3 || argument_count_ < Needed(*kind_)) return false;
  const auto& a = arguments_;
  call_.kind = *kind_;
  switch (*kind_) {
    case CallKind::kMmap:
      call_.address = VirtAddr(a[0]);
      call_.length = a[1];
      call_.prot = Low(a[2]);
      call_.flags = Low(a[3]);
      if (argument_count_ > 4) call_.fd = static_cast<int32_t>(Low(a[4]));
      call_.offset = a[5];
      break;
    case CallKind::kMremap:
      call_.address = VirtAddr(a[0]);
      call_.length = a[1];
      call_.new_length = a[2];
      call_.flags = Low(a[3]);
      call_.new_address = VirtAddr(a[4]);
      return (call_.flags & kMremapFixed) == 0 || argument_count_ > 4;
    case CallKind::kClone:
      call_.flags = Low(a[0]);
      if ((call_.flags & kCloneFlagVm) == 0 ||
          (call_.flags & kCloneFlagVfork) != 0) {
        call_.kind = CallKind::kFork;
      }
      break;
    case CallKind::kFork:
      if (number_ == kX86Vfork) call_.flags = kCloneFlagVm | kCloneFlagVfork;
      break;
    default:
      call_.address = VirtAddr(a[0]);
      call_.length = a[1];
      call_.prot = *kind_ == CallKind::kMprotect ? Low(a[2]) : 0;
      call_.advice =
          *kind_ == CallKind::kMadvise ? static_cast<int32_t>(Low(a[2])) : 0;
      break;
  }
  return true;
}

// False where it is not known.
bool DrmCall::SetResult(uint64_t value) {
  switch (call_.kind) {
    case CallKind::kMmap:
      if (IsPageAddress(value)) {
        call_.result = VirtAddr(value);
        return true;
      }
      call_.result = call_.address;
      return (call_.flags & (kMapFixed | kMapFixedNoReplace)) != 0;
    case CallKind::kMremap:
      if (IsPageAddress(value)) {
        call_.result = VirtAddr(value);
        return true;
      }
      if ((call_.flags & kMremapFixed) != 0) {
        call_.result = call_.new_address;
        return true;
      }
      call_.result = call_.address;
      return (call_.flags & kMremapMayMove) == 0 ||
             call_.new_length <= call_.length;
    case CallKind::kBrk:
      call_.result = call_.address;
      return call_.address.value() != 0;
    default:
      return true;
  }
}

DrmCall::Outcome DrmCall::Return(uint64_t value) {
  LOOKASIDE_DCHECK(begun_);
  if (!kind_.has_value()) return Outcome::kNone;
  // As the kernel itself returns an error.
  const auto error = -static_cast<int64_t>(value);
  if (error > 0 && error <= kMostErrno)
    return Fail(static_cast<int32_t>(error));
  begun_ = false;
  if (!SetArguments()) return Outcome::kWithoutArguments;
  return SetResult(value) ? Outcome::kCall : Outcome::kWithoutAddress;
}

DrmCall::Outcome DrmCall::Fail(int32_t error) {
  LOOKASIDE_DCHECK(begun_);
  if (!kind_.has_value()) return Outcome::kNone;
  begun_ = false;
  if (!SetArguments()) return Outcome::kWithoutArguments;
  call_.error = error;
  return Outcome::kCall;
}

DrmCall::Outcome DrmCall::Abandon() {
  if (!begun_ || !kind_.has_value()) return Outcome::kNone;
  begun_ = false;
  return argument_count_ < Needed(*kind_) || number_ == kClone3
             ? Outcome::kWithoutArguments
             : Outcome::kWithoutResult;
}

DrmCall::Outcome DrmCall::Exit() {
  LOOKASIDE_DCHECK(kind_ == CallKind::kExit || kind_ == CallKind::kExitGroup);
  begun_ = false;
  call_.kind = *kind_;
  return Outcome::kCall;
}

}  // namespace lookaside
