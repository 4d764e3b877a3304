//===- ThreadPool.cpp - the threads that run kernels -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/ThreadPool.h"

#include "machine/Machine.h"
#include "runtime/FloatingPoint.h"
#include "runtime/Memory.h"
#include "runtime/ParallelRegion.h"
#include "support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"

#include <csignal>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <set>
#include <system_error>
#include <thread>

namespace spokeshave::runtime {

static thread_local bool isWorker = false;

int defaultThreadCount() {
  int threads;
  if (const char *text = std::getenv("SPOKESHAVE_THREADS"))
    if (!llvm::StringRef(text).getAsInteger(10, threads) && threads > 0)
      return threads;
  return static_cast<int>(machine::availableThreads());
}

struct ThreadPool::State {
  std::mutex mutex;
  std::vector<std::thread> workers;
  std::vector<ParallelRegion *> open;   ///< joinable regions, oldest first
  std::vector<ParallelRegion *> unused; ///< for reuse
  std::deque<llvm::unique_function<void()>> tasks;
  std::atomic<int> threads{1};
  bool stopping = false;
  std::mutex reconfiguring;
  std::atomic<uint32_t> signal{0}; ///< counts news for idle workers; a futex
  std::atomic<int> sleepers{0};

  void workerLoop();
  bool runTask();
  bool joinRegion();
  void idle(uint32_t seen);
  void wake(int count);
  void stop();
  ParallelRegion *acquire();
  void release(ParallelRegion *region);
  ~State() {
    for (ParallelRegion *region : unused)
      delete region;
  }
};

//===----------------------------------------------------------------------===//
// Fork
//===----------------------------------------------------------------------===//

/// The child of a fork has none of the pool's threads, and mutexes in whatever
/// state they were: each pool there gets a new state and starts again lazily.
/// The old one is left behind (its threads cannot be joined).
struct ForkGuard {
  std::mutex mutex;
  std::set<ThreadPool *> pools;

  static ForkGuard &get() {
    static ForkGuard *guard = [] {
      pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); }, [] { child(); });
      return new ForkGuard;
    }();
    return *guard;
  }
  static void child() {
    isWorker = false;
    for (ThreadPool *pool : get().pools) {
      int threads = pool->state->threads.load();
      pool->state = new ThreadPool::State;
      pool->state->threads = threads;
    }
    get().mutex.unlock();
  }
};

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

void ThreadPool::State::workerLoop() {
  isWorker = true;
  setDefaultFloatingPoint(); // not what the creating thread happened to have
  while (true) {
    uint32_t seen = signal.load(std::memory_order_acquire);
    {
      std::lock_guard lock(mutex);
      if (stopping)
        return;
    }
    if (!joinRegion() && !runTask())
      idle(seen);
  }
}

/// A task has nobody to report to: what it throws ends here.
static void runGuarded(llvm::unique_function<void()> &task) {
  try {
    task();
  } catch (...) {
  }
}

bool ThreadPool::State::runTask() {
  llvm::unique_function<void()> task;
  {
    std::lock_guard lock(mutex);
    if (tasks.empty())
      return false;
    task = std::move(tasks.front());
    tasks.pop_front();
  }
  runGuarded(task);
  return true;
}

bool ThreadPool::State::joinRegion() {
  ParallelRegion *region = nullptr;
  int participant = 0;
  {
    std::lock_guard lock(mutex);
    for (ParallelRegion *candidate : open)
      if (candidate->joined < candidate->participants && !candidate->finished()) {
        region = candidate;
        participant = region->joined++;
        ++region->references;
        break;
      }
  }
  if (!region)
    return false;
  region->work(participant);
  release(region);
  return true;
}

void ThreadPool::State::idle(uint32_t seen) {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (signal.load(std::memory_order_acquire) != seen)
      return;
    spinPause();
  }
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  if (signal.load(std::memory_order_seq_cst) == seen)
    futexWait(signal, seen);
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void ThreadPool::State::wake(int count) {
  signal.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) > 0)
    futexWake(signal, count);
}

void ThreadPool::State::stop() {
  std::vector<std::thread> ending;
  {
    std::lock_guard lock(mutex);
    stopping = true;
    ending.swap(workers);
  }
  wake(INT32_MAX);
  for (std::thread &worker : ending)
    worker.join();
  while (runTask()) {
  }
  std::lock_guard lock(mutex);
  stopping = false;
}

ParallelRegion *ThreadPool::State::acquire() {
  std::lock_guard lock(mutex);
  if (unused.empty())
    return new ParallelRegion;
  ParallelRegion *region = unused.back();
  unused.pop_back();
  return region;
}

void ThreadPool::State::release(ParallelRegion *region) {
  std::lock_guard lock(mutex);
  if (--region->references == 0)
    unused.push_back(region);
}

//===----------------------------------------------------------------------===//
// The pool
//===----------------------------------------------------------------------===//

ThreadPool::ThreadPool(int threads) : state(new State) {
  state->threads = threads > 0 ? threads : defaultThreadCount();
  ForkGuard &guard = ForkGuard::get();
  std::lock_guard lock(guard.mutex);
  guard.pools.insert(this);
}

ThreadPool::~ThreadPool() {
  {
    ForkGuard &guard = ForkGuard::get();
    std::lock_guard lock(guard.mutex);
    guard.pools.erase(this);
  }
  state->stop();
  delete state;
}

