// SPDX-License-Identifier: Apache-2.0
// The smallest fuzz target: shows that the rule builds and runs one. The
// input is read to its last byte, so that a wrong size is found.
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  volatile unsigned sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum = sum + data[i];
  return 0;
}
