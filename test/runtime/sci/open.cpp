// SPDX-License-Identifier: BSD-3-Clause
// How a device is opened: what it finds out, and what is said where it cannot be.

#include <cstdlib>

#include "test/runtime/sci/world.h"

namespace {

struct Variable {
  const char *name;
  Variable(const char *n, const char *value) : name(n) { setenv(n, value, 1); }
  ~Variable() { unsetenv(name); }
};

/// What is said; "": it went well.
std::string opened(nbc_sci_options options,
                   const std::function<void(const nbc_sci_facts &)> &see = {}) {
  nbc_device *device = nullptr;
  const char *why = "";
  if (nbc_sci_open_with(&hooked(), &options, &device, &why)) return why;
  if (see) see(reinterpret_cast<nbc_sci *>(device)->facts);
  device->close(device);
  return "";
}

class SciOpen : public testing::Test {
 protected:
  sisci::Fabric fabric{
      {.facts = {.dmaChannels = 2, .longestTransfer = 4096, .longestVector = 7, .alignment = 16}}};
  unsigned adapter = fabric.addAdapter();
};

TEST_F(SciOpen, TheAdapterIsAsked) {
  EXPECT_EQ(opened({.adapter = adapter + 1},
                   [&](const nbc_sci_facts &f) {
                     EXPECT_EQ(f.node, fabric.node(adapter));
                     EXPECT_EQ(f.align, 16u);
                     EXPECT_EQ(f.vector, 7u);
                     EXPECT_EQ(f.longest, 4096u);
                     EXPECT_EQ(f.queues, 2u);
                     EXPECT_EQ(f.dma_bytes, 8192u);
                     EXPECT_EQ(f.timeout, 10000u);
                   }),
            "");
}

TEST_F(SciOpen, TheEnvironmentSaysWhatTheProgramDoesNot) {
  const Variable bytes("NBC_SCI_DMA_BYTES", "300"), queues("NBC_SCI_QUEUES", "3");
  EXPECT_EQ(opened({.adapter = adapter + 1, .queues = 1},
                   [](const nbc_sci_facts &f) {
                     EXPECT_EQ(f.dma_bytes, 300u);
                     EXPECT_EQ(f.queues, 1u);
                   }),
            "");
  const Variable transfer("NBC_SCI_TRANSFER", "pio");
  EXPECT_EQ(opened({.adapter = adapter + 1},
                   [](const nbc_sci_facts &f) {
                     EXPECT_EQ(f.transfer, NBC_TRANSFER_PIO);
                     EXPECT_FALSE(f.interrupts);
                     EXPECT_EQ(f.patience, 64u);
                   }),
            "");
  const Variable waiting("NBC_SCI_WAITING", "interrupt"), patience("NBC_SCI_PATIENCE", "5");
  EXPECT_EQ(opened({.adapter = adapter + 1},
                   [](const nbc_sci_facts &f) {
                     EXPECT_TRUE(f.interrupts);
                     EXPECT_EQ(f.patience, 5u);
                   }),
            "");
  EXPECT_EQ(opened({.adapter = adapter + 1, .waiting = NBC_SCI_POLL},
                   [](const nbc_sci_facts &f) { EXPECT_FALSE(f.interrupts); }),
            "");
}

TEST_F(SciOpen, WordsSayWhatIsWrong) {
  EXPECT_EQ(opened({.adapter = adapter + 6}), "there is no adapter " + std::to_string(adapter + 5) +
                                                  "; among the first 16 there are: none");
  EXPECT_EQ(opened({.queues = 1000}), "nbc_sci_options are out of range");
  EXPECT_EQ(opened({.transfer = nbc_transfer(3)}), "nbc_sci_options are out of range");
  {
    const Variable v("NBC_SCI_TRANSFER", "both");
    EXPECT_EQ(opened({}), "NBC_SCI_TRANSFER is 'both'; it is to be auto, pio or dma");
  }
  {
    const Variable v("NBC_SCI_WAITING", "sleep");
    EXPECT_EQ(opened({}), "NBC_SCI_WAITING is 'sleep'; it is to be poll or interrupt");
  }
  {
    const Variable v("NBC_SCI_DMA_BYTES", "8K");
    EXPECT_EQ(opened({}), "NBC_SCI_DMA_BYTES is '8K'; it is to be a number, 1 to 4294967295");
  }
  {
    const Variable v("NBC_SCI_ADAPTER", "-1");
    EXPECT_EQ(opened({}), "NBC_SCI_ADAPTER is '-1'; it is to be a number, 0 to 1073741823");
  }
}

TEST_F(SciOpen, ALibraryThatIsNotThereOrIsNoneIsNamed) {
  nbc_device *device = nullptr;
  const char *why = "";
  {
    const Variable v("NBC_SISCI_LIBRARY", "/none.so");
    EXPECT_EQ(nbc_sci_open(nullptr, &device, &why), NBC_ERROR_DEVICE);
    EXPECT_EQ(std::string(why).find("SISCI's library, /none.so, cannot be loaded: "), 0u) << why;
  }
  const Variable v("NBC_SISCI_LIBRARY", "libm.so.6");
  EXPECT_EQ(nbc_sci_open(nullptr, &device, &why), NBC_ERROR_DEVICE);
  EXPECT_EQ(std::string(why),
            "libm.so.6 has no SCIInitialize, so it is not the library of SISCI that is needed");
  EXPECT_EQ(nbc_sci_open(nullptr, nullptr, nullptr), NBC_ERROR_ARGUMENT);
}

}  // namespace
