// SPDX-License-Identifier: Apache-2.0
#include "lookaside/machine/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lookaside/base/status.h"

namespace lookaside {
namespace {

TEST(Topology, NumbersThreadsWithinCoresWithinSockets) {
  const Topology topology({.sockets = 2,
                           .cores_per_socket = 4,
                           .threads_per_core = 2,
                           .mhz = 2000,
                           .numa = 2});
  EXPECT_EQ(topology.cpus(), 16u);
  EXPECT_EQ(topology.nodes(), 4u);
  EXPECT_EQ(topology.CoreOf(CpuId(9)), CoreId(4));
  EXPECT_EQ(topology.ThreadOf(CpuId(9)), ThreadSlot(1));
  EXPECT_EQ(topology.SocketOf(CpuId(7)), SocketId(0));
  EXPECT_EQ(topology.SocketOf(CpuId(8)), SocketId(1));
  EXPECT_EQ(topology.NodeOf(CpuId(0)), NodeId(0));
  EXPECT_EQ(topology.NodeOf(CpuId(4)), NodeId(1));
  EXPECT_EQ(topology.NodeOf(CpuId(8)), NodeId(2));
  EXPECT_EQ(topology.NodeOf(CpuId(15)), NodeId(3));
}

TEST(TopologyConfig, ErrorsNameTheKeyAndWhatIsAllowed) {
  struct Case {
    TopologyConfig config;
    const char* want;
  };
  const Case cases[] = {
      {{.sockets = 0}, "machine.sockets = 0: must be from 1 to 4096"},
      {{.cores_per_socket = 24, .numa = 7},
       "machine.numa = 7: the cores of a socket (machine.cores_per_socket = "
       "24) cannot be dealt to as many memory nodes in equal parts; 1, 2, 3, "
       "4, 6, 8 can"},
      {{.threads_per_core = 9},
       "machine.threads_per_core = 9: must be from 1 to 8"},
      {{.mhz = 0}, "machine.mhz = 0: must be from 1 to 100000"},
      {{.sockets = 64, .cores_per_socket = 65, .threads_per_core = 1},
       "machine: 64 sockets of 65 cores of 1 threads are 4160 hardware "
       "threads; at most 4096 are possible"},
      {{.cores_per_socket = 2, .numa = 4},
       "machine.numa = 4: a socket of 2 cores has at most as many memory "
       "nodes"},
  };
  for (const Case& c : cases) EXPECT_EQ(Message(Validate(c.config)), c.want);
  EXPECT_TRUE(Validate({.sockets = 4096}).ok());
}

}  // namespace
}  // namespace lookaside
