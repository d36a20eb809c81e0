// SPDX-License-Identifier: Apache-2.0
//
// The physical memory of the machine: which blocks of 4K, 2M and 1G are in
// use on each NUMA node. Node n owns the frames from n * node_memory / 4 KiB
// on; all nodes are of one size.
//
// Blocks are naturally aligned. A larger block is split when no smaller one
// is free, and comes back whole once all its parts are free again, like
// Linux's buddy allocator (mm/page_alloc.c) with three orders. Among
// candidates the one at the lowest address is taken, so what an allocation
// returns depends on the set of blocks in use and on nothing else.
//
// A full node falls back to the nearest other one: first those of the same
// socket, then the rest, by distance in number and the lower one first (the
// zonelist order, without a distance table). When nothing is left the answer
// is ResourceExhausted; no frame in use is ever handed out again.
//
// Frames of page tables and of data come from different 2M blocks while there
// is room, as Linux keeps unmovable and movable pages in different pageblocks
// (include/linux/mmzone.h, enum migratetype).
//
// Left out: per-CPU lists, zones, watermarks, reserved and firmware memory,
// and giving a block to the other kind.
//
// Invariants: host memory grows with the 1 GiB blocks touched, not with the
// size of the machine. Freeing in any order restores the state before the
// allocations, bit for bit.
//
// Thread-compatible. A value: a copy shares nothing.
//
//   LOOKASIDE_ASSIGN_OR_RETURN(auto frames, FrameAllocator::Create(2, bytes));
//   LOOKASIDE_ASSIGN_OR_RETURN(FrameNumber frame,
//                              frames.Allocate(PageSize::k4K, NodeId(1)));
#ifndef LOOKASIDE_PAGETABLE_FRAME_ALLOCATOR_H_
#define LOOKASIDE_PAGETABLE_FRAME_ALLOCATOR_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "lookaside/base/address.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/ids.h"

namespace lookaside {

// What a frame is for: page tables cannot be moved, a program's pages can.
enum class Mobility : uint8_t { kMovable, kUnmovable };

class FrameAllocator {
 public:
  // `nodes_per_socket` divides `nodes`; 1 where each socket is one node. An
  // error names what is wrong with node_memory (a positive multiple of 1 GiB;
  // all nodes together below the 52 bits of a physical address).
  static absl::StatusOr<FrameAllocator> Create(uint32_t nodes,
                                               uint64_t node_memory,
                                               uint32_t nodes_per_socket = 1);

  // The first frame of a free block, from `node` if it has one.
  // REQUIRES: node.value() < nodes().
  absl::StatusOr<FrameNumber> Allocate(PageSize size, NodeId node,
                                       Mobility mobility = Mobility::kMovable);

  // REQUIRES: `frame` came from Allocate(size, ...) and was not freed since.
  void Free(FrameNumber frame, PageSize size);

  uint32_t nodes() const { return static_cast<uint32_t>(nodes_.size()); }

  // REQUIRES: the frame exists.
  NodeId NodeOf(FrameNumber frame) const {
    return NodeId(static_cast<uint32_t>(frame.value() >> kBlockOrder) /
                  blocks_per_node_);
  }
  // Whether the frame's node is on the socket of `node`. Without a division:
  // every walk that reaches memory asks.
  bool OnSocketOf(FrameNumber frame, NodeId node) const {
    const uint64_t block = frame.value() >> kBlockOrder;
    return block - first_block_of_socket_[node.value()] < blocks_per_socket_;
  }
  bool SameSocket(NodeId a, NodeId b) const {
    return a.value() / nodes_per_socket_ == b.value() / nodes_per_socket_;
  }

  // 4 KiB frames in use on `node`.
  uint64_t used_frames(NodeId node) const {
    return nodes_[node.value()].used_frames;
  }

  void AddTo(Digest& digest) const;

  friend bool operator==(const FrameAllocator&,
                         const FrameAllocator&) = default;

 private:
  static constexpr unsigned kBlockOrder = 18;  // frames of a 1 GiB block
  static constexpr unsigned kPartOrder = 9;    // frames of its 2 MiB parts

  // 512 bits, each about one part of a larger block.
  struct Bits512 {
    std::array<uint64_t, 8> words{};

    static Bits512 AllSet();
    bool Get(unsigned i) const { return words[i / 64] >> (i % 64) & 1; }
    void Set(unsigned i, bool on);
    bool Any() const;
    unsigned Lowest() const;  // REQUIRES: Any()

    friend bool operator==(const Bits512&, const Bits512&) = default;
  };

  // A part of 2 MiB that is split into frames.
  struct Part {
    Mobility mobility = Mobility::kMovable;  // of the first frame taken
    Bits512 free;

    friend bool operator==(const Part&, const Part&) = default;
  };

  // A block of 1 GiB with anything in use: as a whole, or split into parts. A
  // part of a split block is free, in `parts`, or in use as a whole.
  struct Block {
    bool whole = false;
    Bits512 free_parts;
    std::array<Bits512, 2> open_parts;  // by mobility: split, a frame is free
    std::map<uint32_t, Part> parts;

    friend bool operator==(const Block&, const Block&) = default;
  };

  struct Node {
    uint64_t used_frames = 0;
    std::map<uint32_t, Block> blocks;  // those with anything in use
    // Where to look, derived from `blocks`.
    uint32_t end = 0;                             // past the last block in use
    std::set<uint32_t> holes;                     // free blocks below `end`
    std::set<uint32_t> with_part;                 // that have a free part
    std::array<std::set<uint32_t>, 2> with_open;  // an open part, by mobility

    friend bool operator==(const Node&, const Node&) = default;
  };

  FrameAllocator(uint32_t nodes, uint32_t blocks_per_node,
                 uint32_t nodes_per_socket);

  // The block or frame within the node, in frames; nothing if it is full.
  std::optional<uint64_t> AllocateOn(Node& node, PageSize size,
                                     Mobility mobility) const;
  std::optional<uint32_t> TakeBlock(Node& node) const;
  std::optional<uint64_t> TakePart(Node& node) const;
  std::optional<uint64_t> TakeFrame(Node& node, Mobility mobility) const;
  bool OpenPart(Node& node, Mobility mobility) const;
  static void SetOpen(Node& node, uint32_t number, unsigned part,
                      Mobility mobility, bool open);
  static bool FreeFrame(Node& node, uint32_t number, unsigned part,
                        unsigned frame);
  static void FreePart(Node& node, uint32_t number, unsigned part);
  static void FreeBlock(Node& node, uint32_t number);

  uint32_t blocks_per_node_;
  uint32_t nodes_per_socket_;
  uint64_t blocks_per_socket_;
  std::vector<uint64_t> first_block_of_socket_;  // by node
  std::vector<Node> nodes_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_PAGETABLE_FRAME_ALLOCATOR_H_
