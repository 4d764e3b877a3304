//===- Location.cpp - where in the user's program something comes from -----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "support/Location.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace spokeshave {

namespace {
/// The first line of source and the first name, callees before their callers.
struct Finder {
  FileLineColLoc line;
  StringRef name;

  void visit(Location location) {
    if (line)
      return;
    TypeSwitch<LocationAttr>(location)
        .Case([&](FileLineColLoc found) { line = found; })
        .Case([&](NameLoc named) {
          if (name.empty())
            name = named.getName().getValue();
          visit(named.getChildLoc());
        })
        .Case([&](CallSiteLoc call) {
          visit(call.getCallee());
          visit(call.getCaller());
        })
        .Case([&](FusedLoc fused) {
          for (Location part : fused.getLocations())
            visit(part);
        });
  }
};
} // namespace

std::string describeLocation(Location location) {
  Finder finder;
  finder.visit(location);
  std::string text;
  llvm::raw_string_ostream os(text);
  if (finder.line)
    os << finder.line.getFilename().getValue() << ":" << finder.line.getLine() << ":"
       << finder.line.getColumn();
  if (!finder.name.empty())
    os << (finder.line ? " (" : "") << finder.name << (finder.line ? ")" : "");
  return text.empty() ? "an unknown place" : text;
}

} // namespace spokeshave
