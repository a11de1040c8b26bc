// SPDX-License-Identifier: BSD-3-Clause
// own_waits.cpp - queues go on, each as far as it can, until none can.

#include "codegen/coredirect/own_waits.h"

#include <map>
#include <set>

#include "codegen/coredirect/words.h"

namespace nbcc::crosschannel {
namespace {

using Kind = WordEntry::Kind;

class Run {
 public:
  Run(const View &view, const nbc_variant &variant) : view_(view), queues_(view.queues.size()) {
    for (uint32_t q = 0; q < queues_.size(); ++q)
      if (const nbc_segment *s = view.segment(variant.segments, q, NBC_RING_SEND))
        queues_[q].entries = view.entries(*s);
    for (uint32_t q = 0; q < queues_.size(); ++q) ready_.push_back(q);
    while (!ready_.empty()) {
      const uint32_t q = ready_.back();
      ready_.pop_back();
      advance(q);
    }
  }

  std::vector<StuckWait> stuck() const {
    std::vector<StuckWait> all;
    for (uint32_t q = 0; q < queues_.size(); ++q)
      if (const Queue &queue = queues_[q]; queue.next < queue.entries.size())
        all.push_back({q, queue.entries[queue.next]});
    return all;
  }

 private:
  using Name = std::pair<uint32_t, uint32_t>;  // row and word

  struct Queue {
    std::vector<Entry> entries;
    size_t next = 0;
  };

  void advance(uint32_t q) {
    Queue &queue = queues_[q];
    for (; queue.next < queue.entries.size(); ++queue.next) {
      const WordEntry w = view_.word(queue.entries[queue.next]);
      if (w.kind == Kind::wait && isOwn(w) && !written_.contains({w.queue, w.word}))
        return waiting_[{w.queue, w.word}].push_back(q);
      if (w.kind == Kind::ask) write({q, w.into});
      if (w.kind == Kind::tell && view_.queues[q].kind != NBC_QUEUE_CHAIN) write({q, w.word});
    }
  }

  /// Whether the word waited for is written by this rank: all but messages and clear-to-sends.
  bool isOwn(const WordEntry &w) const {
    return w.queue >= queues_.size() || view_.queues[w.queue].kind != NBC_QUEUE_CHAIN ||
           sortOf(w.word) == Word::answer;
  }

  void write(Name word) {
    written_.insert(word);
    const auto found = waiting_.find(word);
    if (found == waiting_.end()) return;
    ready_.insert(ready_.end(), found->second.begin(), found->second.end());
    waiting_.erase(found);
  }

  const View &view_;
  std::vector<Queue> queues_;
  std::vector<uint32_t> ready_;
  std::set<Name> written_;
  std::map<Name, std::vector<uint32_t>> waiting_;
};

}  // namespace

std::vector<StuckWait> stuckWaits(const View &view, const nbc_variant &variant) {
  return Run(view, variant).stuck();
}

}  // namespace nbcc::crosschannel
