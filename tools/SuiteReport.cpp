//===- SuiteReport.cpp - what came of a suite, as table, page and JSON ------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/Suite.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace spokeshave;
using namespace spokeshave::tools;

namespace {

struct Counts {
  int of[3] = {};

  void add(const SuiteOutcome &outcome) { ++of[int(outcome.status)]; }
  int get(SuiteStatus status) const { return of[int(status)]; }
  int all() const { return of[0] + of[1] + of[2]; }
  double percent() const { return all() == 0 ? 0 : 100.0 * get(SuiteStatus::Passed) / all(); }
};

Counts sum(const SuiteRow &row) {
  Counts counts;
  for (const SuiteOutcome &outcome : row.outcomes)
    counts.add(outcome);
  return counts;
}

/// Counts of a target by the case's file, files in the order of cases.
MapVector<StringRef, Counts> countByFile(ArrayRef<SuiteCase> cases, const SuiteRow &row) {
  MapVector<StringRef, Counts> files;
  for (auto [one, outcome] : zip_equal(cases, row.outcomes))
    files[one.file].add(outcome);
  return files;
}

std::string fraction(const Counts &counts) {
  return formatv("{0}/{1}", counts.get(SuiteStatus::Passed), counts.all());
}

std::string sentence(const SuiteRow &row) {
  Counts counts = sum(row);
  std::string text = formatv("{0} of {1} cases pass ({2:F1}%)", counts.get(SuiteStatus::Passed),
                             counts.all(), counts.percent());
  if (int failed = counts.get(SuiteStatus::Failed))
    text += formatv(", {0} fail", failed);
  if (int unsupported = counts.get(SuiteStatus::Unsupported))
    text += formatv(", {0} are not supported", unsupported);
  return text;
}

/// The first line: notes show the operation, with all that it may hold.
StringRef shortReason(StringRef reason) {
  return reason.split('\n').first;
}

} // namespace

double tools::passedPercent(const SuiteRow &row) {
  return sum(row).percent();
}

void tools::printTable(ArrayRef<SuiteCase> cases, ArrayRef<SuiteRow> rows, raw_ostream &os) {
  os << formatv("{0,-44}", "file");
  std::vector<MapVector<StringRef, Counts>> tables;
  for (const SuiteRow &row : rows) {
    os << formatv("{0,14}", nameOf(row.target));
    tables.push_back(countByFile(cases, row));
  }
  os << "\n";
  if (!tables.empty())
    for (auto &[file, ignored] : tables.front()) {
      os << formatv("{0,-44}", file);
      for (auto &table : tables)
        os << formatv("{0,14}", fraction(table[file]));
      os << "\n";
    }
  for (const SuiteRow &row : rows)
    os << nameOf(row.target) << ": " << sentence(row) << "\n";
}

void tools::printPage(ArrayRef<SuiteCase> cases, ArrayRef<SuiteRow> rows, raw_ostream &os) {
  bool isOfChip = any_of(rows, [](const SuiteRow &row) { return row.target == SuiteTarget::Tpu; });
  os << formatv(R"(# Conformance{0}

StableHLO's own programs that check themselves (`stablehlo/tests/interpret` and `stablehlo/tests/math` of
a public checkout; none of them is part of this repository), run by
`spokeshave check --suite DIR --target {1} --out docs/{2}`, which wrote this page.

)",
                isOfChip ? " of the chip" : "", isOfChip ? "tpu" : "both",
                isOfChip ? "conformance-tpu.md" : "conformance.md");
  if (isOfChip)
    os << R"(A case is one program. `tpu` compiles what it computes for a simulated chip, with its constants as
arguments so that nothing is folded, runs it there and tests the program's expectations on the results;
programs of several devices run on as many chips at once. Expectations of f32 are numbers of f32: products
of f32 have the precision `highest` (`--option precision=highest`), where a program by default gets one pass
of bf16 through the matrix units.
)";
  else
    os << R"(A case is one program. `reference` interprets it; `cpu` compiles what it computes, with its constants as
arguments so that nothing is folded, runs the code and tests the program's expectations on the results;
programs of several devices run on as many at once.
)";
  size_t silent = count_if(cases, [](const SuiteCase &one) { return !one.selfChecking; });
  os << formatv("{0} of the {1} cases hold no expectation: they pass if they run.\n\n", silent,
                cases.size());
  for (const SuiteRow &row : rows)
    os << "- " << nameOf(row.target) << ": " << sentence(row) << ".\n";
  os << "\n## Passed, by file\n\n| file |";
  std::vector<MapVector<StringRef, Counts>> tables;
  for (const SuiteRow &row : rows) {
    os << " " << nameOf(row.target) << " |";
    tables.push_back(countByFile(cases, row));
  }
  os << "\n| --- |";
  for (size_t i = 0; i < rows.size(); ++i)
    os << " ---: |";
  if (!tables.empty())
    for (auto &[file, ignored] : tables.front()) {
      os << "\n| " << file << " |";
      for (auto &table : tables)
        os << " " << fraction(table[file]) << " |";
    }
  os << "\n";
  for (const SuiteRow &row : rows) {
    os << "\n## Not passed on " << nameOf(row.target) << "\n\n";
    bool none = true;
    for (auto [one, outcome] : zip_equal(cases, row.outcomes)) {
      if (outcome.status == SuiteStatus::Passed)
        continue;
      none = false;
      os << "- `" << one.id() << "` (" << nameOf(outcome.status)
         << "): " << shortReason(outcome.reason) << "\n";
    }
    if (none)
      os << "None.\n";
  }
}

void tools::printJson(ArrayRef<SuiteCase> cases, ArrayRef<SuiteRow> rows, raw_ostream &os) {
  json::Array list;
  for (const SuiteRow &row : rows)
    for (auto [one, outcome] : zip_equal(cases, row.outcomes))
      list.push_back(json::Object{{"case", one.id()},
                                  {"file", one.file},
                                  {"target", nameOf(row.target)},
                                  {"status", nameOf(outcome.status)},
                                  {"reason", outcome.reason}});
  os << formatv("{0:2}", json::Value(std::move(list))) << "\n";
}
