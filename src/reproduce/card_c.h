// SPDX-License-Identifier: Apache-2.0
//
// Card C: from how many pages on a full flush is cheaper than one page at a
// time.
//
// Published: Alex Shi's balance for a TLB of 512 entries, (512 - X) refills =
// X INVLPGs, so X = 256 where both cost 100 ns (Linux e7b52ffd45a6); Dave
// Hansen's measurement on an Ivy Bridge, 22,000 cycles to refill 512 entries
// or about 85 page flushes, and his ceiling of 33, which he expected to lose
// 3 microseconds at worst (Linux a5102476a24b).
//
// Simulated: a program maps 512 pages and touches them all; the kernel takes
// the write permission from X of them, page by page or by a full flush; then
// the program touches a share of the rest. The cost of an arm is what the
// flush and the refills took. One level of 512 entries, fully associative, as
// the balance assumes.
//
// Left out: everything beside the TLB (the IPIs, which both arms send alike).
#ifndef LOOKASIDE_REPRODUCE_CARD_C_H_
#define LOOKASIDE_REPRODUCE_CARD_C_H_

#include "lookaside/reproduce/card.h"

namespace lookaside {

Card CardC();

}  // namespace lookaside

#endif  // LOOKASIDE_REPRODUCE_CARD_C_H_