ThreadPool &ThreadPool::global() {
  static ThreadPool *pool = new ThreadPool;
  return *pool;
}

int ThreadPool::threadCount() const {
  return state->threads.load(std::memory_order_relaxed);
}

void ThreadPool::setThreadCount(int threads) {
  if (isWorker)
    return; // a worker cannot wait for itself to end
  std::lock_guard reconfigure(state->reconfiguring);
  state->stop();
  state->threads = threads > 0 ? threads : defaultThreadCount();
}

bool ThreadPool::onWorker() {
  return isWorker;
}

/// Creates the workers if they are missing. Called with the mutex held.
void ThreadPool::start() {
  State *shared = state;
  int wanted = shared->threads - 1;
  if (shared->stopping || static_cast<int>(shared->workers.size()) >= wanted)
    return;
  // Signals are for the threads of the user's program.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    while (static_cast<int>(shared->workers.size()) < wanted) {
      shared->workers.emplace_back([shared] { shared->workerLoop(); });
      pthread_setname_np(shared->workers.back().native_handle(), "spokeshave");
    }
  } catch (const std::system_error &) {
    // No more threads to be had: those that exist and the callers do the work.
    shared->threads = static_cast<int>(shared->workers.size()) + 1;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

int ThreadPool::threadsFor(llvm::ArrayRef<cpu::Launch> launches, int maxThreads) const {
  double total = 0;
  int64_t mostTasks = 1;
  for (const cpu::Launch &launch : launches) {
    total += nanosecondsOf(launch);
    mostTasks = std::max(mostTasks, launch.tasks);
  }
  if (total < kInlineNanoseconds || isWorker)
    return 1;
  int threads = threadCount();
  if (maxThreads > 0)
    threads = std::min(threads, maxThreads);
  threads = static_cast<int>(std::min<double>(threads, 1 + total / (kInlineNanoseconds / 2)));
  return static_cast<int>(std::min<int64_t>(threads, mostTasks));
}

int64_t ThreadPool::scratchStride(llvm::ArrayRef<cpu::Launch> launches) {
  int64_t most = 0;
  for (const cpu::Launch &launch : launches)
    most = std::max(most, launch.scratchBytes);
  // Two lines, because the prefetcher of many cores fetches pairs.
  return static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(most), 2 * kAlignment));
}

/// On the calling thread alone, in pieces so that cancelling takes effect.
static bool runInline(const ThreadPool::Region &region) {
  for (const cpu::Launch &launch : region.launches) {
    double chunks = std::max(1.0, nanosecondsOf(launch) / 1e6);
    int64_t step = std::max<int64_t>(1, static_cast<int64_t>(double(launch.tasks) / chunks));
    for (int64_t begin = 0; begin < launch.tasks; begin += step) {
      if (region.cancel && *region.cancel)
        return false;
      launch.kernel(launch.buffers, begin, std::min(launch.tasks, begin + step), region.scratch);
    }
  }
  return true;
}

bool ThreadPool::parallel(const Region &wanted) {
  int threads = threadsFor(wanted.launches, wanted.maxThreads);
  if (threads <= 1)
    return runInline(wanted);
  State *shared = state;
  ParallelRegion *region = shared->acquire();
  region->open(wanted.launches, wanted.cancel, threads, wanted.scratch,
               scratchStride(wanted.launches));
  {
    std::lock_guard lock(shared->mutex);
    start();
    region->references = 1;
    shared->open.push_back(region);
  }
  shared->wake(threads - 1);
  region->work(0);
  bool cancelled = region->wasCancelled();
  {
    std::lock_guard lock(shared->mutex);
    llvm::erase(shared->open, region);
  }
  shared->release(region);
  return !cancelled;
}

llvm::Error ThreadPool::parallel(llvm::ArrayRef<cpu::Launch> launches,
                                 const volatile int32_t *cancel) {
  int threads = threadsFor(launches); // fixed here: the pool may grow meanwhile
  auto bytes = static_cast<size_t>(threads) * scratchStride(launches);
  llvm::Expected<ScopedMemory> scratch = ScopedMemory::create(bytes);
  if (!scratch)
    return scratch.takeError();
  if (!parallel(Region{launches, cancel, threads, scratch->get()}))
    return makeError(ErrorCode::Cancelled, "the execution was cancelled");
  return llvm::Error::success();
}

void ThreadPool::parallelFor(int64_t tasks, int64_t nanosecondsPerTask,
                             llvm::function_ref<void(int64_t, int64_t)> body) {
  auto call = [](void *const *buffers, int64_t begin, int64_t end, void *) {
    (*static_cast<llvm::function_ref<void(int64_t, int64_t)> *>(buffers[0]))(begin, end);
  };
  void *buffers[] = {&body};
  cpu::Launch launch{call, buffers, tasks, nanosecondsPerTask, 0};
  parallel(Region{launch});
}

void ThreadPool::schedule(llvm::unique_function<void()> task) {
  if (isWorker || threadCount() <= 1)
    return runGuarded(task);
  State *shared = state;
  {
    std::lock_guard lock(shared->mutex);
    start();
    if (!shared->workers.empty()) {
      shared->tasks.push_back(std::move(task));
      task = nullptr;
    }
  }
  if (task)
    return runGuarded(task);
  shared->wake(1);
}

} // namespace spokeshave::runtime
