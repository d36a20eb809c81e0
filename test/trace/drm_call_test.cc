// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/drm_call.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lookaside {
namespace {

using Outcome = DrmCall::Outcome;

DrmCall Begun(uint64_t number, const std::vector<uint64_t>& arguments,
              DrmArch arch = DrmArch::kX86) {
  DrmCall call;
  call.Begin(number, arch);
  for (const uint64_t argument : arguments) call.AddArgument(argument);
  return call;
}

// As trace head prints it, or what is missing.
std::string Returned(uint64_t number, const std::vector<uint64_t>& arguments,
                     uint64_t value = 1, DrmArch arch = DrmArch::kX86) {
  DrmCall call = Begun(number, arguments, arch);
  switch (call.Return(value)) {
    case Outcome::kNone:
      return "none";
    case Outcome::kCall:
      return ToString(call.call());
    case Outcome::kWithoutArguments:
      return "without arguments";
    case Outcome::kWithoutResult:
      return "without result";
    case Outcome::kWithoutAddress:
      return "without address";
  }
  return "";
}

constexpr uint64_t kMinusOne = ~uint64_t{0};

TEST(DrmCall, PutsEveryCallTogether) {
  EXPECT_EQ(Returned(9, {0x7000, 8192, 3, 0x32, kMinusOne, 0}),
            "mmap(0x7000, 8192, PROT_READ|PROT_WRITE, "
            "MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = 0x7000");
  EXPECT_EQ(Returned(10, {0x7000, 4096, 1}),
            "mprotect(0x7000, 4096, PROT_READ) = 0");
  EXPECT_EQ(Returned(11, {0x7000, 4096}), "munmap(0x7000, 4096) = 0");
  EXPECT_EQ(Returned(12, {0x9000}), "brk(0x9000) = 0x9000");
  EXPECT_EQ(Returned(25, {0x7000, 4096, 8192, 3, 0x20000}),
            "mremap(0x7000, 4096, 8192, MREMAP_MAYMOVE|MREMAP_FIXED, 0x20000) "
            "= 0x20000");
  EXPECT_EQ(Returned(28, {0x7000, 4096, 4}),
            "madvise(0x7000, 4096, MADV_DONTNEED) = 0");
  EXPECT_EQ(Returned(56, {0x10100}),
            "clone(CLONE_VM|CLONE_THREAD) = an unknown thread");
  EXPECT_EQ(Returned(56, {0x11}), "fork(0x11) = an unknown thread");
  EXPECT_EQ(Returned(57, {}), "fork() = an unknown thread");
  EXPECT_EQ(Returned(58, {}), "fork(CLONE_VM|CLONE_VFORK) = an unknown thread");
  EXPECT_EQ(Returned(1, {1, 2, 3}), "none");
}

TEST(DrmCall, KnowsTheNumbersOfAarch64) {
  EXPECT_EQ(Returned(215, {0x7000, 4096}, 1, DrmArch::kAarch64),
            "munmap(0x7000, 4096) = 0");
  EXPECT_EQ(DrmCallKind(93, DrmArch::kAarch64), CallKind::kExit);
  EXPECT_EQ(DrmCallKind(11, DrmArch::kAarch64), std::nullopt);
  EXPECT_EQ(DrmCallKind(11, DrmArch::kUnknown), std::nullopt);
}

TEST(DrmCall, AddressOfAMappingIsKnownOrNotInvented) {
  const std::vector<uint64_t> anywhere = {0, 8192, 3, 0x22, kMinusOne, 0};
  EXPECT_EQ(Returned(9, anywhere), "without address");
  EXPECT_TRUE(Returned(9, anywhere, 0x12000).ends_with("= 0x12000"));
  EXPECT_TRUE(
      Returned(9, {0x7000, 4096, 3, 0x100022}).ends_with("0) = 0x7000"));
  EXPECT_EQ(Returned(25, {0x7000, 4096, 8192, 1}), "without address");
  EXPECT_TRUE(Returned(25, {0x7000, 4096, 8192, 0}).ends_with("= 0x7000"));
  EXPECT_TRUE(Returned(25, {0x7000, 8192, 4096, 1}).ends_with("= 0x7000"));
  EXPECT_EQ(Returned(12, {0}), "without address");
}

TEST(DrmCall, TooFewArgumentsAreToldApart) {
  EXPECT_EQ(Returned(9, {0, 8192, 3}), "without arguments");
  EXPECT_EQ(Returned(10, {0x7000, 4096}), "without arguments");
  EXPECT_EQ(Returned(11, {0x7000}), "without arguments");
  EXPECT_EQ(Returned(12, {}), "without arguments");
  EXPECT_EQ(Returned(25, {0x7000, 4096, 8192, 3}), "without arguments");
  EXPECT_EQ(Returned(28, {}), "without arguments");
  EXPECT_EQ(Returned(56, {}), "without arguments");
  // clone3: they are in memory.
  EXPECT_EQ(Returned(435, {0x7000, 88}), "without arguments");
}

TEST(DrmCall, FailuresKeepTheirError) {
  DrmCall call = Begun(11, {0x7001, 4096});
  EXPECT_EQ(call.Fail(22), Outcome::kCall);
  EXPECT_EQ(ToString(call.call()), "munmap(0x7001, 4096) = -1 EINVAL");
  // As a recorder that keeps the value would write it.
  EXPECT_EQ(Returned(11, {0x7001, 4096}, kMinusOne - 21),
            "munmap(0x7001, 4096) = -1 EINVAL");
}

TEST(DrmCall, CallsThatNeverReturn) {
  DrmCall call = Begun(11, {0x7000, 4096});
  EXPECT_TRUE(call.is(11));
  EXPECT_EQ(call.Abandon(), Outcome::kWithoutResult);
  EXPECT_FALSE(call.is(11));
  EXPECT_EQ(call.Abandon(), Outcome::kNone);
  EXPECT_EQ(Begun(11, {}).Abandon(), Outcome::kWithoutArguments);
  EXPECT_EQ(Begun(59, {}).Abandon(), Outcome::kWithoutResult);
  EXPECT_EQ(Begun(1, {}).Abandon(), Outcome::kNone);
  DrmCall exit = Begun(60, {});
  EXPECT_EQ(exit.Exit(), Outcome::kCall);
  EXPECT_EQ(exit.call().kind, CallKind::kExit);
}

}  // namespace
}  // namespace lookaside
