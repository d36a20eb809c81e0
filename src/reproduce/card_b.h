// SPDX-License-Identifier: Apache-2.0
//
// Card B: flushing page by page, against everything, in a micro-benchmark.
//
// Published: Alex Shi's table for his mprotect.c on a Nehalem-EP of two
// sockets of four cores with hyper-threads, Linux 3.4-rc4 and the same with
// his patch (Linux e7b52ffd45a6): the time of an access, with 1 to 128 threads
// that read while one thread takes and gives back rights of 8 pages at a time.
//
// Simulated: the same benchmark (workload/mprotect_generator.h) on the preset
// nehalem-ep, in timed order, with kernels 3.4 (always everything) and 3.6
// (his rule). Two inputs are calibrated, because nothing tells what a read of
// the benchmark costs beside its translation: the cycles of an access without
// readers, on the row of the single process with his patch, and those of an
// access with readers, on the row of one thread with his patch. These two rows
// are training, and not scored.
//
// Left out: what hyper-threads take from each other beside TLBs and walkers.
#ifndef LOOKASIDE_REPRODUCE_CARD_B_H_
#define LOOKASIDE_REPRODUCE_CARD_B_H_

#include "lookaside/reproduce/card.h"

namespace lookaside {

Card CardB();

}  // namespace lookaside

#endif  // LOOKASIDE_REPRODUCE_CARD_B_H_
