// SPDX-License-Identifier: Apache-2.0
//
// Independent references of unequal popularity: Che's approximation for LRU
// (Che, Tung, Wang 2002) and its like for FIFO and random replacement
// (Martina, Garetto, Leonardi 2014; Gelenbe 1973), under Zipf; and the exact
// miss ratio curve of LRU from stack distances (Mattson et al. 1970).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <list>
#include <vector>

#include "lookaside/base/rng.h"
#include "lookaside/test/tlb/demand_tlb.h"
#include "lookaside/test/tlb/tlb_test_config.h"

namespace lookaside {
namespace {

constexpr uint32_t kPages = 1000;
constexpr uint32_t kEntries = 64;
constexpr int kWarmUp = 20000;
constexpr int kAccesses = 200000;

// The approximations are good to a few thousandths at this size (Fricker,
// Robert, Roberts 2012 bound Che's for Zipf); 0.004 for them, and five sigma
// for the sample.
constexpr double kModelError = 0.004;

class Zipf {
 public:
  explicit Zipf(double exponent) {
    double sum = 0;
    for (uint32_t i = 1; i <= kPages; ++i) sum += std::pow(i, -exponent);
    double below = 0;
    for (uint32_t i = 1; i <= kPages; ++i) {
      probability_.push_back(std::pow(i, -exponent) / sum);
      below_.push_back(below += probability_.back());
    }
  }

  uint64_t Draw(Rng& rng) const {
    const double u = static_cast<double>(rng.Next() >> 11) * 0x1p-53;
    const auto page = std::upper_bound(below_.begin(), below_.end(), u);
    return static_cast<uint64_t>(page - below_.begin());
  }
  const std::vector<double>& probability() const { return probability_; }

 private:
  std::vector<double> probability_;
  std::vector<double> below_;
};

double LruHit(double q, double t) { return 1 - std::exp(-q * t); }
double FifoHit(double q, double t) { return q * t / (1 + q * t); }

// The characteristic time T solves sum of h_i(T) = entries; the hit ratio is
// then the sum of q_i h_i.
double HitRatio(const Zipf& zipf, double (*hit)(double, double)) {
  double low = 0, high = 1e9;
  for (int i = 0; i < 200; ++i) {
    const double t = (low + high) / 2;
    double held = 0;
    for (double q : zipf.probability()) held += hit(q, t);
    (held < kEntries ? low : high) = t;
  }
  double ratio = 0;
  for (double q : zipf.probability()) ratio += q * hit(q, low);
  return ratio;
}

double Simulate(const Zipf& zipf, TlbReplacement replacement) {
  DemandTlb array(ArrayOf(kEntries, kEntries, replacement));
  Rng rng(8);
  for (int i = 0; i < kWarmUp; ++i) array.Access(zipf.Draw(rng));
  int hits = 0;
  for (int i = 0; i < kAccesses; ++i) hits += array.Access(zipf.Draw(rng));
  return hits / double{kAccesses};
}

class IndependentReferences : public testing::TestWithParam<double> {};

TEST_P(IndependentReferences, LruHitsAsChesApproximationSays) {
  const Zipf zipf(GetParam());
  const double want = HitRatio(zipf, LruHit);
  EXPECT_NEAR(Simulate(zipf, TlbReplacement::kLru), want,
              kModelError + FiveSigma(want, kAccesses));
}

TEST_P(IndependentReferences, FifoAndRandomHitAlikeAndLessThanLru) {
  const Zipf zipf(GetParam());
  const double want = HitRatio(zipf, FifoHit);
  const double fifo = Simulate(zipf, TlbReplacement::kFifo);
  const double random = Simulate(zipf, TlbReplacement::kRandom);
  const double sigma = FiveSigma(want, kAccesses);
  EXPECT_NEAR(fifo, want, kModelError + sigma);
  EXPECT_NEAR(random, want, kModelError + sigma);
  EXPECT_NEAR(fifo, random, 2 * sigma);  // exactly equal in the mean
  EXPECT_LT(want + kModelError + sigma, HitRatio(zipf, LruHit));
}

INSTANTIATE_TEST_SUITE_P(Zipf, IndependentReferences,
                         testing::Values(0.8, 0.99, 1.2));

// How many different pages were used since this one was last; `kPages` if it
// was not.
class StackDistances {
 public:
  uint32_t Next(uint64_t page) {
    uint32_t distance = 0;
    for (auto it = stack_.begin(); it != stack_.end(); ++it, ++distance) {
      if (*it != page) continue;
      stack_.splice(stack_.begin(), stack_, it);
      return distance;
    }
    stack_.push_front(page);
    return kPages;
  }

 private:
  std::list<uint64_t> stack_;
};

TEST(StackDistance, AFullyAssociativeLruHitsExactlyWhatIsNearEnough) {
  const Zipf zipf(0.8);
  Rng rng(12);
  StackDistances distances;
  std::array<uint64_t, kPages + 1> accesses_at{};
  std::vector<uint64_t> trace;
  for (int i = 0; i < 20000; ++i) {
    trace.push_back(zipf.Draw(rng));
    ++accesses_at.at(distances.Next(trace.back()));
  }
  for (uint32_t entries : {1u, 2u, 3u, 4u, 8u, 12u, 16u, 31u, 64u, 200u}) {
    DemandTlb array(ArrayOf(entries, entries, TlbReplacement::kLru));
    uint64_t hits = 0;
    for (uint64_t page : trace) hits += array.Access(page);
    uint64_t want = 0;
    for (uint32_t d = 0; d < entries; ++d) want += accesses_at.at(d);
    EXPECT_EQ(hits, want) << entries << " entries";
  }
}

}  // namespace
}  // namespace lookaside
