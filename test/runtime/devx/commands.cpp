// SPDX-License-Identifier: BSD-3-Clause
// Commands to the adapter's firmware, byte by byte: expected is what the tables say (mlx5_ifc.h),
// put down by hand, and nothing else but zeros.

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <array>
#include <cstring>
#include <initializer_list>
#include <string>

extern "C" {
#include "runtime/devx/commands.h"
}

namespace {

using Bytes = std::array<uint8_t, DEVX_COMMAND_BYTES>;

/// Bytes that begin there, as hexadecimal digits.
struct Piece {
  size_t at;
  const char *digits;
};

Bytes bytesOf(std::initializer_list<Piece> pieces) {
  Bytes all = {};
  for (const Piece &p : pieces) {
    size_t at = p.at;
    for (const char *d = p.digits; *d; d += *d == ' ' ? 1 : 2)
      if (*d != ' ')
        all.at(at++) = static_cast<uint8_t>(std::stoul(std::string(d, 2), nullptr, 16));
  }
  return all;
}

void expectBytes(const Bytes &found, std::initializer_list<Piece> pieces) {
  const Bytes wanted = bytesOf(pieces);
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(int(found[i]), int(wanted[i])) << "byte 0x" << std::hex << i;
}

/// What was there before is to be gone.
Bytes rubbish() {
  Bytes all;
  all.fill(0xa5);
  return all;
}

TEST(Commands, aCompletionQueue) {
  Bytes c = rubbish();
  devx_cq_wish wish = {.log_entries = 7,
                       .page = 0x123456,
                       .event_queue = 9,
                       .overruns = true,
                       .ring = {0x11223344, 0x40},
                       .record = {0x55667788, 0x0102030405060740}};
  devx_put_create_cq(c.data(), &wish);
  expectBytes(c, {{0x00, "0400"},
                  {0x10, "02 02"},  // dbr_umem_valid, oi
                  {0x14, "55667788"},
                  {0x1c, "07 123456"},
                  {0x24, "00000009"},
                  {0x48, "0102030405060740"},
                  {0x50, "0000000000000040"},
                  {0x58, "11223344 80"}});
  // Of one entry it is collapsed; one that may not overrun.
  wish.log_entries = 0;
  wish.overruns = false;
  devx_put_create_cq(c.data(), &wish);
  EXPECT_EQ(c[0x11], 0x10);
  EXPECT_EQ(c[0x1c], 0);
}

TEST(Commands, aListOfReceives) {
  Bytes c = rubbish();
  const devx_receives_wish wish = {.log_entries = 11,
                                   .log_stride = 6,
                                   .domain = 0x00abcdef,
                                   .ring = {0x11223344, 0x1000},
                                   .record = {0x55667788, 0x3000}};
  devx_put_create_receives(c.data(), &wish);
  expectBytes(c, {{0x00, "090c"},
                  {0x21, "10"},  // ready
                  {0x59, "abcdef"},
                  {0x60, "0000000000003000"},
                  {0x71, "06"},
                  {0x73, "0b"},
                  {0x74, "c0"},
                  {0x78, "55667788"},
                  {0x7c, "11223344"},
                  {0x80, "0000000000001000"}});
}

devx_qp_wish pairWish() {
  return {.domain = 0xabcdef,
          .page = 0x123456,
          .send_cq = 0x010203,
          .recv_cq = 0x040506,
          .log_sq = 9,
          .log_rq = 5,
          .log_stride = 6,
          .receives = 0,
          .master = false,
          .slave = false,
          .ring = {0x11223344, 0},
          .record = {0x55667788, 0x8800}};
}

TEST(Commands, aQueuePairWithReceivesOfItsOwn) {
  Bytes c = rubbish();
  const devx_qp_wish wish = pairWish();
  devx_put_create_qp(c.data(), &wish);
  expectBytes(c, {{0x00, "0500"},
                  {0x1a, "18"},  // migrated
                  {0x1d, "abcdef"},
                  {0x21, "2a 48 40"},  // 2^5 receives of 16 << 2 bytes; 2^9 WQEBBs; time stamps
                  {0x25, "123456"},
                  {0x29, "ffffff"},
                  {0x95, "010203"},
                  {0xb5, "040506"},
                  {0xb8, "0000000000008800"},
                  {0xe8, "10"},  // dbr_umem_valid
                  {0xfc, "55667788"},
                  {0x108, "11223344 80"}});
}

TEST(Commands, aManagedQueuePairWithAListOfReceives) {
  Bytes c = rubbish();
  devx_qp_wish wish = pairWish();
  wish.log_rq = UINT32_MAX;
  wish.receives = 0x778899;
  wish.master = wish.slave = true;
  wish.ring.offset = 0x2000;
  devx_put_create_qp(c.data(), &wish);
  EXPECT_EQ(c[0x21], 0);     // no receives of its own
  EXPECT_EQ(c[0xab], 0x03);  // cd_slave_send, cd_master
  EXPECT_EQ(c[0xc4], 0x01);  // of a list
  EXPECT_EQ(memcmp(&c[0xc5], "\x77\x88\x99", 3), 0);
  EXPECT_EQ(c[0x106], 0x20);  // where the ring begins
  wish.receives = 0;
  wish.slave = false;
  devx_put_create_qp(c.data(), &wish);
  EXPECT_EQ(c[0xab], 0x01);
  EXPECT_EQ(c[0xc4], 0x03);  // none
}

TEST(Commands, toInit) {
  Bytes c = rubbish();
  devx_put_init(c.data(), 0x778899, 2);
  expectBytes(c, {{0x00, "0502"}, {0x09, "778899"}, {0x1a, "18"}, {0x55, "02"}, {0xaa, "c0"}});
}

const uint8_t gid[16] = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};

