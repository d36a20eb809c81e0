// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/memory_call.h"

#include <fmt/format.h>

#include <span>

namespace lookaside {
namespace {

struct NamedNumber {
  uint32_t number;
  std::string_view name;
};

constexpr NamedNumber kProts[] = {{kProtRead, "PROT_READ"},
                                  {kProtWrite, "PROT_WRITE"},
                                  {kProtExec, "PROT_EXEC"}};

// What follows the type of the mapping.
constexpr NamedNumber kMapFlags[] = {
    {kMapFixed, "MAP_FIXED"},
    {kMapAnonymous, "MAP_ANONYMOUS"},
    {kMap32Bit, "MAP_32BIT"},
    {kMapGrowsDown, "MAP_GROWSDOWN"},
    {0x800, "MAP_DENYWRITE"},
    {kMapLocked, "MAP_LOCKED"},
    {kMapNoReserve, "MAP_NORESERVE"},
    {kMapPopulate, "MAP_POPULATE"},
    {kMapNonblock, "MAP_NONBLOCK"},
    {kMapStack, "MAP_STACK"},
    {kMapHugeTlb, "MAP_HUGETLB"},
    {kMapFixedNoReplace, "MAP_FIXED_NOREPLACE"},
};

constexpr NamedNumber kMremapFlags[] = {
    {kMremapMayMove, "MREMAP_MAYMOVE"},
    {kMremapFixed, "MREMAP_FIXED"},
    {kMremapDontUnmap, "MREMAP_DONTUNMAP"},
};

// Those that decide between a thread and a process.
constexpr NamedNumber kCloneFlags[] = {{kCloneFlagVm, "CLONE_VM"},
                                       {kCloneFlagVfork, "CLONE_VFORK"},
                                       {kCloneFlagThread, "CLONE_THREAD"}};

constexpr NamedNumber kAdvices[] = {
    {kMadvNormal, "MADV_NORMAL"},
    {kMadvRandom, "MADV_RANDOM"},
    {kMadvSequential, "MADV_SEQUENTIAL"},
    {kMadvWillNeed, "MADV_WILLNEED"},
    {kMadvDontNeed, "MADV_DONTNEED"},
    {kMadvFree, "MADV_FREE"},
    {kMadvRemove, "MADV_REMOVE"},
    {kMadvDontFork, "MADV_DONTFORK"},
    {kMadvDoFork, "MADV_DOFORK"},
    {kMadvMergeable, "MADV_MERGEABLE"},
    {kMadvUnmergeable, "MADV_UNMERGEABLE"},
    {kMadvHugePage, "MADV_HUGEPAGE"},
    {kMadvNoHugePage, "MADV_NOHUGEPAGE"},
    {kMadvCold, "MADV_COLD"},
    {kMadvPageOut, "MADV_PAGEOUT"},
    {kMadvPopulateRead, "MADV_POPULATE_READ"},
    {kMadvPopulateWrite, "MADV_POPULATE_WRITE"},
    {kMadvDontNeedLocked, "MADV_DONTNEED_LOCKED"},
    {kMadvCollapse, "MADV_COLLAPSE"},
};

// The errors that memory-management calls have (errno(3)).
constexpr NamedNumber kErrors[] = {
    {1, "EPERM"},      {2, "ENOENT"},  {7, "E2BIG"},    {8, "ENOEXEC"},
    {9, "EBADF"},      {11, "EAGAIN"}, {12, "ENOMEM"},  {13, "EACCES"},
    {14, "EFAULT"},    {16, "EBUSY"},  {17, "EEXIST"},  {19, "ENODEV"},
    {22, "EINVAL"},    {23, "ENFILE"}, {26, "ETXTBSY"}, {38, "ENOSYS"},
    {75, "EOVERFLOW"},
};

void Append(std::string_view part, std::string& text) {
  if (!text.empty()) text += '|';
  text += part;
}

// "A|B|0x40"; `none` where no bit is set.
std::string Bits(uint32_t bits, std::span<const NamedNumber> names,
                 std::string_view none, std::string text = "") {
  for (const NamedNumber& named : names) {
    if ((bits & named.number) == 0) continue;
    Append(named.name, text);
    bits &= ~named.number;
  }
  if (bits != 0) Append(fmt::format("{:#x}", bits), text);
  return text.empty() ? std::string(none) : text;
}

std::string NameOf(uint32_t number, std::span<const NamedNumber> names) {
  for (const NamedNumber& named : names) {
    if (named.number == number) return std::string(named.name);
  }
  return fmt::format("{}", number);
}

std::string MapFlags(uint32_t flags) {
  constexpr std::string_view kTypes[] = {"", "MAP_SHARED", "MAP_PRIVATE",
                                         "MAP_SHARED_VALIDATE"};
  const uint32_t type = flags & kMapType;
  if (type == 0 || type >= std::size(kTypes))
    return Bits(flags, kMapFlags, "0");
  return Bits(flags & ~kMapType, kMapFlags, "0", std::string(kTypes[type]));
}

std::string Prot(uint32_t prot) { return Bits(prot, kProts, "PROT_NONE"); }

std::string MremapArguments(const MemoryCall& call) {
  std::string text =
      fmt::format("{:#x}, {}, {}, {}", call.address.value(), call.length,
                  call.new_length, Bits(call.flags, kMremapFlags, "0"));
  if ((call.flags & kMremapFixed) != 0) {
    text += fmt::format(", {:#x}", call.new_address.value());
  }
  return text;
}

std::string Arguments(const MemoryCall& call) {
  const uint64_t address = call.address.value();
  switch (call.kind) {
    case CallKind::kMmap:
      return fmt::format("{:#x}, {}, {}, {}, {}, {}", address, call.length,
                         Prot(call.prot), MapFlags(call.flags), call.fd,
                         call.offset);
    case CallKind::kMunmap:
      return fmt::format("{:#x}, {}", address, call.length);
    case CallKind::kMprotect:
      return fmt::format("{:#x}, {}, {}", address, call.length,
                         Prot(call.prot));
    case CallKind::kMremap:
      return MremapArguments(call);
    case CallKind::kBrk:
      return fmt::format("{:#x}", address);
    case CallKind::kMadvise:
      return fmt::format("{:#x}, {}, {}", address, call.length,
                         NameOf(static_cast<uint32_t>(call.advice), kAdvices));
    case CallKind::kClone:
    case CallKind::kFork:
      return Bits(call.flags, kCloneFlags, "");
    case CallKind::kExecve:
    case CallKind::kExit:
    case CallKind::kExitGroup:
      return "";
  }
  return "";
}

std::string Result(const MemoryCall& call) {
  // Its answer is an address even then.
  if (call.kind != CallKind::kBrk && !call.succeeded()) {
    return "-1 " + NameOf(static_cast<uint32_t>(call.error), kErrors);
  }
  switch (call.kind) {
    case CallKind::kMmap:
    case CallKind::kMremap:
    case CallKind::kBrk:
      return fmt::format("{:#x}", call.result.value());
    case CallKind::kClone:
    case CallKind::kFork:
      return call.child == MemoryCall::kNoThread
                 ? "an unknown thread"
                 : fmt::format("thread {}", call.child);
    case CallKind::kExit:
    case CallKind::kExitGroup:
      return "?";
    default:
      return "0";
  }
}

}  // namespace

std::string_view Name(CallKind kind) {
  constexpr std::string_view kNames[] = {
      "mmap",  "munmap", "mprotect", "mremap", "brk",       "madvise",
      "clone", "fork",   "execve",   "exit",   "exit_group"};
  static_assert(std::size(kNames) == kCallKinds);
  return kNames[static_cast<size_t>(kind)];
}

std::string ToString(const MemoryCall& call) {
  return fmt::format("{}({}) = {}", Name(call.kind), Arguments(call),
                     Result(call));
}

}  // namespace lookaside
