// SPDX-License-Identifier: BSD-3-Clause
// library.cpp - the process's library: begun and ended, descriptors, and what every call does
// first.

#include "devices/sisci/engine.h"

namespace sisci {

thread_local int inLibrary = 0;

/// Never destroyed: threads of the program may call until the very end.
Library &library() {
  static Library *one = new Library;
  return *one;
}

Call::Call(sci_error_t *error, unsigned flags, unsigned honoured, unsigned known)
    : error_(error ? error : &ignored_), lock((++inLibrary, library().mutex)) {
  *error_ = SCI_ERR_OK;
  if (!library().initialized)
    fail(SCI_ERR_NOT_INITIALIZED);
  else if (flags & ~(honoured | known))
    fail(SCI_ERR_ILLEGAL_FLAG);
  else if (flags & ~honoured)
    fail(SCI_ERR_FLAG_NOT_IMPLEMENTED);
  for (Network *n : library().networks)
    if (n->options.adversarial && n->below(8) == 0) n->leakSomewhere();
}

Adapter *Call::adapter(unsigned number) {
  if (!ok_) return nullptr;
  Adapter *found = library().adapter(number);
  if (!found)
    fail(SCI_ERR_NO_SUCH_ADAPTERNO);
  else if (found->network->isDead(found->node))
    fail(SCI_ERR_NO_LINK_ACCESS);
  return ok_ ? found : nullptr;
}

}  // namespace sisci

using namespace sisci;

void SCIInitialize(unsigned flags, sci_error_t *error) {
  sci_error_t ignored;
  if (!error) error = &ignored;
  Library &lib = library();
  std::unique_lock<std::mutex> guard(lib.mutex);
  *error = flags ? SCI_ERR_ILLEGAL_FLAG : SCI_ERR_OK;
  if (*error == SCI_ERR_OK && !lib.initialized && !lib.fabrics) *error = openEnvironment(lib);
  if (*error == SCI_ERR_OK) ++lib.initialized;
}

void SCITerminate(void) {
  Library &lib = library();
  std::unique_ptr<Network> gone;
  {
    std::unique_lock<std::mutex> guard(lib.mutex);
    if (!lib.initialized || --lib.initialized) return;
    ++inLibrary;
    if (lib.environment) {
      std::erase(lib.networks, lib.environment.get());
      for (Adapter &a : lib.environment->adapters) lib.adapters.erase(a.number);
      gone = std::move(lib.environment);
    }
    // Its thread has to end before what it looks at.
    guard.unlock();
    if (gone) gone->stopService();
    guard.lock();
    lib.handles.clear();
    --inLibrary;
  }
}

void SCIOpen(sci_desc_t *sd, unsigned flags, sci_error_t *error) {
  Call call(error, flags, 0);
  if (!call.given(sd)) return;
  *sd = handleOf<sci_desc_t>(library().handles.add(std::make_unique<Descriptor>()));
}

void SCIClose(sci_desc_t sd, unsigned flags, sci_error_t *error) {
  Call call(error, flags, 0);
  auto *descriptor = call.object<Descriptor>(sd);
  if (!descriptor) return;
  if (descriptor->resources) return call.fail(SCI_ERR_BUSY);
  library().handles.remove(descriptor);
}
