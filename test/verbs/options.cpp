// SPDX-License-Identifier: BSD-3-Clause
// What is chosen, by options and by the environment, and what is said where it is not there. Runs
// in the guest, which has one adapter: rxe0, of one port.

#include <cstdlib>
#include <string>

#include "test/verbs/ends.h"

namespace {

/// "" where it opens.
std::string opens(const nbc_verbs_options &options, int expected) {
  nbc_device *device = nullptr;
  const char *why = "";
  EXPECT_EQ(nbc_verbs_open(&options, &device, &why), expected) << why;
  if (device) device->close(device);
  return why;
}

TEST(Options, deviceAndPortByName) {
  nbc_verbs_options o = {};
  o.device = "rxe0";
  o.port = 1;
  EXPECT_EQ(opens(o, 0), "");
  o.port = 2;
  EXPECT_EQ(opens(o, NBC_ERROR_DEVICE),
            "no active port of rxe0, port 2; there are: rxe0 port 1 (RoCE, active)");
  o.device = "mlx5_0";
  o.port = 0;
  EXPECT_EQ(opens(o, NBC_ERROR_DEVICE),
            "no active port of mlx5_0; there are: rxe0 port 1 (RoCE, active)");
}

TEST(Options, theEnvironmentSaysWhatIsLeftOpen) {
  Set variable("NBC_VERBS_DEVICE", "rxe7:1");
  EXPECT_EQ(opens({}, NBC_ERROR_DEVICE),
            "no active port of rxe7, port 1; there are: rxe0 port 1 (RoCE, active)");
  nbc_verbs_options o = {};
  o.device = "rxe0";
  EXPECT_EQ(opens(o, 0), "");
}

TEST(Options, memory) {
  nbc_verbs_options o = {};
  o.memory = NBC_VERBS_PINNED;
  EXPECT_EQ(opens(o, 0), "");
  o.memory = NBC_VERBS_ON_DEMAND;
  EXPECT_EQ(opens(o, NBC_ERROR_DEVICE), "rxe0 has no on-demand paging of reliable connections");
  o.memory = nbc_verbs_memory(NBC_VERBS_ON_DEMAND + 1);
  EXPECT_EQ(opens(o, NBC_ERROR_ARGUMENT), "nbc_verbs_options are out of range");
  Set variable("NBC_VERBS_MEMORY", "paged");
  EXPECT_EQ(opens({}, NBC_ERROR_ARGUMENT),
            "NBC_VERBS_MEMORY is 'paged'; it is to be pinned or demand");
}

TEST(Options, ofPackets) {
  {
    Set mtu("NBC_VERBS_MTU", "512"), level("NBC_VERBS_SERVICE_LEVEL", "3"),
        traffic("NBC_VERBS_TRAFFIC_CLASS", "106"), retries("NBC_VERBS_RETRIES", "7");
    Pair p;
    const nbc_verbs_address card = p.a.address();
    enum { MTU = 28 };  // where a card says it
    EXPECT_EQ(reinterpret_cast<const unsigned char *>(&card)[MTU], IBV_MTU_512);
    ASSERT_EQ(p.b.receive(1, p.b.run(0, 5000)), 0);
    ASSERT_EQ(p.a.send(2, {p.a.run(0, 5000)}, 0), 0);
    EXPECT_EQ(p.b.next().byte_len, 5000u);
  }
  const struct {
    const char *name, *value, *wanted;
  } wrong[] = {{"NBC_VERBS_MTU", "1500", "256, 512, 1024, 2048 or 4096"},
               {"NBC_VERBS_MTU", "8192", "256, 512, 1024, 2048 or 4096"},
               {"NBC_VERBS_SERVICE_LEVEL", "16", "0 to 15"},
               {"NBC_VERBS_TRAFFIC_CLASS", "high", "0 to 255"},
               {"NBC_VERBS_TIMEOUT", "32", "1 to 31"},
               {"NBC_VERBS_RETRIES", "0", "1 to 7"}};
  for (const auto &w : wrong) {
    Set variable(w.name, w.value);
    EXPECT_EQ(opens({}, NBC_ERROR_ARGUMENT),
              std::string(w.name) + " is '" + w.value + "'; it is to be " + w.wanted);
  }
}

TEST(Options, theGid) {
  nbc_verbs_options o = {};
  o.gid_index = 9;
  const std::string why = opens(o, NBC_ERROR_DEVICE);
  EXPECT_EQ(why.rfind("rxe0 port 1 has no GID 9; there are: 0 (RoCE v2, fe80::", 0), 0u) << why;
  EXPECT_NE(why.find(", 1 (RoCE v2, ::ffff:10.0.0.1)"), std::string::npos) << why;
  Set variable("NBC_VERBS_GID", "8");
  EXPECT_NE(opens({}, NBC_ERROR_DEVICE).find("has no GID 8"), std::string::npos);
  o.gid_index = 1;
  EXPECT_EQ(opens(o, 0), "");
}

TEST(Options, thatCannotBe) {
  const char *range = "nbc_verbs_options are out of range";
  nbc_verbs_options o = {};
  o.gid_index = -2;
  EXPECT_EQ(opens(o, NBC_ERROR_ARGUMENT), range);
  o = {};
  o.retry_count = 8;
  EXPECT_EQ(opens(o, NBC_ERROR_ARGUMENT), range);
  o = {};
  o.timeout = 32;
  EXPECT_EQ(opens(o, NBC_ERROR_ARGUMENT), range);
  o = {};
  o.service_level = 16;
  EXPECT_EQ(opens(o, NBC_ERROR_ARGUMENT), range);
  EXPECT_EQ(nbc_verbs_open(nullptr, nullptr, nullptr), NBC_ERROR_ARGUMENT);
  {
    Set variable("NBC_VERBS_DEVICE", "rxe0:x");
    EXPECT_EQ(
        opens({}, NBC_ERROR_ARGUMENT),
        "NBC_VERBS_DEVICE is 'rxe0:x'; it is to be a device, or device:port; or at most 4, as "
        "a:1,b:1; or all");
  }
  {
    Set variable("NBC_VERBS_GID", "256");
    EXPECT_EQ(opens({}, NBC_ERROR_ARGUMENT),
              "NBC_VERBS_GID is '256'; it is to be an index, 0 to 255");
  }
  {
    Set variable("NBC_VERBS_OFFERS", "maybe");
    EXPECT_EQ(opens({}, NBC_ERROR_ARGUMENT),
              "NBC_VERBS_OFFERS is 'maybe'; it is to be kept or anew");
  }
  {
    Set variable("NBC_VERBS_PATIENCE", "-1");
    EXPECT_EQ(opens({}, NBC_ERROR_ARGUMENT),
              "NBC_VERBS_PATIENCE is '-1'; it is to be microseconds, 0 to 1000000");
  }
  {
    Set variable("NBC_VERBS_TRANSFER", "dma");
    EXPECT_EQ(opens({}, NBC_ERROR_ARGUMENT),
              "NBC_VERBS_TRANSFER is 'dma'; it is to be eager, write, read, send, direct or auto");
  }
  {
    Set variable("NBC_VERBS_RNR_TIMER", "0");
    EXPECT_EQ(opens({}, NBC_ERROR_ARGUMENT),
              "NBC_VERBS_RNR_TIMER is '0'; it is to be a code, 1 to 31");
  }
  EXPECT_EQ(opens({.rnr_timer = 32}, NBC_ERROR_ARGUMENT), range);
  EXPECT_EQ(opens({.transfer = NBC_TRANSFER_PIO}, NBC_ERROR_ARGUMENT), range);
  EXPECT_EQ(opens({.patience = 1000001}, NBC_ERROR_ARGUMENT), "nbc_verbs_options are out of range");
  Set variable("NBC_VERBS_RENDEZVOUS", "wright");
  EXPECT_EQ(opens({}, NBC_ERROR_ARGUMENT),
            "NBC_VERBS_RENDEZVOUS is 'wright'; it is to be write, read, send or direct");
}

TEST(Options, theRendezvous) {
  for (const auto &[name, way] : {std::pair{"read", NBC_VERBS_READ},
                                  {"send", NBC_VERBS_SEND},
                                  {"direct", NBC_VERBS_DIRECT}}) {
    nbc_verbs_facts facts = {};
    Set variable("NBC_VERBS_RENDEZVOUS", name), timer("NBC_VERBS_RNR_TIMER", "12");
    nbc_verbs *v = openAdapter();
    v->ops->facts(v, &facts);
    EXPECT_EQ(facts.rendezvous, way);
    EXPECT_EQ(facts.rnr_timer, 12u);
    v->device.close(&v->device);
  }
}

TEST(Options, theWayOfTransfer) {
  nbc_verbs_facts facts = {};
  const auto ask = [&](const nbc_verbs_options &options) {
    nbc_verbs *v = openAdapter(options);
    v->ops->facts(v, &facts);
    v->device.close(&v->device);
    return facts.transfer;
  };
  EXPECT_EQ(ask({}), NBC_TRANSFER_AUTO);
  Set variable("NBC_VERBS_TRANSFER", "eager");
  EXPECT_EQ(ask({}), NBC_TRANSFER_EAGER);
  EXPECT_EQ(ask({.transfer = NBC_TRANSFER_READ}), NBC_TRANSFER_READ);
}

TEST(Options, offersAndPatience) {
  nbc_verbs_facts facts = {};
  const auto ask = [&](const nbc_verbs_options &options) {
    nbc_verbs *v = openAdapter(options);
    v->ops->facts(v, &facts);
    v->device.close(&v->device);
  };
  ask({});
  EXPECT_EQ(facts.offers, NBC_VERBS_KEPT);
  EXPECT_EQ(facts.patience, 4000u);
  Set offers("NBC_VERBS_OFFERS", "anew"), patience("NBC_VERBS_PATIENCE", "0");
  ask({});
  EXPECT_EQ(facts.offers, NBC_VERBS_ANEW);
  EXPECT_EQ(facts.patience, 0u);
  ask({.patience = 7});
  EXPECT_EQ(facts.patience, 7000u);
}

}  // namespace
