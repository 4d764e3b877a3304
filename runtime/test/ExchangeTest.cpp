//===- ExchangeTest.cpp - devices that meet, and that do not ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/Exchange.h"
#include "runtime/test/TestProgram.h"

#include <atomic>
#include <thread>

using namespace spokeshave;
using namespace spokeshave::runtime;
using namespace spokeshave::runtime::test;

namespace {
constexpr std::chrono::milliseconds kLong(60000);

/// Meets the other devices of `members` with one number; gives all numbers.
llvm::Expected<std::vector<int64_t>> show(Exchange &exchange, int64_t self,
                                          const std::vector<int64_t> &members, int64_t number,
                                          const std::string &key = "gather",
                                          const volatile int32_t *cancel = nullptr) {
  std::vector<int64_t> seen;
  llvm::Error error = exchange.meet(self, {key, key + " (at model.py:3)", members, &number, 8},
                                    cancel, [&](llvm::ArrayRef<const void *> operands) {
                                      for (const void *operand : operands)
                                        seen.push_back(*static_cast<const int64_t *>(operand));
                                    });
  if (error)
    return std::move(error);
  return seen;
}
} // namespace

TEST(Exchange, OperandsComeInTheOrderOfTheGroup) {
  Exchange exchange(1, 4, kLong);
  std::vector<int64_t> members = {2, 0, 3, 1};
  std::vector<std::vector<int64_t>> seen(4);
  ASSERT_FALSE(runTogether(exchange, [&](int64_t self) -> llvm::Error {
    // Many times, with devices at different speeds.
    for (int64_t round = 0; round < 200; ++round) {
      if (self == round % 4)
        std::this_thread::yield();
      auto all = show(exchange, self, members, self * 1000 + round);
      if (!all)
        return all.takeError();
      for (size_t i = 0; i < 4; ++i)
        if ((*all)[i] != members[i] * 1000 + round)
          return makeError(ErrorCode::Internal, "a number of another round or device");
      seen[self] = *all;
    }
    return llvm::Error::success();
  }));
  EXPECT_EQ(seen[0], seen[3]);
}

TEST(Exchange, GroupsDoNotWaitForEachOther) {
  Exchange exchange(2, 2, kLong);
  std::atomic<bool> firstGroupDone = false;
  ASSERT_FALSE(runTogether(exchange, [&](int64_t self) -> llvm::Error {
    std::vector<int64_t> members =
        self < 2 ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{2, 3};
    while (self >= 2 && !firstGroupDone)
      std::this_thread::yield();
    auto all = show(exchange, self, members, self);
    if (self == 0)
      firstGroupDone = true;
    return all ? llvm::Error::success() : all.takeError();
  }));
}

TEST(Exchange, AnErrorFreesTheOthers) {
  Exchange exchange(1, 3, kLong);
  std::atomic<int> freed = 0;
  llvm::Error error = runTogether(exchange, [&](int64_t self) -> llvm::Error {
    if (self == 1)
      return makeError(ErrorCode::CustomCallFailed, "the callback raised");
    auto all = show(exchange, self, {0, 1, 2}, self);
    EXPECT_FALSE(all);
    ++freed;
    return all.takeError();
  });
  // The cause, not its consequences.
  std::unique_ptr<Error> first = takeError(std::move(error));
  EXPECT_EQ(first->getCode(), ErrorCode::CustomCallFailed);
  EXPECT_EQ(freed, 2);
}

TEST(Exchange, AnExceptionFreesTheOthers) {
  Exchange exchange(1, 2, kLong);
  EXPECT_EQ(codeOf(runTogether(exchange,
                               [&](int64_t self) -> llvm::Error {
                                 if (self == 1)
                                   throw std::bad_alloc();
                                 return show(exchange, self, {0, 1}, self).takeError();
                               })),
            ErrorCode::OutOfMemory);
}

TEST(Exchange, WhoEndsWithoutTakingPartIsNamed) {
  Exchange exchange(1, 3, kLong);
  std::string message = messageOf(runTogether(exchange, [&](int64_t self) -> llvm::Error {
    if (self == 2)
      return llvm::Error::success();
    return show(exchange, self, {0, 1, 2}, self).takeError();
  }));
  EXPECT_NE(message.find("gather (at model.py:3) for device 2"), std::string::npos) << message;
  EXPECT_NE(message.find("device 2 ended without it"), std::string::npos) << message;
}