devx_peer peer() {
  devx_peer p = {.number = 0x445566,
                 .first_packet = 0x0a0b0c,
                 .mtu = IBV_MTU_2048,
                 .log_reads = 4,
                 .rnr_timer = 12,
                 .way = {.port = 1,
                         .service_level = 5,
                         .traffic_class = 0x6c,
                         .lid = 0x1234,
                         .global = false,
                         .roce = false,
                         .gid_index = 3,
                         .hops = 64,
                         .gid = {},
                         .mac = {0x10, 0x20, 0x30, 0x40, 0x50, 0x60},
                         .udp_port = 0xc123}};
  memcpy(p.way.gid, gid, sizeof gid);
  return p;
}

// What does not depend on the way there.
#define TO_A_PEER                                                                       \
  {0x00, "0503"}, {0x09, "778899"}, {0x10, "0000000a"}, {0x20, "9e"}, {0x2d, "445566"}, \
      {0x55, "01"}, {0xa9, "80 c0"}, {0xac, "0c 0a0b0c"}

TEST(Commands, toAPeerOfTheSubnet) {
  Bytes c = rubbish();
  const devx_peer p = peer();
  devx_put_receive_ready(c.data(), 0x778899, &p);
  expectBytes(c, {TO_A_PEER, {0x36, "1234"}, {0x54, "05"}});
}

TEST(Commands, toAPeerOfAnotherSubnet) {
  Bytes c = rubbish();
  devx_peer p = peer();
  p.way.global = true;
  devx_put_receive_ready(c.data(), 0x778899, &p);
  expectBytes(c, {TO_A_PEER,
                  {0x35, "80 1234"},
                  {0x39, "03"},
                  {0x3b, "40 06 c0"},
                  {0x40, "fe80000000000000 0102030405060708"},
                  {0x54, "05"}});
}

TEST(Commands, toAPeerByEthernet) {
  Bytes c = rubbish();
  devx_peer p = peer();
  p.way.roce = true;
  devx_put_receive_ready(c.data(), 0x778899, &p);
  expectBytes(c, {TO_A_PEER,
                  {0x39, "03"},
                  {0x3b, "40 06 c0"},
                  {0x40, "fe80000000000000 0102030405060708"},
                  {0x51, "1b c123 50"},
                  {0x56, "102030405060"}});
}

TEST(Commands, toSend) {
  Bytes c = rubbish();
  devx_put_send_ready(c.data(), 0x778899, 0x0a0b0c, 3);
  expectBytes(
      c, {{0x00, "0504"}, {0x09, "778899"}, {0x38, "90"}, {0x88, "80 67 e0"}, {0x91, "0a0b0c"}});
}

TEST(Commands, whatWasMadeHasANumber) {
  const uint8_t reply[DEVX_REPLY_BYTES] = {0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0x12, 0x34, 0x56};
  EXPECT_EQ(devx_number(reply), 0x123456u);
}

}  // namespace
