// SPDX-License-Identifier: Apache-2.0
#include "lookaside/base/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

namespace lookaside {
namespace {

TEST(Status, EachMakerHasItsCodeAndFormatsItsMessage) {
  const std::string_view name = "stlb";
  const absl::Status status = InvalidArgument("tlb.{}.ways = {}", name, 3);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Message(status), "tlb.stlb.ways = 3");
  EXPECT_EQ(NotFound("a").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(DataLoss("a").code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ResourceExhausted("a").code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(Status, AMessageOfAnOkStatusIsEmpty) {
  EXPECT_EQ(Message(absl::OkStatus()), "");
}

absl::Status StopAt(absl::Status first, int* reached) {
  LOOKASIDE_RETURN_IF_ERROR(first);
  ++*reached;
  if (*reached > 0) LOOKASIDE_RETURN_IF_ERROR(DataLoss("second"));
  ++*reached;
  return absl::OkStatus();
}

TEST(ReturnIfError, ReturnsTheFirstErrorAndPassesOverOk) {
  int reached = 0;
  EXPECT_EQ(Message(StopAt(NotFound("first"), &reached)), "first");
  EXPECT_EQ(reached, 0);
  EXPECT_EQ(Message(StopAt(absl::OkStatus(), &reached)), "second");
  EXPECT_EQ(reached, 1);
}

absl::StatusOr<int> Sum(absl::StatusOr<int> a,
                        absl::StatusOr<std::unique_ptr<int>> b) {
  LOOKASIDE_ASSIGN_OR_RETURN(const int left, a);
  LOOKASIDE_ASSIGN_OR_RETURN(std::unique_ptr<int> right, std::move(b));
  return left + *right;
}

TEST(AssignOrReturn, AssignsValuesEvenMoveOnlyOnes) {
  const absl::StatusOr<int> sum = Sum(2, std::make_unique<int>(3));
  ASSERT_TRUE(sum.ok());
  EXPECT_EQ(*sum, 5);
}

TEST(AssignOrReturn, ReturnsTheError) {
  EXPECT_EQ(Message(Sum(NotFound("left"), std::make_unique<int>(3)).status()),
            "left");
  EXPECT_EQ(Message(Sum(2, NotFound("right")).status()), "right");
}

}  // namespace
}  // namespace lookaside
