//===- Exchange.cpp - where the devices of one execution meet --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/Exchange.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstdlib>
#include <functional>
#include <thread>

namespace spokeshave::runtime {

/// How often a waiting device looks whether it was cancelled: signal handlers
/// cannot wake it.
static constexpr std::chrono::milliseconds kCancelPoll(20);

std::chrono::milliseconds collectiveTimeout() {
  constexpr int64_t kDefaultSeconds = 600;
  const char *text = std::getenv("SPOKESHAVE_COLLECTIVE_TIMEOUT");
  double seconds = 0;
  if (!text || llvm::StringRef(text).getAsDouble(seconds) || !(seconds > 0) || seconds > 1e9)
    seconds = kDefaultSeconds;
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

/// One meeting.
struct Exchange::Gathering {
  explicit Gathering(size_t members) : operands(members), here(members) {}
  std::vector<const void *> operands;
  std::vector<bool> here;
  size_t arrived = 0, taken = 0;
  int64_t bytes = 0;
  bool isComplete() const { return arrived == operands.size(); }
  bool isOver() const { return taken == operands.size(); }
};

/// The meetings of one group under one key.
struct Exchange::Site {
  explicit Site(size_t members) : visits(members) {}
  std::vector<int64_t> visits; ///< of each member
  int64_t first = 0;           ///< the number of the oldest one
  std::deque<std::shared_ptr<Gathering>> gatherings;

  /// The next one of member `place`.
  std::shared_ptr<Gathering> next(size_t place) {
    int64_t index = visits[place]++ - first;
    while (static_cast<int64_t>(gatherings.size()) <= index)
      gatherings.push_back(std::make_shared<Gathering>(visits.size()));
    return gatherings[index];
  }
  void dropFinished() {
    for (; !gatherings.empty() && gatherings.front()->isOver(); ++first)
      gatherings.pop_front();
  }
};

Exchange::Exchange(int64_t replicas, int64_t partitions, std::chrono::milliseconds timeout)
    : replicas(replicas), partitions(partitions), timeout(timeout), waitingIn(devices()),
      readiness(devices()), ended(devices()) {}

Exchange::~Exchange() = default;

//===----------------------------------------------------------------------===//
// Waiting, and its ends
//===----------------------------------------------------------------------===//

static std::string listOf(llvm::ArrayRef<int64_t> devices) {
  return (devices.size() == 1 ? "device " : "devices ") +
         llvm::join(llvm::map_range(devices, [](int64_t d) { return std::to_string(d); }), ", ");
}

llvm::Error Exchange::failure() const {
  return makeError(ErrorCode::DevicesApart, failed);
}

void Exchange::fail(const std::string &why) {
  if (failed.empty())
    failed = why;
  changed.notify_all();
}

/// If all devices that still run wait for something that nobody will bring.
void Exchange::failIfStuck() {
  std::string state;
  for (int64_t device = 0; device < devices(); ++device) {
    if (ended[device])
      continue;
    if (waitingIn[device].empty() || readiness[device]())
      return; // it goes on
    state += (state.empty() ? "" : "; ") +
             llvm::formatv("device {0} waits in {1}", device, waitingIn[device]).str();
  }
  if (!state.empty())
    fail("the devices wait for each other: " + state);
}

llvm::Error Exchange::wait(Lock &lock, int64_t self, const std::string &what,
                           const volatile int32_t *cancel, llvm::function_ref<bool()> isReady,
                           llvm::function_ref<std::vector<int64_t>()> missing) {
  auto describe = [&] {
    std::vector<int64_t> absent = missing();
    std::string text = what;
    if (absent.empty())
      return text;
    text += " for " + listOf(absent);
    std::vector<int64_t> gone;
    llvm::copy_if(absent, std::back_inserter(gone), [&](int64_t d) { return ended[d]; });
    return gone.empty() ? text : text + " (" + listOf(gone) + " ended without it)";
  };
  auto limit = std::chrono::steady_clock::now() + timeout;
  readiness[self] = isReady;
  auto leaveOff = [&](llvm::Error error) {
    waitingIn[self].clear();
    return error;
  };
  while (!isReady()) {
    if (!failed.empty())
      return leaveOff(failure());
    if (cancel && *cancel) {
      fail("the execution was cancelled"); // nobody may count on this one's operand
      return leaveOff(makeError(ErrorCode::Cancelled, failed));
    }
    if (std::chrono::steady_clock::now() >= limit) {
      fail(llvm::formatv("device {0} waited {1} s in {2}", self,
                         static_cast<double>(timeout.count()) * 1e-3, describe()));
      continue;
    }
    waitingIn[self] = describe();
    failIfStuck();
    if (failed.empty())
      changed.wait_for(lock, kCancelPoll);
  }
  return leaveOff(llvm::Error::success());
}

void Exchange::leave(int64_t device, const std::string &why) {
  Lock lock(mutex);
  ended[device] = true;
  if (!why.empty())
    fail(llvm::formatv("device {0} failed: {1}", device, why));
  // Those that wait describe their state anew, and find out whether they are stuck.
  changed.notify_all();
}

//===----------------------------------------------------------------------===//
// Meetings
//===----------------------------------------------------------------------===//

llvm::Error Exchange::meet(int64_t self, const Meeting &meeting, const volatile int32_t *cancel,
                           Take take) {
  Lock lock(mutex);
  if (!failed.empty())
    return failure();
  auto &members = meeting.members;
  size_t place = llvm::find(members, self) - members.begin();
  std::unique_ptr<Site> &site = sites[{meeting.key, members.vec()}];
  if (!site)
    site = std::make_unique<Site>(members.size());
  std::shared_ptr<Gathering> gathering = site->next(place);
  if (gathering->arrived > 0 && gathering->bytes != meeting.bytes) {
    fail(llvm::formatv("device {0} brings {1} bytes to {2}, another one {3}", self, meeting.bytes,
                       meeting.what, gathering->bytes));
    return failure();
  }
  gathering->bytes = meeting.bytes;
  gathering->operands[place] = meeting.operand;
  gathering->here[place] = true;
  if (++gathering->arrived == members.size())
    changed.notify_all();
  auto missing = [&] {
    std::vector<int64_t> absent;
    for (auto [member, isHere] : llvm::zip_equal(members, gathering->here))
      if (!isHere)
        absent.push_back(member);
    return absent;
  };
  if (llvm::Error error =
          wait(lock, self, meeting.what, cancel, [&] { return gathering->isComplete(); }, missing))
    return error;
  lock.unlock();
  take(gathering->operands);
  lock.lock();
  if (++gathering->taken == members.size()) {
    site->dropFinished();
    changed.notify_all();
  }
  // Whatever happens: others may still read this operand. They only copy.
  changed.wait(lock, [&] { return gathering->isOver(); });
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Channels and the host
//===----------------------------------------------------------------------===//

void Exchange::send(int64_t channel, Values values) {
  Lock lock(mutex);
  channels[channel].push_back(std::move(values));
  changed.notify_all();
}

llvm::Error Exchange::receive(int64_t self, int64_t channel, const std::string &what,
                              const volatile int32_t *cancel, Values &values) {
  Lock lock(mutex);
  std::deque<Values> &queue = channels[channel];
  if (llvm::Error error = wait(
          lock, self, what, cancel, [&] { return !queue.empty(); },
          [] { return std::vector<int64_t>(); }))
    return error;
  values = std::move(queue.front());
  queue.pop_front();
  return llvm::Error::success();
}

void Exchange::feed(Values values) {
  Lock lock(mutex);
  fed.push_back(std::move(values));
}

std::optional<Exchange::Values> Exchange::takeFed() {
  Lock lock(mutex);
  if (fed.empty())
    return std::nullopt;
  Values values = std::move(fed.front());
  fed.pop_front();
  return values;
}

void Exchange::putOut(Values values) {
  Lock lock(mutex);
  out.push_back(std::move(values));
}

std::vector<Exchange::Values> Exchange::outfeed() const {
  Lock lock(mutex);
  return out;
}

//===----------------------------------------------------------------------===//
// All devices at once
//===----------------------------------------------------------------------===//

llvm::Error runTogether(Exchange &exchange, llvm::function_ref<llvm::Error(int64_t)> body) {
  std::vector<std::unique_ptr<Error>> errors(exchange.devices());
  auto runOne = [&](int64_t device) {
    llvm::Error result = llvm::Error::success();
    try {
      result = body(device);
    } catch (const std::bad_alloc &) {
      llvm::consumeError(std::move(result));
      result = makeError(ErrorCode::OutOfMemory, "out of memory");
    } catch (const std::exception &exception) {
      llvm::consumeError(std::move(result));
      result = makeError(ErrorCode::Internal, exception.what());
    }
    if (result)
      errors[device] = takeError(std::move(result));
    exchange.leave(device, errors[device] ? errors[device]->getMessage() : "");
  };
  std::vector<std::thread> threads;
  int64_t started = 1; // the caller's thread is the first device's
  for (; started < exchange.devices(); ++started) {
    try {
      threads.emplace_back(runOne, started);
    } catch (const std::system_error &error) {
      break;
    }
  }
  for (int64_t device = started; device < exchange.devices(); ++device) {
    errors[device] = std::make_unique<Error>(ErrorCode::OutOfMemory,
                                             "there is no thread to be had for a device");
    exchange.leave(device, errors[device]->getMessage());
  }
  runOne(0);
  for (std::thread &thread : threads)
    thread.join();
  std::unique_ptr<Error> first;
  for (std::unique_ptr<Error> &error : errors)
    if (error && (!first || (first->getCode() == ErrorCode::DevicesApart &&
                             error->getCode() != ErrorCode::DevicesApart)))
      first = std::move(error);
  return first ? llvm::Error(std::move(first)) : llvm::Error::success();
}

} // namespace spokeshave::runtime