TEST(Exchange, DevicesThatWaitForEachOther) {
  Exchange exchange(1, 2, kLong);
  llvm::Error error = runTogether(exchange, [&](int64_t self) -> llvm::Error {
    return show(exchange, self, {0, 1}, self, self == 0 ? "gather" : "permute").takeError();
  });
  std::unique_ptr<Error> first = takeError(std::move(error));
  EXPECT_EQ(first->getCode(), ErrorCode::DevicesApart);
  EXPECT_NE(first->getMessage().find("device 0 waits in gather"), std::string::npos);
  EXPECT_NE(first->getMessage().find("device 1 waits in permute"), std::string::npos);
}

TEST(Exchange, TheTimeLimitNamesWhoDidNotCome) {
  Exchange exchange(1, 2, std::chrono::milliseconds(50));
  std::atomic<bool> over = false;
  std::string message;
  llvm::Error error = runTogether(exchange, [&](int64_t self) -> llvm::Error {
    if (self == 1) { // busy, not waiting
      while (!over)
        std::this_thread::yield();
      return llvm::Error::success();
    }
    llvm::Error late = show(exchange, self, {0, 1}, self).takeError();
    over = true;
    return late;
  });
  message = messageOf(std::move(error));
  EXPECT_NE(message.find("device 0 waited 0.05"), std::string::npos) << message;
  EXPECT_NE(message.find("for device 1"), std::string::npos) << message;
}

TEST(Exchange, OperandsOfDifferentSizes) {
  Exchange exchange(1, 2, kLong);
  EXPECT_EQ(codeOf(runTogether(exchange,
                               [&](int64_t self) {
                                 int64_t data[2] = {};
                                 std::vector<int64_t> members = {0, 1};
                                 return exchange.meet(self, {"k", "k", members, data, 8 + 8 * self},
                                                      nullptr,
                                                      [](llvm::ArrayRef<const void *>) { FAIL(); });
                               })),
            ErrorCode::DevicesApart);
}

TEST(Exchange, CancelFreesAll) {
  Exchange exchange(1, 2, kLong);
  volatile int32_t cancel = 0;
  EXPECT_EQ(codeOf(runTogether(exchange,
                               [&](int64_t self) -> llvm::Error {
                                 if (self == 1) {
                                   cancel = 1;
                                   while (cancel)
                                     std::this_thread::yield();
                                   return llvm::Error::success();
                                 }
                                 llvm::Error error =
                                     show(exchange, self, {0, 1}, self, "k", &cancel).takeError();
                                 cancel = 0;
                                 return error;
                               })),
            ErrorCode::Cancelled);
}

TEST(Exchange, ChannelsKeepTheirOrder) {
  Exchange exchange(2, 1, kLong);
  std::vector<std::string> received;
  ASSERT_FALSE(runTogether(exchange, [&](int64_t self) -> llvm::Error {
    for (int i = 0; i < 3; ++i) {
      if (self == 0) {
        exchange.send(7, {std::to_string(i)});
        continue;
      }
      Exchange::Values values;
      if (llvm::Error error = exchange.receive(self, 7, "recv", nullptr, values))
        return error;
      received.push_back(values[0]);
    }
    return llvm::Error::success();
  }));
  EXPECT_EQ(received, (std::vector<std::string>{"0", "1", "2"}));
}

TEST(Exchange, NobodySends) {
  Exchange exchange(1, 1, kLong);
  EXPECT_EQ(codeOf(runTogether(exchange,
                               [&](int64_t self) {
                                 Exchange::Values values;
                                 return exchange.receive(self, 1, "recv", nullptr, values);
                               })),
            ErrorCode::DevicesApart);
}

TEST(Exchange, TimeLimitOfTheEnvironment) {
  setenv("SPOKESHAVE_COLLECTIVE_TIMEOUT", "1.5", 1);
  EXPECT_EQ(collectiveTimeout().count(), 1500);
  setenv("SPOKESHAVE_COLLECTIVE_TIMEOUT", "soon", 1);
  EXPECT_EQ(collectiveTimeout().count(), 600000);
  unsetenv("SPOKESHAVE_COLLECTIVE_TIMEOUT");
}
